"""A record that survives interruption, and that no other file is taken for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import shiftscope as ss
from shiftscope.questions.monitor_batch import BatchRow, Region, StrongestMode
from shiftscope.questions.monitor_history import History, HistoryHeader


def row(number: int) -> BatchRow:
    """A batch; every second one has a mode in a number with a gap and in a category."""
    region = Region(("a", "kind"), (0.5, None), (2.5, None), ((), ("p", "ü")))
    mode = StrongestMode("current", ("a", "kind"), 0.25, (0.2, 0.3), ("a higher: median 2 against 1", "kind"), region)
    alarm = number % 2 == 0
    return BatchRow(
        number, f"day {number}", "0f" * 8, 150, 0.004 if alarm else 0.5, 127, 0.01, alarm, int(alarm),
        mode if alarm else None, 0.125 if alarm else None,
    )  # fmt: skip


def header() -> HistoryHeader:
    return HistoryHeader("shiftscope history", 2, "r", 0.1, 3, 0, "s")


def opened(path: Path) -> History:
    """A record that was opened and closed again; it can still append."""
    with History.open(path, header()) as record:
        return record


@pytest.mark.parametrize("left", [0, 5])
def test_a_record_torn_in_its_first_line_begins_anew(left: int, tmp_path: Path):
    path = tmp_path / "h"
    opened(path)
    path.write_bytes(path.read_bytes()[:left])
    assert opened(path).rows == []
    assert len(path.read_bytes().splitlines()) == 1


def test_a_file_of_one_open_line_is_not_taken_for_a_torn_record(tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text("notes without a line end")
    with pytest.raises(ss.InputError, match="is no history of shiftscope"):
        opened(path)
    assert path.read_text() == "notes without a line end"


def test_a_record_is_an_ordinary_file():
    with pytest.raises(ss.InputError, match="must be an ordinary file"):
        opened(Path(os.devnull))


def test_damage_within_a_record_is_refused(tmp_path: Path):
    rows = list(map(row, (1, 2, 3)))
    path = tmp_path / "h"
    record = opened(path)
    for one in rows:
        record.append(one)
    assert opened(path).rows == rows
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:-1], b"\x00" * 30 + b"\n"]))  # a last line of nothing is torn too
    assert opened(path).rows == rows[:2]
    path.write_bytes(b"".join([lines[0], b"{}\n", lines[2]]))
    with pytest.raises(ss.InputError, match="is damaged in line 2"):
        opened(path)
