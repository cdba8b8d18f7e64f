"""The documentation: its code runs, its links lead somewhere, and it names all that is public."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import shiftscope as ss
from shiftscope.cli import app as cli

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CODE = re.compile(r"^```python\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)(#[^)]*)?\)")


def blocks(page: Path) -> str:
    """All Python of a page: later blocks go on where earlier ones ended."""
    return "\n".join(CODE.findall(page.read_text("utf-8")))


@pytest.fixture
def two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the files that the examples speak of."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    before, after = rng.standard_normal((2, 400, 2))
    after[:60] = (1.2, -0.8) + 0.08 * rng.standard_normal((60, 2))
    for name, rows in (("before.csv", before), ("after.csv", after)):
        np.savetxt(name, rows, delimiter=",", header="a,b", comments="")


@pytest.mark.usefixtures("two_files")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_code_runs(page: Path) -> None:
    names: dict[str, object] = {}
    exec(compile(blocks(page), str(page), "exec"), names)
    result = names.get("result")
    if isinstance(result, ss.ShiftResult):  # the examples speak of modes, so there should be one
        assert result.modes
        assert Path("report.html").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = [target for target, _ in LINK.findall(page.read_text("utf-8")) if "://" not in target]
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert missing == []


def test_every_public_name_is_documented() -> None:
    api = (ROOT / "docs" / "api.md").read_text("utf-8")
    assert [name for name in ss.__all__ if f"ss.{name}" not in api] == []


def test_every_option_is_documented() -> None:
    api = (ROOT / "docs" / "api.md").read_text("utf-8")
    modules = Path(cli.__file__).parent.glob("*.py")
    options = {option for module in modules for option in re.findall(r'"(--[a-z-]+)"', module.read_text("utf-8"))}
    assert {"--report", "--json", "--version"} <= options
    assert {option for option in options if option not in api} == set()


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert [page.name for page in PAGES[1:] if page.name not in navigation] == []


def test_changelog_knows_the_version() -> None:
    assert f"## [{ss.__version__}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_constants_are_told_with_the_values_that_they_have() -> None:
    text = (ROOT / "docs" / "constants.md").read_text("utf-8")
    rows = re.findall(r"^\| ((?:`[A-Z_]+`(?:, )?)+) \(`([a-z_/]+)\.py`\) \| (.*?) \|", text, re.MULTILINE)
    assert len(rows) > 25
    for names, module, values in rows:
        home = import_module(f"shiftscope.{module.replace('/', '.')}")
        found = tuple(getattr(home, name) for name in re.findall(r"[A-Z_]+", names))
        told = ast.literal_eval(f"({values},)")
        assert found == told, f"{names} in {module}"


def test_every_constant_has_a_range_or_a_reason() -> None:
    text = (ROOT / "docs" / "constants.md").read_text("utf-8").partition("## The study")[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if re.match(r"\| (`|the 1 in Z)", line)]
    assert len(rows) > 60
    assert [row[0] for row in rows if len(row) != 4 or len(row[3]) < 10] == []
    assert [row[0] for row in rows if re.search("not (studied|varied|measured|known)", row[3])] == []


@pytest.mark.parametrize("part", [ss.ModeParams, ss.ScanParams, ss.EqualiseParams])
def test_every_setting_of_the_searches_is_among_the_constants(part: type) -> None:
    text = (ROOT / "docs" / "constants.md").read_text("utf-8")
    plain = {"n_permutations", "level", "threshold", "null", "step", "max_rounds"}  # choices and sizes of tests
    assert [field.name for field in fields(part) if field.name not in plain and f"`{field.name}`" not in text] == []
