"""A failing case made smaller: as long as the fault stays the same, leave out what is not needed for it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from tests.fuzz.tagged import packed, unpacked

Case = dict[str, Any]
SECONDS = 30.0


def shrunk(case: Case, fails: Callable[[Case], bool], seconds: float = SECONDS) -> Case:
    """The smallest case found that still fails, in the time given."""
    end = time.monotonic() + seconds
    while True:
        smaller = next((one for one in _smaller(case) if time.monotonic() < end and fails(one)), None)
        if smaller is None:
            return case
        case = smaller


def _smaller(case: Case) -> Iterator[Case]:
    """The case with one thing less, largest parts first."""
    for name in sorted(case["files"], key=lambda name: -len(case["files"][name])):
        yield _without(case, "files", name)
    for name in list(case.get("args", {})):
        yield _without(case, "args", name)
    if "relation" in case:
        yield {key: value for key, value in case.items() if key != "relation"}
    for at in range(1, len(case.get("argv", []))):
        for length in (2, 1):
            yield {**case, "argv": case["argv"][:at] + case["argv"][at + length :]}
    for path in [] if "relation" in case and case["files"] else _tables(case):  # a file of it would stay as it is
        yield from _smaller_tables(case, path)
    for name, content in case["files"].items():
        for part in _parts(unpacked(content)):
            yield {**case, "files": {**case["files"], name: packed(part)}}


def _without(case: Case, part: str, name: str) -> Case:
    return {**case, part: {key: value for key, value in case[part].items() if key != name}}


def _tables(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the tables of a case are."""
    if isinstance(value, dict):
        if set(value) == {"names", "columns"}:
            yield path
            return
        for key, one in value.items():
            yield from _tables(one, (*path, key))
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from _tables(one, (*path, at))


def _smaller_tables(case: Case, path: tuple[Any, ...]) -> Iterator[Case]:
    """The case with fewer columns or rows; a table that is there several times becomes smaller everywhere."""
    table = _at(case, path)
    same = [other for other in _tables(case) if _at(case, other) == table]
    for at in range(len(table["names"])):
        yield _with(case, same, {key: table[key][:at] + table[key][at + 1 :] for key in ("names", "columns")})
    n = len(table["columns"][0]) if table["columns"] else 0
    step = n // 2
    while step:
        for start in range(0, n, step):
            columns = [column[:start] + column[start + step :] for column in table["columns"]]
            yield _with(case, same, {"names": table["names"], "columns": columns})
        step //= 2


def _at(case: Case, path: tuple[Any, ...]) -> Any:
    for key in path:
        case = case[key]
    return case


def _with(case: Case, paths: list[tuple[Any, ...]], table: Any) -> Case:
    changed = deepcopy(case)
    for *parents, last in paths:
        _at(changed, tuple(parents))[last] = table
    return changed


def _parts(content: bytes) -> Iterator[bytes]:
    """Bytes with a piece cut out; pieces become smaller."""
    step = len(content) // 2
    while step >= max(1, len(content) // 32):
        for start in range(0, len(content), step):
            yield content[:start] + content[start + step :]
        step //= 2


def text_of(case: Case) -> str:
    """A case as the text of a file."""
    return json.dumps(case, indent=1) + "\n"
