"""Dataclasses as JSON and back: what survives, what is refused, and by which name."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from shiftscope.json_data import UnfitError, from_plain, plain, write_fields


@dataclass(frozen=True)
class Inner:
    name: str
    share: float


@dataclass(frozen=True)
class Outer:
    count: int
    ready: bool
    side: Literal["left", "right"]
    inner: Inner
    several: tuple[Inner, ...]
    pair: tuple[float, int]
    rows: NDArray[np.intp]
    grid: NDArray[np.float64]
    maybe: float | None
    nothing: Inner | None


def outer() -> Outer:
    inner = Inner("a", 0.5)
    rows, grid = np.array([3, 1]), np.array([[0.5, -1.0], [2.0, 1e300]])
    return Outer(3, True, "left", inner, (inner, Inner("ü\n", -0.0)), (1.5, 2), rows, grid, 0.25, None)


def there_and_back(value: object, kind: type = Outer) -> object:
    return from_plain(kind, json.loads(json.dumps(plain(value), allow_nan=False)), "file")


def test_all_fields_come_back_with_their_types():
    found, expected = there_and_back(outer()), outer()
    for name in ("count", "ready", "side", "inner", "several", "pair", "maybe", "nothing"):
        assert getattr(found, name) == getattr(expected, name)
        assert type(getattr(found, name)) is type(getattr(expected, name))
    for name in ("rows", "grid"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        assert getattr(found, name).dtype == getattr(expected, name).dtype


def test_numbers_of_numpy_are_plain_and_those_that_are_not_finite_are_null():
    assert plain((np.int64(3), np.float64(0.5), np.bool_(True), np.array([1, 2]))) == [3, 0.5, True, [1, 2]]
    assert plain([math.inf, -math.inf, math.nan, np.float64("nan")]) == [None] * 4
    assert type(plain(np.int64(3))) is int
    assert there_and_back(Inner("a", math.inf), Inner) == Inner("a", math.inf)


def test_a_whole_number_is_a_number_but_not_the_other_way_round():
    assert from_plain(float, 2, "x") == 2.0
    for kind, value, rule in (
        (int, 2.0, "a whole number"),
        (int, True, "a whole number"),
        (float, True, "a number"),
        (float, "2", "a number"),
        (bool, 1, "true or false"),
        (str, 1, "text"),
    ):
        with pytest.raises(UnfitError, match=f"^x must be {rule}, got {value!r}$"):
            from_plain(kind, value, "x")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"count": "3"}, "count must"),
        ({"side": "above"}, "side must be one of 'left', 'right'"),
        ({"inner": {"name": "a", "share": "much"}}, "share must"),
        ({"inner": [1]}, "inner must be an object"),
        ({"several": {"name": "a"}}, "several must be a list"),
        ({"several": [{"name": "a"}]}, "several must be an object with share"),
        ({"pair": [1.5]}, "pair must be a list of 2"),
        ({"rows": ["a"]}, "rows must be a list of numbers"),
        ({"grid": [[1.0], [2.0, 3.0]]}, "grid must be a list of numbers"),
        ({"rows": 3}, "rows must be a list"),
    ],
)
def test_what_does_not_fit_is_named(change: dict[str, object], named: str):
    with pytest.raises(UnfitError, match=f"^{named}"):
        from_plain(Outer, {**plain(outer()), **change}, "file")


def test_missing_fields_are_named_and_counted():
    with pytest.raises(UnfitError, match=r"^file must be an object with count, ready, side and 7 more$"):
        from_plain(Outer, {}, "file")
    with pytest.raises(UnfitError, match=r"^file must be an object with share$"):
        from_plain(Inner, {"name": "a", "other": 1}, "file")


def test_long_values_are_cut_in_messages():
    with pytest.raises(UnfitError) as caught:
        from_plain(int, "x" * 10_000, "n")
    assert len(str(caught.value)) < 120


def test_fields_are_written_with_their_schema(tmp_path: Path):
    written = write_fields(replace(outer(), maybe=math.nan), 7, tmp_path / "out.json", without="grid")
    assert (tmp_path / "out.json").read_text() == written
    saved = json.loads(written)
    assert list(saved) == ["schema", *(name for name in vars(outer()) if name != "grid")]
    assert (saved["schema"], saved["rows"], saved["maybe"]) == (7, [3, 1], None)
    assert write_fields(outer(), 7, None) != written
