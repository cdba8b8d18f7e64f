"""Hostile tables through the command line: nothing executes, nothing breaks, everything stays small."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import shiftscope as ss
from shiftscope.cli import app as cli
from shiftscope.report.html import page
from shiftscope.results import ShiftResult
from tests.quick import QUICK

LIMIT = 3_000_000  # bytes of any page
SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=alert(2)>{{7*7}}'
FORMULA = '=HYPERLINK("http://x.example","y")'
LONG = "n" * 10_000
EAGLE = "🦅 vol [bold]ü[/bold]\u202e\x1b[31m"


class Elements(HTMLParser):
    """The tags of a page, and every attribute that could run or fetch something."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.scripts = 0
        self.risky: list[tuple[str, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.scripts += tag == "script"
        self.risky += [
            (name, value)
            for name, value in attrs
            if name.startswith("on")
            or (name in ("src", "href", "xlink:href") and not (value or "").startswith(("#", "data:")))
        ]


def write_table(path: Path, columns: dict[str, list[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def sample(rng: np.random.Generator, group: int) -> dict[str, list[object]]:
    """Every name and every text is hostile; a group of rows has a formula and a number in excess."""
    x = rng.standard_normal(300)
    text = rng.choice([SCRIPT, IMAGE, EAGLE, LONG], 300).astype(object)
    x[:group], text[:group] = 1.0 + 0.05 * rng.standard_normal(group), FORMULA
    return {
        SCRIPT: x.tolist(),
        IMAGE: text.tolist(),
        LONG: rng.standard_normal(300).tolist(),
        EAGLE: rng.choice(["-1+1", "@SUM(A1)", "+4", ""], 300).tolist(),
        FORMULA: [f"{SCRIPT} {number}" for number in range(300)],
    }


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    real = ss.compare
    monkeypatch.setattr(
        ss, "compare", lambda *args, **options: real(*args, **{**options, "alpha": None, "params": QUICK})
    )

    def call(*arguments: object) -> str:
        monkeypatch.setattr("sys.argv", ["shiftscope", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        assert not stop.value.code, captured.err
        return captured.out

    return call


def test_hostile_names_and_values_do_nothing(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    write_table(tmp_path / "a.csv", sample(rng, 0))
    write_table(tmp_path / "b.csv", sample(rng, 40))
    outputs = [(f"--{name}", tmp_path / f"out.{end}") for name, end in OUTPUTS]
    said = run("compare", tmp_path / "a.csv", tmp_path / "b.csv", *(part for pair in outputs for part in pair))
    assert "The samples differ" in said
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "[bold]" in said or "[bold]" in (tmp_path / "out.html").read_text()
    assert len(said) < 10_000

    html = (tmp_path / "out.html").read_text("utf-8")
    seen = Elements(html)
    assert (seen.scripts, seen.risky) == (2, [])
    assert not {"img", "iframe", "object", "embed", "link", "b"} & seen.tags
    assert len(html.encode()) < LIMIT / 3

    markdown = (tmp_path / "out.md").read_text("utf-8")
    assert "<script" not in markdown.replace("\\<", "")
    assert len(markdown) < 10_000
    saved = json.loads((tmp_path / "out.json").read_text("ascii"))
    assert IMAGE in saved["modes"][0]["features"]
    assert saved["left_out"][0]["name"] == FORMULA

    lines = list(csv.reader((tmp_path / "out.csv").read_text("utf-8").splitlines()))
    texts = [cell for line in lines for cell in line if not is_number(cell)]
    assert f"'{FORMULA}" in texts
    assert not [cell for cell in texts if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


OUTPUTS = (("report", "html"), ("markdown", "md"), ("json", "json"), ("rows", "csv"))


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_two_thousand_columns(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    monkeypatch.setattr(f"{__name__}.QUICK", replace(QUICK, scan=None))  # two million pairs would take a minute
    names = [f"{SCRIPT} {number}" for number in range(2000)]
    for name in "ab":
        write_table(tmp_path / f"{name}.csv", dict(zip(names, rng.standard_normal((2000, 40)).tolist(), strict=True)))
    said = run("compare", tmp_path / "a.csv", tmp_path / "b.csv", "--report", tmp_path / "out.html")
    assert "No difference was found" in said
    html = (tmp_path / "out.html").read_text()
    assert (Elements(html).scripts, Elements(html).risky) == (2, [])
    assert "and 1,000 more" in html
    assert len(html.encode()) < LIMIT


def test_page_of_a_million_rows_of_either_sample_stays_small() -> None:
    rng = np.random.default_rng(0)
    reference, current = rng.standard_normal((2, 300, 3))
    current[:40, :2] = 1.0 + 0.05 * rng.standard_normal((40, 2))
    html = page(enlarged(ss.compare(reference, current, params=QUICK), 3334).summary)
    assert "1,000,200" in html
    assert len(html.encode()) < LIMIT


def enlarged(result: ShiftResult, times: int) -> ShiftResult:
    """A result with every row `times` times, as far as a report can tell."""
    n, m = result.n_reference, result.n_current
    encoded = result.encoded
    points = np.concatenate([np.tile(encoded.reference, (times, 1)), np.tile(encoded.current, (times, 1))])
    scores = replace(
        result.scores,
        reference=np.tile(result.scores.reference, times),
        current=np.tile(result.scores.current, times),
    )
    assert result.scan is not None
    sets = tuple(
        replace(
            one,
            rows_reference=repeated(one.rows_reference, n, times),
            rows_current=repeated(one.rows_current, m, times),
        )
        for one in result.scan.sets
    )
    assert result.modes
    return replace(
        result,
        encoded=replace(encoded, points=points, ranked=points, n_reference=n * times),
        scores=scores,
        scan=replace(result.scan, sets=sets),
        modes=tuple(
            replace(mode, rows=repeated(mode.rows, m if mode.side == "current" else n, times)) for mode in result.modes
        ),
        kept_reference=repeated(result.kept_reference, n, times),
        kept_current=repeated(result.kept_current, m, times),
    )


def repeated(rows: np.ndarray, size: int, times: int) -> np.ndarray:
    return (rows[None, :] + size * np.arange(times)[:, None]).ravel()
