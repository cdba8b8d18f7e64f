"""The numbers that `validation.fixed_numbers` changes are those of the sources, and changing them tells."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from validation.fixed_numbers import NUMBERS, SOURCE, Asking, copied, told

PAGE = Path(__file__).parents[1] / "docs" / "constants.md"
FIRST = next(number for number in NUMBERS if number.name == "FIRST")


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number.name)
def test_a_number_stands_in_its_file_once_and_is_changed_there(number):
    source = (SOURCE / number.file).read_text("utf-8")
    changed = [number.changed(source, value) for value in number.others]
    assert len({source, *changed}) == 1 + len(number.others)
    assert all(len(text.splitlines()) == len(source.splitlines()) for text in changed)


@pytest.mark.parametrize("line", ["", "\nFIRST = 1\n", "\nFIRST = 127\nFIRST = 127\n", "\nMY_FIRST = 127\n"])
def test_a_number_that_does_not_stand_there_once_ends_the_study(line):
    with pytest.raises(SystemExit, match=r"staged_p_value\.py must have 'FIRST = 127' once, found [02] times"):
        FIRST.changed(line, "63")


def test_the_process_asked_has_the_number_changed(tmp_path):
    asking = Asking(tmp_path, (100,), tmp_path)
    usual, changed = asking.usual(FIRST.probe), asking.changed(FIRST, "1023")
    cost = [unit["figures"]["labellings, no shift"] for unit in (usual[0], changed[0])]
    assert cost[1] > 4 * cost[0]
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")}
    assert asking.changed(FIRST, "1023") == changed
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")} == written


def test_kernels_that_use_a_changed_one_are_compiled_again():
    number = next(number for number in NUMBERS if number.name == "POOLED_CELLS")
    with copied(number, "64") as source:
        assert "POOLED_CELLS = 64 " in (source / number.file).read_text("utf-8")
        assert list(source.glob("kernels/__pycache__/shard_counts.*.nb?")) == []


def test_answers_that_differ_are_counted():
    usual = [
        {"answers": ["a", "b"], "right": [True], "figures": {"recall": 1.0}},
        {"answers": [], "right": [], "figures": {}},
    ]
    changed = [{**usual[0], "answers": ["a", "c", "d"], "right": [False]}, {**usual[1], "figures": {"recall": 0.5}}]
    assert told(usual, usual) == ["0 of 2", "1 of 1", "recall 1"]
    assert told(usual, changed) == ["2 of 3", "0 of 1", "recall 0.75"]


def test_every_number_that_is_changed_is_among_the_constants():
    text, _, table = PAGE.read_text("utf-8").partition("<!-- fixed numbers -->")
    lines = {f"{number.name} = {value}" for number in NUMBERS for value in number.others}
    assert [line for line in lines if f"| {line} |" not in table.replace("`", "")] == []
    names = {name for number in NUMBERS for name in re.findall(r"_?[A-Z_]{2,}|the 1 in Z", number.name)}
    assert len(names) >= len(NUMBERS)
    assert [name for name in names if f"`{name}`" not in text and f"| {name} " not in text] == []
