"""The page in a real browser: Chromium, driven by Playwright, checked by axe-core."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shiftscope as ss
from shiftscope.report.html import write_html
from shiftscope.results import ShiftResult
from tests.browser.chromium import FLAGS, find
from tests.quick import QUICK

PATIENCE = 300_000  # milliseconds: machines may be busy
HOSTILE = "<script>window.hurt=1</script><img src=x onerror=window.hurt=1>"
PHONE, DESKTOP = 390, 1440


def samples(shifted: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two numbers, one of them with a hostile name; a category with a hostile level; a number with gaps; a date."""
    rng = np.random.default_rng(1)

    def sample(group: int) -> pl.DataFrame:
        x, y, z = rng.standard_normal((3, 400))
        x[:group], y[:group] = 1.2 + 0.08 * rng.standard_normal(group), -0.8 + 0.08 * rng.standard_normal(group)
        level = rng.choice(["A", HOSTILE, "=1+1"], 400)
        level[group : 2 * group] = "B"
        seen = np.datetime64("2024-01-01", "us") + rng.integers(0, 90, 400) * np.timedelta64(1, "D")
        gaps = pl.Series(np.where(rng.random(400) < 0.1, np.nan, z)).fill_nan(None)
        return pl.DataFrame({HOSTILE: x, "y": y, "z": gaps, "level": level, "seen": seen})

    return sample(0), sample(60 if shifted else 0)


@pytest.fixture(scope="module")
def found() -> ShiftResult:
    result = ss.compare(*samples(True), params=QUICK)
    assert len(result.modes) > 1
    assert {HOSTILE, "level"} <= {feature for mode in result.modes for feature in mode.features}
    return result


