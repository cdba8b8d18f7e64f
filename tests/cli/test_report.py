from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Run, one_line


@pytest.mark.usefixtures("quick")
def test_report_of_a_saved_result_is_the_same_page(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    saved = tmp_path / "result.json"
    first = run("compare", *pair, "--json", saved, "--report", tmp_path / "first.html", "--markdown", tmp_path / "a.md")
    again = run("report", saved, "--markdown", tmp_path / "b.md")
    assert (first.code, again.code) == (0, 0), again.err
    assert (tmp_path / "result.html").read_text() == (tmp_path / "first.html").read_text()
    assert (tmp_path / "a.md").read_text() == (tmp_path / "b.md").read_text()
    assert again.out.startswith("The samples differ")
    assert run("report", saved, "--quiet", "--report", tmp_path / "c.html").out == ""


def test_report_of_anything_else_is_refused_in_one_line(run: Run, pair: tuple[Path, Path], tmp_path: Path) -> None:
    done = run("report", pair[1])
    assert done.code == 2
    assert one_line(done)
    assert "is not JSON" in done.err
    assert not (tmp_path / "cur.html").exists()
