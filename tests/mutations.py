"""JSON with one part changed to something hostile: for files that are read back and may have been altered."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**63, 10**30, 10**400, 0.5, -1e300, 1e308, "", "x", "\ud800", "x0", [], [[]],
    {}, [None], [0], ["x"], ["x0", "x0"], {"x0": "category"}, {"x": 1},
)  # fmt: skip


def places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each part, the whole included."""
    yield here
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inner:
        yield from places(part, (*here, name))


def mutations(value: Any, count: int, seed: int = 0) -> Iterator[Any]:
    """Copies with one or two parts replaced, dropped or doubled; parts of every name come about equally often."""
    rng = np.random.default_rng(seed)
    by_name: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for place in places(value):
        if place:
            by_name.setdefault(tuple(step for step in place if isinstance(step, str)), []).append(place)
    names = list(by_name)
    for _ in range(count):
        changed = copy.deepcopy(value)
        for _ in range(rng.integers(1, 3)):
            ways = by_name[names[rng.integers(len(names))]]
            _change(changed, ways[rng.integers(len(ways))], rng)
        yield changed


def _change(value: Any, place: tuple[Any, ...], rng: np.random.Generator) -> None:
    *outer, last = place
    for step in outer:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):  # changed before
            return
    if not isinstance(value, dict | list) or (
        isinstance(value, list) and not (isinstance(last, int) and last < len(value))
    ):
        return
    kind = rng.integers(10)
    if kind == 0:
        value.pop(last, None) if isinstance(value, dict) else value.pop(last)
    elif kind == 1 and isinstance(value, list):
        value.append(copy.deepcopy(value[last]))
    else:
        value[last] = copy.deepcopy(HOSTILE[rng.integers(len(HOSTILE))])
