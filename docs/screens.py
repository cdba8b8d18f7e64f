"""The pictures of the documentation: `python docs/screens.py` draws them again into docs/images.

terminal.svg and report.png show the built-in example, report-clear.png two samples without any difference.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright
from rich.console import Console

import shiftscope as ss
from shiftscope.cli.demo_data import PARAMS, example
from shiftscope.report.html import write_html
from shiftscope.report.summary import Summary
from shiftscope.report.terminal import show

ROOT = Path(__file__).parent
IMAGES = ROOT / "images"
WIDTH, COLUMNS = 1000, 100  # pixels of a page, characters of a terminal
COLOURS = 96
MOST_BYTES = 200_000
FONT = re.compile(r"@font-face \{.*?\}", re.DOTALL)  # would be fetched from elsewhere

sys.path.insert(0, str(ROOT.parent / "tests" / "browser"))
from chromium import FLAGS, find  # noqa: E402


def main() -> None:
    """Draw all pictures."""
    pair = example()
    found = ss.compare(pair.reference, pair.current, params=PARAMS).summary
    clear = ss.compare(pair.reference[:1500], pair.reference[1500:]).summary
    (IMAGES / "terminal.svg").write_text(terminal(found), "utf-8")
    with browser() as page:
        photograph(page, found, IMAGES / "report.png", 1180)
        photograph(page, clear, IMAGES / "report-clear.png", 760)
    for image in ("terminal.svg", "report.png", "report-clear.png"):
        size = (IMAGES / image).stat().st_size
        print(f"docs/images/{image}: {size:,} bytes")
        assert size < MOST_BYTES


def terminal(summary: Summary) -> str:
    """What `shiftscope compare` shows on a terminal, as SVG."""
    console = Console(force_terminal=True, record=True, width=COLUMNS, file=io.StringIO(), highlight=False)
    console.print("$ shiftscope compare before.csv after.csv", style="bold")
    show(summary, console)
    return FONT.sub("", console.export_svg(title="shiftscope", unique_id="shiftscope"))


@contextmanager
def browser() -> Iterator[Any]:
    """A page in a headless browser."""
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=find(), args=list(FLAGS))
        yield chromium.new_page(viewport={"width": WIDTH, "height": 800})
        chromium.close()


def photograph(page: Any, summary: Summary, path: Path, height: int) -> None:
    """The top of a report."""
    with tempfile.TemporaryDirectory() as folder:
        write_html(summary, Path(folder) / "report.html")
        page.goto((Path(folder) / "report.html").as_uri())
        picture = page.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": WIDTH, "height": height})
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS).save(path, optimize=True)


if __name__ == "__main__":
    main()
