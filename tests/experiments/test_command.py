from __future__ import annotations

from pathlib import Path

import pytest

from experiments.command import StudyParser, seeds_of


@pytest.mark.parametrize(
    ("words", "seeds"),
    [(["3"], [0, 1, 2]), (["3-5"], [3, 4, 5]), (["1", "4-6", "1"], [1, 4, 5, 6]), (["7", "2"], [7, 2])],
)
def test_seeds_are_a_number_a_list_or_a_range(words, seeds):
    asked = StudyParser(None, "study").parse_args(["--seeds", *words])
    assert seeds_of(asked, 40) == seeds


@pytest.mark.parametrize("words", [["many"], ["0"], ["5-3"], ["5-3", "7"]])
def test_a_wrong_seed_is_one_clear_line(words, capsys):
    with pytest.raises(SystemExit) as stopped:
        StudyParser(None, "study").parse_args(["--seeds", *words])
    assert stopped.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert "--seeds" in last
    assert last.endswith(f"found {' '.join(words)}")


def test_the_small_form_has_few_seeds_and_a_folder_of_its_own():
    parser = StudyParser(None, "study")
    full, quick = parser.parse_args([]), parser.parse_args(["--quick"])
    assert (full.out, quick.out) == (Path("runs/study"), Path("runs/study/quick"))
    assert [len(seeds_of(asked, 40)) for asked in (full, quick)] == [40, 2]
    assert seeds_of(quick, 1) == [0]
    assert seeds_of(parser.parse_args(["--quick", "--seeds", "5"]), 40) == list(range(5))
