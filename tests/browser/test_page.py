"""The page in a real browser: needs Playwright and an installed Chromium; skipped without them.

AXE_CORE names the file axe.min.js of axe-core, if the accessibility check is to run.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shiftscope as ss
from shiftscope.report.html import write_html
from shiftscope.results import ShiftResult

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")

PARAMS = ss.CompareParams(
    n_permutations=99,
    scan=None,
    equalise=ss.EqualiseParams(k_max=60, n_permutations=99),
    localise=ss.LocaliseParams(epochs=150, background=300, k=30),
)
PATIENCE = 300_000  # milliseconds: machines may be busy
HOSTILE = "<script>window.hurt=1</script><img src=x onerror=window.hurt=1>"


@pytest.fixture(scope="module")
def found() -> ShiftResult:
    rng = np.random.default_rng(1)
    reference, current = rng.standard_normal((2, 600, 3))
    current[:60, :2] = (1.2, -0.8) + 0.08 * rng.standard_normal((60, 2))
    result = ss.compare(reference, current, params=PARAMS)
    mode = result.modes[0]
    encoded = replace(result.encoded, names=(HOSTILE, *result.names[1:]))
    features = tuple(HOSTILE if name == "x0" else name for name in mode.features)
    named = replace(mode, features=features, directions=tuple(replace(mode.directions[0], feature=f) for f in features))
    other = replace(named, rows=named.rows[:20], features=("x1", "x2"), directions=named.directions[:1])
    return replace(result, encoded=encoded, modes=(named, other))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any, found: ShiftResult, tmp_path: Path) -> Iterator[Any]:
    """The page, with everything that the browser complains of or asks for."""
    write_html(found.summary, tmp_path / "report.html")
    page = chromium.new_page(viewport={"width": 1440, "height": 900})
    page.set_default_timeout(PATIENCE)
    page.complaints, page.requests = [], []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("request", lambda request: page.requests.append(request.url))
    page.goto((tmp_path / "report.html").as_uri())
    yield page
    page.close()


def pixels(page: Any) -> str:
    return str(page.evaluate("document.querySelector('canvas[data-side=current]').toDataURL()"))


def test_nothing_goes_wrong_and_nothing_is_asked_for(page: Any) -> None:
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
    assert page.evaluate("window.hurt") is None


def test_choices_change_the_picture(page: Any) -> None:
    first = pixels(page)
    page.locator("select[name=up]").first.select_option(index=2)
    second = pixels(page)
    page.locator("select[name=mode]").first.select_option(index=1)
    third = pixels(page)
    assert len({first, second, third}) == 3
    assert page.complaints == []


def test_rows_are_read_by_pointer_and_by_keyboard(page: Any) -> None:
    canvas, readout = page.locator("canvas[data-side=current]").first, page.locator("output").first
    hint = readout.inner_text()
    canvas.focus()
    page.keyboard.press("ArrowRight")
    first = readout.inner_text()
    assert first.startswith("current row ")
    assert first.endswith("(mode 1)")
    page.keyboard.press("ArrowRight")
    assert readout.inner_text() != first
    page.keyboard.press("Escape")
    assert readout.inner_text() == hint
    box = canvas.bounding_box()
    for x in np.linspace(0.3, 0.8, 12):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + 0.5 * box["height"])
        if readout.inner_text() != hint:
            break
    assert readout.inner_text().startswith("current row ")


def test_all_rows_can_be_downloaded(page: Any, found: ShiftResult) -> None:
    with page.expect_download() as download:
        page.locator("button[data-rows]").first.click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines == ["mode,sample,row", *(f"1,current,{row}" for row in found.modes[0].rows)]


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_fits_any_screen(page: Any, width: int, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")


def test_without_script_the_pictures_stand_still(chromium: Any, found: ShiftResult, tmp_path: Path) -> None:
    write_html(found.summary, tmp_path / "report.html")
    page = chromium.new_page(java_script_enabled=False)
    page.set_default_timeout(PATIENCE)
    page.goto((tmp_path / "report.html").as_uri())
    assert page.locator(".still svg").first.is_visible()
    assert not page.locator("canvas").first.is_visible()
    page.close()


@pytest.mark.skipif("AXE_CORE" not in os.environ, reason="AXE_CORE does not name axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_accessible(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.evaluate(Path(os.environ["AXE_CORE"]).read_text("utf-8"))
    violations = page.evaluate("axe.run().then(done => done.violations.map(v => v.id + ': ' + v.nodes[0].html))")
    assert violations == []