@pytest.fixture(scope="module")
def clear() -> ShiftResult:
    result = ss.compare(*samples(False), params=replace(QUICK, alpha=0.04))
    assert not result.detected
    return result


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    path = find()
    if path is None:
        pytest.skip("there is no Chromium; install one (make browser)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=list(FLAGS), timeout=PATIENCE)
        yield browser
        browser.close()


@dataclass(frozen=True)
class Opened:
    """A page, with everything that the browser complains of or asks for."""

    page: Any
    complaints: list[str]
    requests: list[str]

    def pixels(self, number: int = 0) -> str:
        """What a picture of the current sample shows."""
        return str(self.page.locator("canvas[data-side=current]").nth(number).evaluate("it => it.toDataURL()"))


class Opener:
    """Opens pages and closes them after the test; each is written once."""

    def __init__(self, browser: Any, folder: Path) -> None:
        self._browser, self._folder = browser, folder
        self._pages: list[Any] = []

    def __call__(self, result: ShiftResult, width: int = DESKTOP, **options: Any) -> Opened:
        path = self._folder / f"{'found' if result.detected else 'clear'}.html"
        if not path.exists():
            write_html(result.summary, path)
        page = self._browser.new_page(viewport={"width": width, "height": 844}, **options)
        page.set_default_timeout(PATIENCE)
        self._pages.append(page)
        opened = Opened(page, [], [])
        page.on("console", lambda message: opened.complaints.append(message.text))
        page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        page.on("request", lambda request: opened.requests.append(request.url))
        page.goto(path.as_uri())
        return opened

    def close(self) -> None:
        for page in self._pages:
            page.close()
        self._pages.clear()


@pytest.fixture(scope="module")
def opener(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Opener:
    return Opener(chromium, tmp_path_factory.mktemp("pages"))


@pytest.fixture
def show(opener: Opener) -> Iterator[Opener]:
    yield opener
    opener.close()


@pytest.mark.parametrize("kind", ["found", "clear"])
def test_nothing_goes_wrong_and_nothing_is_asked_for(show: Opener, kind: str, request: pytest.FixtureRequest) -> None:
    opened = show(request.getfixturevalue(kind))
    opened.page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith(("file:", "data:"))] == []
    assert opened.page.evaluate("window.hurt") is None
    assert opened.page.locator("img").count() == 0


def test_choices_change_the_picture(show: Opener, found: ShiftResult) -> None:
    opened = show(found)
    seen = []
    for column in range(len(found.names)):
        opened.page.locator("select[name=up]").first.select_option(index=column)
        seen.append(opened.pixels())
    opened.page.locator("select[name=mode]").first.select_option(index=1)
    seen.append(opened.pixels())
    assert len(set(seen)) == len(found.names) + 1
    before = opened.pixels(1)
    opened.page.locator("select[name=across]").nth(1).select_option(index=4)
    assert opened.pixels(1) != before
    assert opened.complaints == []


def test_rows_are_read_by_keyboard(show: Opener, found: ShiftResult) -> None:
    opened = show(found)
    canvas, readout = opened.page.locator("canvas[data-side=current]").first, opened.page.locator("output").first
    hint = readout.inner_text()
    canvas.focus()
    opened.page.keyboard.press("ArrowRight")
    first = readout.inner_text()
    assert first.startswith("current row ")
    assert first.endswith("(mode 1)") == (found.modes[0].side == "current")
    opened.page.keyboard.press("ArrowRight")
    assert readout.inner_text() != first
    opened.page.keyboard.press("Escape")
    assert readout.inner_text() == hint


def test_levels_dates_and_missing_values_are_read_as_such(show: Opener, found: ShiftResult) -> None:
    opened = show(found)
    columns = [column.name for column in found.summary.gallery.columns]
    for name, words in (("level", {"A", "B", "=1+1", "<script>…"}), ("z", {"missing"}), ("seen", {"2024-0"})):
        opened.page.locator("select[name=across]").first.select_option(index=columns.index(name))
        opened.page.locator("canvas[data-side=reference]").first.focus()
        opened.page.keyboard.press("Home")
        said = opened.page.locator("output").first.inner_text()
        assert any(f"{name} {word[:6]}" in said for word in words), said


def test_rows_are_read_by_pointer(show: Opener, found: ShiftResult) -> None:
    opened = show(found)
    canvas, readout = opened.page.locator("canvas[data-side=current]").first, opened.page.locator("output").first
    canvas.scroll_into_view_if_needed()
    box, hint = canvas.bounding_box(), readout.inner_text()
    for across in np.linspace(0.2, 0.9, 15):
        opened.page.mouse.move(box["x"] + across * box["width"], box["y"] + 0.5 * box["height"])
        if readout.inner_text() != hint:
            break
    assert readout.inner_text().startswith("current row ")


def test_everything_can_be_reached_by_keyboard(show: Opener, found: ShiftResult) -> None:
    opened = show(found)
    reached: list[str] = []
    for _ in range(60):
        opened.page.keyboard.press("Tab")
        reached.append(
            opened.page.evaluate(
                "(it => it.tagName + (it.name ?? '') + (it.dataset.side ?? ''))(document.activeElement)"
            )
        )
        if reached[-1] == "BODY":
            break
    wanted = {"SELECTacross", "SELECTup", "SELECTmode", "CANVASreference", "CANVAScurrent", "BUTTON", "SUMMARY"}
    assert wanted <= set(reached)


def test_all_rows_can_be_downloaded(show: Opener, found: ShiftResult) -> None:
    opened = show(found)
    button = opened.page.locator("button[data-rows]").first
    with opened.page.expect_download() as download:
        button.press("Enter")
    lines = Path(download.value.path()).read_text().splitlines()
    mode = found.modes[0]
    assert lines == ["mode,sample,row", *(f"1,{mode.side},{row}" for row in mode.rows)]


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
@pytest.mark.parametrize("kind", ["found", "clear"])
def test_page_fits_the_screen(show: Opener, kind: str, width: int, request: pytest.FixtureRequest) -> None:
    opened = show(request.getfixturevalue(kind), width)
    for details in opened.page.locator("details").all():
        details.evaluate("it => it.open = true")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    wider = "it => [...it.querySelectorAll('p, h1, h2, canvas, .scroll, figure:not(.map), select')].filter("
    wider += "part => part.getBoundingClientRect().right > innerWidth + 0.5).map(part => part.outerHTML.slice(0, 80))"
    assert opened.page.locator("main").evaluate(wider) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["found", "clear"])
def test_page_is_accessible(show: Opener, kind: str, scheme: str, request: pytest.FixtureRequest) -> None:
    axe = pytest.importorskip("axe_playwright_python.base").AXE_SCRIPT
    opened = show(request.getfixturevalue(kind), color_scheme=scheme)
    paper = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    for details in opened.page.locator("details").all():
        details.evaluate("it => it.open = true")
    opened.page.evaluate(axe)
    done = opened.page.evaluate(
        "axe.run().then(done => ({ passes: done.passes.length, "
        "violations: done.violations.map(it => it.id + ': ' + it.nodes[0].html) }))"
    )
    assert done["violations"] == []
    assert done["passes"] > 15


def test_print_and_pages_without_script_stand_still(show: Opener, found: ShiftResult) -> None:
    opened = show(found, java_script_enabled=False)
    assert opened.page.locator(".still svg").first.is_visible()
    assert not opened.page.locator("canvas").first.is_visible()
    printed = show(found)
    assert not printed.page.locator(".still svg").first.is_visible()
    printed.page.emulate_media(media="print")
    assert printed.page.locator(".still svg").first.is_visible()
    assert not printed.page.locator("canvas").first.is_visible()
