"""Where Chromium is, for the tests of the page; run as a script it is installed if it is missing.

An installed browser that starts is used as it is. Otherwise the system's package manager is asked (as root), then
Playwright to fetch one of its own. Without success the reasons are printed and nothing fails here: the tests say what
they miss, and fail with CI=true.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_SECONDS = 900


def find() -> str | None:
    """Path of a browser that starts: $CHROMIUM, one of the system, or one that Playwright has fetched; or None."""
    named = os.environ.get("CHROMIUM")
    installed = next(filter(starts, [named] if named else map(shutil.which, NAMES)), None)
    if installed or named:
        return installed
    fetched = _fetched()
    return fetched if starts(fetched) else None


def starts(path: str | None) -> bool:
    """Whether there is such a browser, and with all the libraries that it needs."""
    return path is not None and _failure([path, "--headless", "--no-sandbox", "--version"]) is None


def install() -> str:
    """Try to install a browser; what came of it, in words."""
    reasons = []
    for way in _ways():
        failure = next(filter(None, map(_failure, way)), None)
        found = find()
        if found is not None:
            return f"installed {found}"
        reasons.append(failure or f"{' '.join(way[-1])} has left no browser that starts")
    return f"none; {'; '.join(reasons)}"


def _ways() -> list[list[list[str]]]:
    """Ways to install one, each a sequence of commands."""
    fetch = [sys.executable, "-m", "playwright", "install", "chromium"]
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return [[fetch]]
    wanted = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", "chromium"]
    return [[["apt-get", "update", "--quiet"], wanted], [[*fetch, "--with-deps"]]]


def _failure(command: list[str]) -> str | None:
    """Run a command that asks no questions; what went wrong, None if nothing did."""
    settings = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            command,
            env=settings,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{' '.join(command)} failed: {error}"
    return f"{' '.join(command)} failed: {(done.stderr or done.stdout).strip()[-300:]}" if done.returncode else None


def _fetched() -> str | None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as driver:
        path = driver.chromium.executable_path
    return path if Path(path).exists() else None


if __name__ == "__main__":
    print(f"browser for the tests: {find() or install()}")
