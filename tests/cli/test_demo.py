from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from shiftscope.cli.demo_data import INJECTED_FEATURES, N_INJECTED, NAMES, example
from tests import planted
from tests.cli.running import Run


def test_example_is_as_told() -> None:
    pair = example(0)
    assert pair.injected.size == N_INJECTED
    assert pair.reference.columns == pair.current.columns
    spread = pair.current[pair.injected.tolist()].select(INJECTED_FEATURES).std().row(0)
    usual = pair.reference.select(INJECTED_FEATURES).std().row(0)
    assert all(narrow < 0.25 * wide for narrow, wide in zip(spread, usual, strict=True))
    assert str(N_INJECTED) in pair.story()


def test_demo_tells_the_truth_and_writes_the_report(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("demo")
    assert done.code == 0, done.err
    words = " ".join(done.out.split())
    story, verdict, truth = re.split("The samples differ|The truth: ", words)
    assert all(name in story for name in INJECTED_FEATURES)
    assert f"{N_INJECTED} rows" in story
    assert all(name in verdict for name in INJECTED_FEATURES)
    hits, injected, told = map(int, re.findall(r"\d+", truth)[:3])
    assert injected == N_INJECTED
    assert N_INJECTED / 2 < hits <= min(told, N_INJECTED)
    assert "not exactly" not in truth
    assert "Mode 1" in (tmp_path / "report.html").read_text()


def test_demo_does_not_hide_what_was_missed() -> None:
    """Negative control: of a result with half of the rows and another feature it says so."""
    pair = example(0)
    mode = replace(planted.result().modes[0], side="current", rows=pair.injected[::2], features=INJECTED_FEATURES)
    exact, other = (
        replace(planted.result(), modes=(replace(mode, features=features),))
        for features in (INJECTED_FEATURES, (*INJECTED_FEATURES[:2], NAMES[0]))
    )
    hits = len(pair.injected[::2])
    for found in (exact, other):
        assert list(map(int, re.findall(r"\d+", pair.outcome(found)))) == [hits, N_INJECTED, hits]
    assert ("not exactly" in pair.outcome(exact), "not exactly" in pair.outcome(other)) == (False, True)
