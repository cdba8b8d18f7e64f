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


@pytest.fixture
def lines(tmp_path: Path) -> list[bytes]:
    """A record of five batches."""
    record = opened(tmp_path / "h")
    for number in range(1, 6):
        record.append(row(number))
    return (tmp_path / "h").read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize(
    ("order", "damaged"),
    [
        ([0, 1, 1, 2, 3, 4, 5], 3),  # doubled
        ([0, 1, 2, 3, 4, 5, 5], 7),
        ([0, 2, 1, 3, 4, 5], 2),  # moved
        ([0, 1, 2, 3, 5], 5),  # taken out
        ([1, 2, 3, 4, 5], None),
        ([0, 0, 1, 2, 3, 4, 5], 2),
    ],
)
def test_lines_that_were_doubled_moved_or_taken_out_are_seen(
    tmp_path: Path, lines: list[bytes], order: list[int], damaged: int | None
):
    path = tmp_path / "h"
    path.write_bytes(b"".join(lines[at] for at in order))
    said = "is no history of shiftscope" if damaged is None else f"is damaged in line {damaged}"
    with pytest.raises(ss.InputError, match=said):
        opened(path)


def test_every_flipped_bit_is_seen_or_only_tears_the_last_line(tmp_path: Path, lines: list[bytes]):
    path, whole = tmp_path / "h", b"".join(lines)
    before = [row(number) for number in range(1, 6)]
    refused = []
    for at in range(0, len(whole), 3):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << at % 8)]) + whole[at + 1 :])
        try:
            rows = opened(path).rows
        except ss.InputError as error:
            refused.append(str(error))
        else:  # a line end or a null byte: the last batch is computed again
            assert rows == before[:4]
            assert at >= len(whole) - len(lines[-1])
    assert len(refused) > len(whole) / 4
    assert not any("\n" in said for said in refused)


def test_a_record_cut_anywhere_goes_on(tmp_path: Path, lines: list[bytes]):
    """What a power cut leaves: the whole lines are there, the torn one is dropped, and the next one can follow."""
    path, whole = tmp_path / "h", b"".join(lines)
    for end in range(0, len(whole), 7):
        path.write_bytes(whole[:end])
        complete = max(0, whole[:end].count(b"\n") - 1)
        record = opened(path)
        assert record.rows == [row(number) for number in range(1, complete + 1)]
        record.append(row(complete + 1))
        assert len(opened(path).rows) == complete + 1


def test_a_record_of_before_the_checksums_is_told_from_a_damaged_one(tmp_path: Path):
    path = tmp_path / "h"
    path.write_text('{"format": "shiftscope history", "version": 1, "reference": "r"}\n')
    with pytest.raises(ss.InputError, match="has version 1 and this shiftscope reads 2; begin another"):
        opened(path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_a_line_that_the_disk_does_not_take_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "h"
    record = opened(path)
    record.append(row(1))
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ss.InputError, match="No space left on device"):
        record.append(row(2))
    assert path.read_bytes() == before
    monkeypatch.undo()
    record.append(row(2))
    assert opened(path).rows == [row(1), row(2)]
