"""A browser is one that starts; without one the reasons are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import chromium


def program(path: Path, code: int) -> str:
    path.write_text(f"#!/bin/sh\necho libnss3.so is missing >&2\nexit {code}\n")
    path.chmod(0o755)
    return str(path)


def test_a_browser_without_its_libraries_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(chromium, "_fetched", lambda: None)
    program(tmp_path / "chromium", 127)
    assert chromium.find() is None
    working = program(tmp_path / "google-chrome", 0)
    assert chromium.find() == working
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "nothing"))
    assert chromium.find() is None


@pytest.mark.parametrize("root", [False, True])
def test_every_way_is_tried_and_its_failure_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: bool) -> None:
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(chromium, "_fetched", lambda: None)
    monkeypatch.setattr(chromium, "NAMES", ("chromium",))
    monkeypatch.setattr(chromium.os, "geteuid", lambda: 0 if root else 1000)
    monkeypatch.setattr(chromium.sys, "executable", program(tmp_path / "python", 1))
    program(tmp_path / "apt-get", 100)
    monkeypatch.setenv("PATH", str(tmp_path))
    said = chromium.install()
    assert said.startswith("none; ")
    assert said.count("libnss3.so is missing") == 1 + root
    assert ("apt-get update --quiet failed" in said) == root
    assert ("--with-deps" in said) == root
