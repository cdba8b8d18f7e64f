from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from shiftscope import progress
from shiftscope.progress import silent, terminal_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """A clock that stands still until it is told to move."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


@pytest.fixture
def terminal(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    terminal = Terminal()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=terminal))
    return terminal


def test_silent_says_nothing(capfd):
    silent("scan", 0.5)
    assert capfd.readouterr() == ("", "")


def test_a_pipe_stays_quiet(capfd, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.0)
    with terminal_progress() as report:
        assert report is silent
        report("scan", 0.5)
    assert capfd.readouterr() == ("", "")


def test_a_dumb_terminal_stays_quiet(terminal, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    with terminal_progress() as report:
        assert report is silent


def test_short_runs_stay_quiet(terminal, clock):
    with terminal_progress() as report:
        report("scan", 0.0)
        clock.now += progress.DELAY_SECONDS - 0.01
        report("scan", 1.0)
    assert terminal.getvalue() == ""


def test_long_runs_draw_one_bar_per_stage(terminal, clock, capfd):
    with terminal_progress() as report:
        report("scan", 1.0)
        report("neighbours [1]", 0.0)
        clock.now += progress.DELAY_SECONDS
        report("neighbours [1]", 0.25)
        print("result")
    drawn = terminal.getvalue()
    assert "scan" in drawn
    assert "100%" in drawn
    assert "neighbours [1]" in drawn
    assert "25%" in drawn
    assert "-:--" in drawn  # time left: not yet known
    assert drawn.endswith("\x1b[2K")  # wiped at the end
    assert capfd.readouterr().out == "result\n"


def test_a_stage_that_runs_again_starts_anew(terminal, clock):
    with terminal_progress() as report:
        clock.now += progress.DELAY_SECONDS
        report("localise", 1.0)
        report("localise", 0.0)
        report("localise", 7.0)
        report("localise", -1.0)
        drawn_last = terminal.getvalue().rsplit("localise", 1)[1]
    assert "0%" in drawn_last
    assert "700%" not in terminal.getvalue()


def test_bars_are_wiped_after_an_error(terminal, clock):
    def fail() -> None:
        with terminal_progress() as report:
            clock.now += progress.DELAY_SECONDS
            report("scan", 0.5)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert terminal.getvalue().endswith("\x1b[2K")
