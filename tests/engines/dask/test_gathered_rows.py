"""What reports say of samples of which only some rows are gathered: it is about all rows, or says that it is not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import shiftscope as ss
from shiftscope.engines.dask.engine import DaskEngine
from shiftscope.overview.column_overview import ColumnSide
from shiftscope.report import sentences
from shiftscope.report.column_words import box_in_words
from shiftscope.report.html import page
from shiftscope.report.summary import Summary
from tests.quick import QUICK

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
GATHERED = 1500
ROWS = {"reference": 2600, "current": 3000}
EXCESS = 400  # rows of the current sample


def frames(excess: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Numbers, levels and gaps; some current rows gather in a and b."""
    rng = np.random.default_rng(7)
    found = []
    for n in ROWS.values():
        frame = pd.DataFrame({name: rng.standard_normal(n) for name in "abc"})
        frame["kind"] = rng.choice(["x", "y", "z"], n, p=[0.6, 0.3, 0.1])
        frame.loc[rng.choice(n, n // 10, replace=False), "c"] = np.nan
        found.append(frame)
    found[1].loc[: excess - 1, ["a", "b"]] = 1.0 + 0.1 * rng.standard_normal((excess, 2))
    return found[0], found[1]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as connected,
    ):
        yield connected


def both(client: Client, excess: int) -> tuple[ss.ShiftResult, ss.ShiftResult]:
    """The result of one machine, and that of a cluster from which only some rows are gathered."""
    pair = frames(excess)
    engine = DaskEngine(client, gathered_rows=GATHERED, shard_rows=1024)
    parts = [dd.from_pandas(frame, npartitions=3) for frame in pair]
    return ss.compare(*pair, params=QUICK), ss.compare(*parts, params=QUICK, engine=engine)


@pytest.fixture(scope="module")
def shifted(client: Client) -> tuple[ss.ShiftResult, ss.ShiftResult]:
    return both(client, EXCESS)


@pytest.fixture(scope="module")
def clear(client: Client) -> tuple[ss.ShiftResult, ss.ShiftResult]:
    return both(client, 0)


def numbers(told: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*\.?\d*", told)]


def _gaps(side: ColumnSide) -> tuple[int, int]:
    return side.rows, side.missing


def about_all_rows(summary: Summary) -> dict[str, Any]:
    """Everything in a summary that must not depend on what was gathered."""
    scan = summary.scan
    assert scan is not None
    return {
        "rows": (summary.n_reference, summary.n_current),
        "columns": [
            (column.name, column.kind, column.evidence, column.p_value, *map(_gaps, (column.reference, column.current)))
            for column in summary.columns
        ],
        "left_out": summary.left_out,
        "p": (scan.p_value, scan.critical, scan.n_permutations),
        "map": (scan.pairs.names, scan.pairs.values.tolist()),
        "sets": [replace(found, box=(), where=()) for found in scan.sets],
        "smallest": scan.smallest,
    }


@pytest.mark.parametrize("pair", ["shifted", "clear"])
def test_what_the_scan_and_the_columns_say_is_about_all_rows(pair: str, request: pytest.FixtureRequest) -> None:
    local, cluster = (result.summary for result in request.getfixturevalue(pair))
    assert cluster.gathered is not None
    assert about_all_rows(cluster) == about_all_rows(local)
    assert cluster.detected == local.detected == (pair == "shifted")


def test_boxes_are_told_by_ends_that_hold_exactly_the_rows_counted(
    shifted: tuple[ss.ShiftResult, ss.ShiftResult],
) -> None:
    local, cluster = shifted
    inner = {found.names: found for found in local.summary.scan.sets}
    told = [found for found in cluster.summary.scan.sets if np.isfinite(found.box).all()]
    assert len(told) > 3
    for found in told:
        for side, frame in zip(ROWS, frames(EXCESS), strict=True):
            values = frame[list(found.names)].to_numpy()
            low, high = np.array(found.box).T
            slack = 1e-9 * (high - low)  # standardised and back
            inside = np.all((values >= low - slack) & (values <= high + slack), axis=1)
            assert inside.sum() == getattr(found, f"count_{side}")
        for (low, high), (first, last) in zip(found.box, inner[found.names].box, strict=True):
            assert low <= first <= last <= high


def test_boxes_of_levels_and_gaps_are_told_alike(clear: tuple[ss.ShiftResult, ss.ShiftResult]) -> None:
    local, cluster = (result.summary.scan.sets for result in clear)
    told = [
        (name, *parts)
        for one, other in zip(local, cluster, strict=True)
        for name, *parts in zip(one.names, one.where, other.where, strict=True)
    ]
    levels = [(one, other) for name, one, other in told if name == "kind"]
    assert len(levels) > 3
    assert all(one == other for one, other in levels)
    gaps = [other for _, one, other in told if one == "missing"]
    assert gaps
    assert set(gaps) == {"missing"}


@pytest.mark.parametrize(
    ("column", "low", "high", "words"),
    [
        ("c", -np.inf, -np.inf, "missing"),
        ("c", -np.inf, 0.5, "missing or up to 0.5"),
        ("c", 0.25, 0.5, "0.25 to 0.5"),
        ("kind", 1.0, 1.0, "= y"),
        ("kind", 0.0, 2.0, "= x, = y or = z"),
    ],
)
def test_the_ends_of_a_box_in_words(
    clear: tuple[ss.ShiftResult, ss.ShiftResult], column: str, low: float, high: float, words: str
) -> None:
    encoded = clear[1].encoded
    assert box_in_words(encoded, encoded.names.index(column), low, high) == words


def test_the_sentences_about_all_rows_are_those_of_one_machine(
    clear: tuple[ss.ShiftResult, ss.ShiftResult],
) -> None:
    local, cluster = (result.summary for result in clear)
    expected, told = sentences.smallest_sentence(local), sentences.smallest_sentence(cluster)
    assert len(told) == 1
    assert told == expected
    assert numbers(sentences.verdict(cluster))[:2] == list(ROWS.values())
    assert numbers(sentences.compared_sentence(cluster))[:2] == list(ROWS.values())


def test_what_is_about_gathered_rows_says_so(shifted: tuple[ss.ShiftResult, ss.ShiftResult]) -> None:
    local, cluster = (result.summary for result in shifted)
    at_hand = [len(rows) for rows in (cluster.gathered.reference, cluster.gathered.current)]
    assert sum(at_hand) == GATHERED
    mode = cluster.modes[0]
    kept = sentences.kept_sentence(cluster)
    assert numbers(kept)[:4] == [len(cluster.kept_reference), at_hand[0], len(cluster.kept_current), at_hand[1]]
    told = sentences.rows_sentence(cluster, mode)
    assert numbers(told)[:2] == [len(mode.rows), at_hand[1]]
    others = sentences.evidence_sentence(cluster), sentences.figures_note(cluster), cluster.notes[0]
    for sentence in (kept, told, sentences.directions_note(cluster, mode), *others):
        assert "gathered" in sentence
    for sentence in (
        sentences.rows_sentence(local, local.modes[0]),
        sentences.kept_sentence(local),
        sentences.as_text(local),
    ):
        assert "gathered" not in sentence
    assert set(numbers(cluster.notes[0])) >= {*ROWS.values(), *at_hand}


def test_excess_estimated_from_gathered_rows_is_that_of_all(
    shifted: tuple[ss.ShiftResult, ss.ShiftResult],
) -> None:
    local, cluster = (result.modes[0] for result in shifted)
    assert set(cluster.features[:2]) == set(local.features[:2]) == {"a", "b"}
    low, high = cluster.excess_interval
    assert low <= local.excess <= high
    assert low <= EXCESS / ROWS["current"] <= high


def test_row_numbers_of_reports_are_positions_in_the_samples(
    shifted: tuple[ss.ShiftResult, ss.ShiftResult],
) -> None:
    _, result = shifted
    summary, current = result.summary, frames(EXCESS)[1]
    mode = summary.modes[0]
    assert mode.side == "current"
    np.testing.assert_array_equal(mode.rows, result.positions("current", result.modes[0].rows))
    assert np.mean(mode.rows < EXCESS) > 0.7
    column = mode.features[0]
    for row in mode.top:
        assert row.values[0] == f"{current[column][row.row]:.4g}"
    assert set(mode.picture.marked.rows) <= set(mode.rows)
    assert set(summary.gallery.current.rows) <= set(result.gathered.current)
    assert not set(mode.rows) & set(summary.kept_current)
    assert len(summary.scores.current) == len(summary.gathered.current)
    html = page(summary)
    assert f"{ROWS['reference']:,}" in html
    assert "result.positions(" in html
