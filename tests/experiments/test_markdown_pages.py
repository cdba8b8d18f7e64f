from __future__ import annotations

import pytest

import shiftscope as ss
from experiments.markdown import filled, markdown_table, renew

PAGE = "In all <!-- sum -->old<!-- / --> rows.\n\n<!-- table -->\n\n| a |\n\n<!-- / -->\n\nProse."
TABLE = markdown_table(("a", "b"), [(1, 2)])


def test_a_page_keeps_its_prose_and_gets_its_numbers():
    found = {"sum": "3", "table": TABLE, "idle": "9"}
    new = filled(PAGE, found)
    assert new == (
        "In all <!-- sum -->3<!-- / --> rows.\n\n"
        "<!-- table -->\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n<!-- / -->\n\nProse."
    )
    assert filled(new, found) == new


def test_a_fragment_that_no_study_makes_is_refused_by_name():
    with pytest.raises(ss.InputError, match=r"'sum'.*sums"):
        filled(PAGE, {"table": TABLE, "sums": "9"})


def test_one_fragment_of_a_page_is_renewed_and_the_others_stay(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE, "utf-8")
    renew(page, "sum", "3")
    assert page.read_text("utf-8") == PAGE.replace("old", "3")
    with pytest.raises(ss.InputError, match="<!-- sums -->"):
        renew(page, "sums", "9")
