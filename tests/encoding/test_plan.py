"""Decisions from facts that add up: however a sample is cut into parts, they are those of the whole table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from shiftscope.encoding import column_facts as facts_module
from shiftscope.encoding.agreed_columns import Kinds, Reading
from shiftscope.encoding.column_facts import Facts, merged
from shiftscope.encoding.encode import TableSample
from shiftscope.encoding.features import Centre, Feature
from shiftscope.encoding.plan import Plan, make_plan
from shiftscope.errors import InputError
from shiftscope.tables.column_choice import Columns
from shiftscope.tables.column_kinds import Kind, Unusable
from shiftscope.tables.table import read_table
from tests.pairs import encode_pair


class Parts:
    """A sample in parts, in one process."""

    positional = False

    def __init__(self, role: str, frame: pl.DataFrame, count: int) -> None:
        self.role, self.names = role, tuple(frame.columns)
        edges = np.linspace(0, len(frame), count + 1).astype(int)
        self.readings = [Reading(read_table(frame[low:high], role, least_rows=0)) for low, high in pairwise(edges)]

    def facts(self, kinds: Kinds) -> dict[str, Facts | Unusable]:
        found = [reading.facts(kinds) for reading in self.readings]
        return {name: reduce(merged, [part[name] for part in found]) for name in kinds}

    def squares(self, centres: Mapping[str, tuple[Kind, Centre]]) -> dict[str, int]:
        found = [reading.squares(centres) for reading in self.readings]
        return {name: sum(part[name] for part in found) for name in centres}

    def equal(self, one: Feature, other: Feature) -> bool:
        return all(reading.equal(one, other) for reading in self.readings)

    def distinct(self, name: str) -> bool:
        values = np.concatenate([reading.column(name, "number").values for reading in self.readings])
        return np.unique(values).size == values.size


def table(seed: int, n: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    gaps = rng.random(n) < 0.1
    numbers = rng.standard_normal(n)
    columns = {
        "wide": numbers * 10.0 ** rng.integers(-100, 100, n),
        "far": 1e15 + rng.integers(0, 3, n),
        "twin": 1e15 + np.zeros(n),
        "gappy": pl.Series(np.where(gaps, np.nan, numbers)),
        "single": pl.Series([None if gap else 7 for gap in gaps], dtype=pl.Int64),
        "day": pl.Series([None if gap else "2024-05-01" for gap in gaps]).str.to_date(),
        "level": pl.Series(rng.choice(["a", "b", "c", "rare"], n, p=[0.5, 0.3, 0.19, 0.01])),
        "many": pl.Series([f"level {at}" for at in rng.integers(0, 40, n)]),
        "text": pl.Series([f"{at}.5" for at in rng.integers(0, 9, n)]),
        "constant": np.full(n, 2.5),
        "nothing": pl.Series([None] * n, dtype=pl.Float64),
        "row": rng.permutation(n),
        "key": rng.permutation(10 * n)[:n],
        "name": pl.Series([f"person {at} of {seed}" for at in range(n)]),
        "declared": rng.integers(0, 4, n),
    }
    frame = pl.DataFrame(columns)
    return frame.with_columns(copy=frame["gappy"], list=pl.Series([[1.0]] * n))


CHOICE = Columns(kinds={"declared": "category", "text": "number"})


def parted(count: int, choice: Columns = CHOICE, n: int = 160) -> Plan:
    samples = Parts("reference", table(1, n), count), Parts("current", table(2, n + 20), count)
    return make_plan(samples, choice)


@pytest.mark.parametrize("count", [1, 3, 16])
def test_parts_give_the_recipe_and_the_matrix_of_the_whole(count: int) -> None:
    tables = table(1, 160), table(2, 180)
    whole = make_plan(
        (
            TableSample("reference", read_table(tables[0], "reference")),
            TableSample("current", read_table(tables[1], "c")),
        ),
        CHOICE,
    )
    plan = parted(count)
    assert plan == whole
    encoded = encode_pair(*tables, CHOICE)
    assert encoded.left_out == plan.left_out
    assert [feature.name for feature in plan.features] == [
        "copy", "day", "declared", "far", "level", "many", "text", "wide"
    ]  # fmt: skip
    points, ranked = [], []
    for role, frame in zip(("reference", "current"), tables, strict=True):
        for reading in Parts(role, frame, count).readings:
            points.append(np.zeros((reading.table.n_rows, plan.width)))
            ranked.append(np.empty((reading.table.n_rows, len(plan.features))))
            plan.points(reading, points[-1])
            plan.ranked(reading, ranked[-1])
    np.testing.assert_array_equal(np.concatenate(points), encoded.points)
    np.testing.assert_array_equal(np.concatenate(ranked), encoded.ranked)


def test_notices_say_what_is_left_out_and_why() -> None:
    reasons = {left.name: left.reason for left in parted(3).left_out}
    assert len(reasons) == 9
    for name, part in (
        ("constant", "constant: 2.5"),
        ("twin", "constant"),
        ("nothing", "constant: missing"),
        ("row", "numbered without a gap"),
        ("key", "all distinct"),
        ("name", "free text"),
        ("list", "nested values"),
        ("gappy", "equal to column 'copy' in every row"),
        ("single", "equal to column 'day'"),  # the same gaps beside a single value
    ):
        assert part in reasons[name]


def test_numbers_that_repeat_in_another_part_are_no_identifier() -> None:
    frame = pl.DataFrame({"key": [*range(100), *range(100)], "x": np.arange(200.0)})
    plan = make_plan((Parts("reference", frame, 2), Parts("current", frame, 2)), Columns())
    assert [feature.name for feature in plan.features] == ["key", "x"]


def test_kinds_that_differ_between_parts_or_samples() -> None:
    numbers, texts = (read_table(pl.DataFrame({"x": values}), "a") for values in ([1, 2], ["p", "q"]))
    pair = [Reading(one).facts({"x": None})["x"] for one in (numbers, texts)]
    found = merged(*pair)
    assert isinstance(found, Unusable)
    assert found.reason.index("numbers") < found.reason.index("text") < found.reason.index("one kind")
    frames = pl.DataFrame({"x": [1, 2, 2, 4]}), pl.DataFrame({"x": ["1", "2", "5", None]})
    plan = make_plan((Parts("reference", frames[0], 2), Parts("current", frames[1], 2)), Columns())
    assert plan.features[0].kind == "number"  # all of the text can be read so
    frames = frames[0], pl.DataFrame({"x": ["1", "2", "none", None]})
    plan = make_plan((Parts("reference", frames[0], 2), Parts("current", frames[1], 2)), Columns())
    assert plan.features[0].levels == ("2", "1", "4", "none")


def test_faults_name_column_and_row_of_the_whole_sample() -> None:
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, np.inf, 6.0]})
    with pytest.raises(InputError, match=r"current: column 'x' has 1 infinite value \(first in row 4"):
        make_plan((Parts("reference", frame[:3], 1), Parts("current", frame, 3)), Columns())
    texts = pl.DataFrame({"x": ["1", "b", "2", "a"]})
    with pytest.raises(InputError, match="current: column 'x' is declared as 'number' but holds 'a', which is no"):
        make_plan((Parts("reference", frame[:3], 1), Parts("current", texts, 2)), Columns(kinds={"x": "number"}))


def test_too_many_texts_are_left_out_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts_module, "MOST_LEVELS", 30)
    monkeypatch.setattr("shiftscope.encoding.identifiers.MOST_LEVELS", 30)
    for count in (1, 3, 16):
        assert "more than 30 distinct texts" in {left.name: left.reason for left in parted(count).left_out}["many"]
