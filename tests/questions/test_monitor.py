"""A sequence of batches: alarms where they belong, a record that survives interruption, a picture."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import shiftscope as ss
from shiftscope.file_lock import locked
from shiftscope.questions.monitor import drift, table_digest
from shiftscope.questions.monitor_batch import Region
from shiftscope.tables.table import read_table
from tests.pairs import encode_pair

PARAMS = ss.CompareParams(
    alpha=0.2,
    n_permutations=99,
    scan=ss.ScanParams(n_permutations=99, n_seeds=0, max_features=2),
    equalise=ss.EqualiseParams(k_max=30, n_permutations=99),
)
SHIFTED_FROM = 4  # the batches before are calm


def batches(count: int = 6, n: int = 150) -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(0)
    made = {}
    for number in range(1, count + 1):
        rows = rng.standard_normal((n, 2))
        if number >= SHIFTED_FROM:
            rows[:40] = (1.5, -1.5) + 0.1 * rng.standard_normal((40, 2))
        made[f"day {number}"] = pd.DataFrame(rows, columns=["a", "b"])
    return made


@pytest.fixture(scope="module")
def detector() -> ss.ShiftDetector:
    rows = np.random.default_rng(9).standard_normal((300, 2))
    return ss.ShiftDetector(params=PARAMS).fit(pd.DataFrame(rows, columns=["a", "b"]))


@pytest.fixture(scope="module")
def watched(detector: ss.ShiftDetector) -> ss.MonitorResult:
    return ss.monitor(detector, batches())


def test_alarms_begin_with_the_shift(watched: ss.MonitorResult):
    assert [row.name for row in watched.alarms] == ["day 4", "day 5", "day 6"]
    assert watched.level == pytest.approx(0.2 / 6)
    for row in watched.rows:
        assert row.alarm == (row.p_value <= row.level)
        assert (row.mode is not None) == row.alarm
    modes = [row.mode for row in watched.alarms if row.mode is not None]
    assert {mode.side for mode in modes} == {"current"}
    assert all(set(mode.features) == {"a", "b"} for mode in modes)
    assert all(mode.excess_interval[0] <= 40 / 150 <= mode.excess_interval[1] for mode in modes)


def test_drift_is_told_from_the_first_mode_on(watched: ss.MonitorResult):
    drifts = [row.drift for row in watched.rows]
    assert drifts[:3] == [None, None, None]
    assert all(0.15 < value < 0.3 for value in drifts[3:] if value is not None)


def test_forms_of_the_result(watched: ss.MonitorResult, tmp_path: Path):
    table = watched.to_table()
    assert table["batch"].to_list() == [1, 2, 3, 4, 5, 6]
    assert table["alarm"].to_list() == [False] * 3 + [True] * 3
    saved = json.loads(watched.to_json(tmp_path / "monitor.json"))
    assert saved == json.loads((tmp_path / "monitor.json").read_text())
    assert saved["rows"][3]["mode"]["side"] == "current"
    assert re.search(r"\b3 of 6 batches\b.*'day 4'", str(watched))
    assert "'day 5'" not in str(watched).splitlines()[0]
    for suffix, start in ((".png", b"\x89PNG"), (".svg", b"<?xml")):
        watched.plot(tmp_path / f"p{suffix}")
        assert (tmp_path / f"p{suffix}").read_bytes().startswith(start)
    with pytest.raises(ss.InputError, match=r"must end in \.png, \.svg, \.pdf"):
        watched.plot(tmp_path / "p.txt")


def test_nothing_to_watch(detector: ss.ShiftDetector, tmp_path: Path):
    empty = ss.monitor(detector, [])
    assert empty.rows == ()
    assert empty.to_table().height == 0
    empty.plot(tmp_path / "p.png")
    assert (tmp_path / "p.png").exists()


def test_an_interrupted_run_goes_on_where_it_stopped(
    detector: ss.ShiftDetector, watched: ss.MonitorResult, tmp_path: Path
):
    record = tmp_path / "history.jsonl"
    given = batches()

    def stopping():
        yield from list(given.items())[:4]
        raise KeyboardInterrupt

    class Stopping(dict):
        def items(self):
            return stopping()

    with pytest.raises(KeyboardInterrupt):
        ss.monitor(detector, Stopping(given), horizon=6, history=record)
    torn = record.read_bytes()[:-20]  # the fourth batch was being written when the machine went down
    record.write_bytes(torn)
    computed = Counter()

    def counting(stage: str, fraction: float) -> None:
        computed[stage] += fraction == 0.0 and stage == "scan"

    resumed = ss.monitor(detector, given, horizon=6, history=record, progress=counting)
    assert resumed == watched
    again = ss.monitor(detector, given, horizon=6, history=record, progress=counting)
    assert again == watched
    done = computed["scan"]
    ss.monitor(detector, list(given.values())[:1], horizon=6, history=record, progress=counting)
    assert computed["scan"] > done  # under another name the same table is another batch


def test_a_batch_that_cannot_be_compared_is_named(detector: ss.ShiftDetector):
    stranger = pd.DataFrame({"q": [1.0, 2.0], "z": [3.0, 4.0]})
    with pytest.raises(ss.InputError, match=r"^tuesday: reference and current have no column in common"):
        ss.monitor(detector, {"tuesday": stranger})


def test_a_record_of_something_else_is_refused(detector: ss.ShiftDetector, tmp_path: Path):
    record = tmp_path / "history.jsonl"
    ss.monitor(detector, [], horizon=5, history=record)
    other = ss.ShiftDetector(params=PARAMS).fit(np.eye(4))
    for call, message in (
        (lambda: ss.monitor(other, [], horizon=5, history=record), "belongs to another reference"),
        (lambda: ss.monitor(detector, [], horizon=6, history=record), "was begun with a horizon of 5"),
    ):
        with pytest.raises(ss.InputError, match=message):
            call()
    record.write_text("a,b\n1,2\n")
    with pytest.raises(ss.InputError, match="is no history of shiftscope"):
        ss.monitor(detector, [], horizon=5, history=record)
    assert record.read_text() == "a,b\n1,2\n"


def test_two_monitors_do_not_share_a_record(detector: ss.ShiftDetector, tmp_path: Path):
    path = tmp_path / "h"
    ss.monitor(detector, [], horizon=5, history=path)
    before = path.read_bytes()
    with locked(path), pytest.raises(ss.InputError, match=r"h' is in use by another process; wait") as caught:
        ss.monitor(detector, batches(), horizon=5, history=path)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


def test_regions_know_levels_and_gaps():
    reference = pd.DataFrame({"v": [1.0, 2.0, np.nan, 4.0] * 5, "kind": ["p", "q", "q", "r"] * 5})
    current = pd.DataFrame({"v": [1.0, np.nan, np.nan, 4.0] * 5, "kind": ["p", "q", "p", "p"] * 5})
    encoded = encode_pair(reference, current)
    expected = {
        Region(("v",), (None,), (None,), ((),)): 0.25,
        Region(("v",), (0.5,), (2.5,), ((),)): -0.25,
        Region(("kind",), (None,), (None,), (("p", "new"),)): 0.5,
        Region(("v", "kind"), (0.5, None), (1.5, None), ((), ("p",))): 0.0,
    }
    assert {region: pytest.approx(drift(region, encoded)) for region in expected} == expected
    assert drift(Region(("gone",), (0.0,), (1.0,), ((),)), encoded) is None


def test_tables_are_told_apart_by_their_content():
    tables = [pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"b": [1, 2]}), pd.DataFrame({"a": [1, 3]}),
              pd.DataFrame({"a": ["1", "2"]}), pd.DataFrame({"a": ["1", "3"]})]  # fmt: skip
    assert len({table_digest(read_table(table, "batch")) for table in tables}) == len(tables)
    assert table_digest(read_table(tables[0], "x")) == table_digest(read_table(tables[0].copy(), "y"))


def test_wrong_use_is_told(detector: ss.ShiftDetector):
    with pytest.raises(ss.ParameterError, match="horizon must be given for batches that cannot be counted"):
        ss.monitor(detector, iter([]))
    with pytest.raises(ss.ParameterError, match="horizon must be a whole number of at least 1, got 0"):
        ss.monitor(detector, [], horizon=0)
    with pytest.raises(ss.ParameterError, match="put it into a list"):
        ss.monitor(detector, "before.csv")
    with pytest.raises(ss.InputError, match=r"gone\.csv"):
        ss.monitor(detector, ["gone.csv"])


def test_horizon_must_be_known_and_within_reach(detector: ss.ShiftDetector, tmp_path: Path):
    with pytest.raises(ss.ParameterError, match="horizon must be given with history"):
        ss.monitor(detector, batches(), history=tmp_path / "history.jsonl")
    with pytest.raises(ss.ParameterError, match="horizon = 1000000000000 shares alpha among too many batches"):
        ss.monitor(detector, [], horizon=10**12)
    assert not (tmp_path / "history.jsonl").exists()
