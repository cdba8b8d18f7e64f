"""Where Chromium is, for the tests of the page; run as a script it is installed if it is missing.

An installed browser is used as it is. Otherwise the system's package manager is asked (as root), or Playwright fetches
one of its own. Without success the reason is printed and nothing fails here: the tests say what they miss.
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
    """Path of a browser: $CHROMIUM, one of the system, or one that Playwright has fetched; None if there is none."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    installed = next(filter(None, map(shutil.which, NAMES)), None)
    return installed or _fetched()


def install() -> str:
    """Try to install a browser; what came of it, in words."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        wanted = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", "chromium"]
        commands = [["apt-get", "update", "--quiet"], wanted]
    else:
        commands = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{' '.join(command)} failed: {error}"
        if done.returncode:
            return f"{' '.join(command)} failed: {(done.stderr or done.stdout).strip()[-300:]}"
    return f"installed {find()}"


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
