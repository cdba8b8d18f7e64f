"""Whatever is given as a path: a file, or one line of ours."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shiftscope as ss
from shiftscope.paths import as_path
from shiftscope.questions.monitor_result import MonitorResult
from shiftscope.report.mode_rows import write_rows
from shiftscope.report.saved_result import read_summary
from tests import planted


class Bytes:
    """A path object whose path is no text."""

    def __fspath__(self) -> bytes:
        return b"x"


WRONG: list[Any] = [0, 3, 1.5, b"x", ["x"], ("a", "b"), {}, object(), True, Bytes(), Path, "", "a\0b"]


@cache
def takers() -> dict[str, Callable[[Any], object]]:
    """Every public function that takes a path."""
    result, watched = planted.result(), MonitorResult((), 0.01, 1)
    detector = ss.ShiftDetector().fit(np.arange(40.0).reshape(20, 2))
    return {
        "to_json": result.to_json,
        "to_html": result.to_html,
        "to_markdown": result.to_markdown,
        "write_rows": lambda path: write_rows(result, path),
        "read_summary": read_summary,
        "MonitorResult.to_json": watched.to_json,
        "MonitorResult.plot": watched.plot,
        "save": detector.save,
        "load": ss.ShiftDetector.load,
        "history": lambda path: ss.monitor(detector, [], horizon=1, history=path),
        **DATA,
    }


DATA: dict[str, Callable[[Any], object]] = {
    "compare": lambda path: ss.compare(path, np.eye(3)),
    "fit": lambda path: ss.ShiftDetector().fit(path),
}  # what is no path may be data of another form


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: type(wrong).__name__)
def test_wrong_paths_are_one_line(wrong: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, take in takers().items():
        if name not in DATA or isinstance(wrong, str | Bytes):
            with pytest.raises(ss.ShiftscopeError) as caught:
                take(wrong)
            assert "\n" not in str(caught.value), name
            assert os.listdir(tmp_path) == [], name


def test_the_tilde_of_a_user_that_does_not_exist_is_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert as_path("~nobody-of-this-name/x.csv") == Path("~nobody-of-this-name/x.csv")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert as_path("~/x.csv") == tmp_path / "x.csv"
