from __future__ import annotations

import subprocess

import pytest

from shiftscope import compile_ahead as warm
from shiftscope.kernels.enrichment import nested_neighbours
from shiftscope.kernels.score import score_labellings, score_lists


def test_the_helper_compiles_what_a_comparison_uses() -> None:
    warm.compile_kernels()
    for kernel in (score_lists, score_labellings, nested_neighbours):
        assert kernel.signatures
    assert warm._compiled()


def test_a_helper_runs_only_if_there_is_something_to_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    class Helper:
        def __init__(self, command: list[str], **_: object) -> None:
            started.append(command)

        def kill(self) -> None:
            started.append("killed")

        def wait(self) -> None:
            started.append("waited for")

    monkeypatch.setattr(subprocess, "Popen", Helper)
    monkeypatch.setattr(warm, "cores", lambda: 2)
    monkeypatch.setattr(warm, "_compiled", lambda: True)
    with warm.shared_compilation():
        assert started == []
    monkeypatch.setattr(warm, "_compiled", lambda: False)
    with warm.shared_compilation():
        assert started[0][1:] == ["-m", "shiftscope.compile_ahead"]
    assert started[1:] == ["killed", "waited for"]
    monkeypatch.setattr(warm, "cores", lambda: 1)
    with warm.shared_compilation():
        assert len(started) == 3
