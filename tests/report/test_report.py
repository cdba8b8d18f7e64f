"""The summary and what is made of it: text, JSON and the page."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from dataclasses import fields, replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.console import Console

import shiftscope as ss
from shiftscope.errors import InputError
from shiftscope.modes.mode import Mode
from shiftscope.params import ScanParams
from shiftscope.report import sentences as text
from shiftscope.report.axes import boxes, drawn, ticks
from shiftscope.report.column_words import place_in_words
from shiftscope.report.figure_data import MARKS_SHOWN, POINTS_SHOWN, TOP_ROWS
from shiftscope.report.html import COLUMNS_LISTED, MODES_DRAWN, fragment, page
from shiftscope.report.markdown import write_markdown
from shiftscope.report.saved_result import read_summary
from shiftscope.report.summary import Summary, summarise, write_json
from shiftscope.report.terminal import show
from shiftscope.results import ShiftResult
from shiftscope.subspaces.scan_result import FeatureSet, ScanResult
from shiftscope.tables.column_choice import LeftOut
from tests.quick import QUICK

PARAMS = ss.CompareParams(
    n_permutations=99,
    scan=None,
    equalise=ss.EqualiseParams(k_max=60, n_permutations=99),
    localise=ss.LocaliseParams(epochs=150, background=300, k=30),
)
HOSTILE = "<script>alert(1)</script>\"'&{{7*7}}"
LIMIT = 3_000_000  # bytes of any page


@pytest.fixture(scope="module")
def found() -> ShiftResult:
    rng = np.random.default_rng(1)
    reference, current = rng.standard_normal((2, 600, 3))
    current[:60, :2] = (1.2, -0.8) + 0.08 * rng.standard_normal((60, 2))
    result = ss.compare(reference, current, params=PARAMS)
    assert result.detected
    assert result.modes
    return result


@pytest.fixture(scope="module")
def clear() -> ShiftResult:
    reference, current = np.random.default_rng(2).standard_normal((2, 300, 3))
    result = ss.compare(reference, current, params=PARAMS)
    assert not result.detected
    return result


def renamed(result: ShiftResult, names: tuple[str, ...], left_out: tuple[LeftOut, ...] = ()) -> ShiftResult:
    """The same result with other column names."""
    new = dict(zip(result.names, names, strict=True))
    modes = tuple(
        replace(
            mode,
            features=tuple(new[name] for name in mode.features),
            directions=tuple(replace(d, feature=new[d.feature]) for d in mode.directions),
        )
        for mode in result.modes
    )
    return replace(result, modes=modes, encoded=replace(result.encoded, names=names, left_out=left_out))


def in_all_features(result: ShiftResult) -> Mode:
    """The first mode, as if every column belonged to it."""
    mode = result.modes[0]
    directions = tuple(replace(mode.directions[0], feature=name) for name in result.names)
    return replace(mode, features=result.names, directions=directions)


class Tags(HTMLParser):
    """Every tag with its attributes, and the visible text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def numbers(said: str) -> list[float]:
    """All numbers of a text, in their order; those within names and dates are none."""
    found = re.findall(r"(?<![\w.-])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?![\w-])", said)
    return [float(number.replace(",", "")) for number in found]


def scripts(seen: Tags) -> list[dict[str, str | None]]:
    return [attributes for tag, attributes in seen.tags if tag == "script"]


# JSON


def test_json_has_the_fields_of_the_result_under_the_same_names(found: ShiftResult) -> None:
    saved = json.loads(found.to_json())
    assert saved["schema"] == 1
    assert saved["version"] == ss.__version__
    for name in ("detected", "p_value", "alpha", "n_reference", "n_current", "random_state"):
        assert saved[name] == getattr(found, name)
    assert saved["names"] == list(found.names)
    assert saved["kept_reference"] == found.kept_reference.tolist()
    assert saved["kept_current"] == found.kept_current.tolist()
    assert saved["scores"]["current"] == pytest.approx(found.scores.current.tolist(), abs=5.1e-4)
    assert saved["scores"]["reference"] == pytest.approx(found.scores.reference.tolist(), abs=5.1e-4)
    assert saved["timings"] == [list(lap) for lap in found.timings]
    assert saved["params"]["equalise"]["k_max"] == 60
    mode, truth = saved["modes"][0], found.modes[0]
    assert mode["side"] == truth.side
    assert mode["features"] == list(truth.features)
    assert mode["rows"] == truth.rows.tolist()
    assert mode["excess_interval"] == list(truth.excess_interval)
    assert mode["directions"][0]["median"] == truth.directions[0].median
    for name in ("excess", "p_value", "purity", "settled"):
        assert mode[name] == getattr(truth, name)


def test_json_lists_every_field_of_mode(found: ShiftResult) -> None:
    saved = json.loads(found.to_json())["modes"][0]
    assert {field.name for field in fields(Mode)} <= saved.keys()


def test_json_holds_only_finite_numbers(found: ShiftResult) -> None:
    direction = replace(found.modes[0].directions[0], spread_ratio=float("inf"))
    mode = replace(found.modes[0], directions=(direction,), p_value=np.float64(np.nan))
    written = write_json(summarise(replace(found, modes=(mode,))))
    saved = json.loads(written, parse_constant=pytest.fail)
    assert saved["modes"][0]["directions"][0]["spread_ratio"] is None
    assert saved["modes"][0]["p_value"] is None


def test_json_names_columns_that_were_left_out(found: ShiftResult) -> None:
    result = renamed(found, found.names, (LeftOut("id", "constant: 1 in every row"),))
    (left,) = json.loads(result.to_json())["left_out"]
    assert left == {"name": "id", "reason": "constant: 1 in every row", "apart": False, "chance": 1.0}


def test_json_survives_names_that_no_encoding_can_hold(found: ShiftResult, tmp_path: Path) -> None:
    result = renamed(found, ("\ud800", "ünï 🦅", "x\x00y"))
    result.to_json(tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text("ascii"))["names"] == ["\ud800", "ünï 🦅", "x\x00y"]


def test_summary_of_the_same_comparison_is_the_same_but_for_the_clock(clear: ShiftResult) -> None:
    reference, current = np.random.default_rng(2).standard_normal((2, 300, 3))
    one, other = (
        json.loads(write_json(summarise(result))) for result in (clear, ss.compare(reference, current, params=PARAMS))
    )
    assert one.pop("timings") != other.pop("timings")
    assert one == other


# text


def test_text_of_a_shift_names_side_share_features_and_direction(found: ShiftResult) -> None:
    mode = found.modes[0]
    said = str(found)
    head, told = (" ".join(part.split()) for part in said.split("Mode 1: "))
    assert said.startswith("The samples differ")
    assert numbers(head) == pytest.approx([found.p_value, 1, 100], rel=0.05)  # once in 100 at most: alpha
    assert numbers(told)[:4] == pytest.approx(
        [100 * mode.excess, *(100 * end for end in mode.excess_interval), 95], 0.05
    )
    assert f"the {mode.side} sample" in told
    places = [told.index(f"{direction.feature} {direction.word}: ") for direction in mode.directions]
    assert places == sorted(places)
    assert f"{mode.directions[0].median:.4g} against {mode.directions[0].other_median:.4g}" in told
    assert max(map(len, said.splitlines())) <= text.WIDTH


def test_text_of_the_other_side(found: ShiftResult) -> None:
    other = "reference" if found.modes[0].side == "current" else "current"
    assert f"Mode 1: the {other} sample" in str(found.swapped())
    assert sorted(numbers(str(found.swapped()))) == sorted(numbers(str(found)))


def test_text_of_many_modes_numbers_them(found: ShiftResult) -> None:
    said = str(replace(found, modes=found.modes[:1] * 3))
    assert [f"Mode {number}:" in said for number in (1, 2, 3, 4)] == [True, True, True, False]


def test_text_of_a_shift_without_modes(found: ShiftResult) -> None:
    said = str(replace(found, modes=()))
    assert said.startswith("The samples differ")
    assert numbers(said)[:4] == pytest.approx([found.p_value, 1, 100, found.params.modes.least_rows], rel=0.05)
    assert "Mode" not in said
    assert not set(found.names) & set(re.findall(r"\w+", said))


def test_text_when_nothing_was_found(clear: ShiftResult) -> None:
    said = " ".join(str(clear).split())
    verdict, caution = said.split(". ", 1)
    assert verdict.startswith("No difference")
    assert numbers(verdict) == pytest.approx([300, 300, clear.p_value, clear.alpha], rel=0.05)
    assert "not prove" in caution
    assert numbers(caution) == [3]  # columns
    assert "Mode" not in said


def test_unsettled_mode_is_called_a_lead(found: ShiftResult) -> None:
    whole = summarise(found)
    settled, unsettled = (text.rows_sentence(whole, replace(whole.modes[0], settled=state)) for state in (True, False))
    assert unsettled.startswith(settled.removesuffix("."))
    assert "not settle" in unsettled.removeprefix(settled.removesuffix("."))
    assert numbers(settled) == pytest.approx([len(found.modes[0].rows), 100 * found.modes[0].purity], rel=0.05)


@pytest.mark.parametrize(
    ("alpha", "words"),
    [(0.01, "1 time in 100"), (0.05, "1 time in 20"), (0.001, "1 time in 1,000"), (0.03, "3 % of the time")],
)
def test_level_in_words(alpha: float, words: str) -> None:
    assert text.frequency(alpha) == f"at most {words}"


@pytest.mark.parametrize(
    ("share", "words"), [(0.046, "4.6 %"), (0.1234, "12 %"), (0.00123, "0.12 %"), (0.0, "0 %"), (-0.002, "-0.2 %")]
)
def test_share_in_words(share: float, words: str) -> None:
    assert text.percent(share) == words


def test_lists_are_cut_and_counted() -> None:
    assert text.listed(("a",)) == "a"
    assert text.listed(("a", "b", "c")) == "a, b and c"
    many = tuple(f"x{number}" for number in range(20))
    assert text.listed(many).endswith("x7 and 12 more")


def test_shown_names_are_short_and_printable() -> None:
    assert text.shown_name("a\nb\x1b[31m\u202ec") == "a b·[31m·c"
    long = text.shown_name("a" * 5000 + "end")
    assert len(long) == text.NAME_LENGTH
    assert long.endswith("end")


# the page


def test_page_of_a_shift_shows_verdict_mode_evidence_and_appendix(found: ShiftResult) -> None:
    seen = Tags(page(summarise(found)))
    words = " ".join(seen.text.split())
    for part in ("The samples differ", "Mode 1", "Features, strongest first", "Evidence", "Appendix", "random_state=0"):
        assert part in words
    figures = [attributes for tag, attributes in seen.tags if tag == "figure"]
    features = len(found.modes[0].features)
    assert len(figures) >= 2 + features + 4
    assert all(attributes["aria-label"] for attributes in figures)


def test_page_when_nothing_was_found(clear: ShiftResult) -> None:
    seen = Tags(page(summarise(clear)))
    assert "No difference found" in seen.text
    assert "not prove" in seen.text
    assert "Mode 1" not in seen.text
    assert [tag for tag, _ in seen.tags].count("figure") == 2


def test_page_of_a_shift_without_modes(found: ShiftResult) -> None:
    seen = Tags(page(summarise(replace(found, modes=()))))
    assert "The samples differ" in seen.text
    assert f"fewer than {found.params.modes.least_rows} rows" in seen.text
    assert "Mode 1" not in seen.text
    assert [tag for tag, _ in seen.tags].count("figure") == 3  # both samples' scores, equalisation


def test_page_asks_the_network_for_nothing_and_allows_its_own_script_only(found: ShiftResult) -> None:
    html = page(summarise(found))
    seen = Tags(html)
    assert not {"link", "iframe", "object", "embed"} & {tag for tag, _ in seen.tags}
    assert scripts(seen) == [{"type": "application/json", "id": "explorer-data"}, {}]
    code = html[html.rindex("<script>") + len("<script>") : html.rindex("</script>")]
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in html
    for tag, attributes in seen.tags:
        for name, value in attributes.items():
            if name in ("src", "href", "xlink:href", "data"):
                assert (value or "").startswith(("#", "data:")), (tag, name)
            assert not name.startswith("on")
    assert "url(http" not in html
    assert "@import" not in html
    assert "default-src 'none'" in html


def test_ids_are_unique(found: ShiftResult) -> None:
    ids = [attributes["id"] for _, attributes in Tags(page(summarise(found))).tags if "id" in attributes]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("names", [(HOSTILE, "🦅 vol ü", "$x_{1$"), ("n" * 10_000, "\ud800", "a\x00</title><b>")])
def test_hostile_names_are_shown_and_do_nothing(found: ShiftResult, tmp_path: Path, names: tuple[str, ...]) -> None:
    wide = replace(found, modes=(in_all_features(found),))
    result = renamed(wide, names, tuple(LeftOut(name, f"equal to column {name!r} in every row") for name in names))
    result.to_html(tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text("utf-8")
    seen = Tags(html)
    assert "b" not in {tag for tag, _ in seen.tags}
    assert len(scripts(seen)) == 2  # its own
    assert ("{{7*7}}" in html) == (HOSTILE in names)
    assert "<script" not in fragment(summarise(result))
    assert len(html) < LIMIT / 3
    for name in names:
        assert text.shown_name(name).encode("utf-8", "replace").decode() in seen.text


def test_page_stays_small_for_many_modes_columns_and_rows(found: ShiftResult) -> None:
    summary = summarise(replace(found, modes=found.modes[:1] * 60))
    summary = replace(
        summary,
        names=tuple(f"column {number} " + "x" * 5000 for number in range(2000)),
        left_out=tuple(LeftOut("y" * 5000, "constant: 0 in every row") for _ in range(2000)),
        modes=tuple(replace(mode, rows=np.arange(1_000_000)) for mode in summary.modes),
    )
    html = page(summary)
    assert len(html.encode()) < LIMIT
    assert f"… and {2000 - COLUMNS_LISTED:,} more".replace(",", "") in html
    assert html.count("<figure") == MODES_DRAWN * (2 + len(found.modes[0].features) + 1) + 3


def test_pictures_hold_a_sample_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    reference, current = rng.standard_normal((2, 3000, 2))
    current[:400] = 2.0 + 0.1 * rng.standard_normal((400, 2))
    result = ss.compare(reference, current, params=PARAMS)
    summary = summarise(result)
    for sample in (summary.gallery.reference, summary.gallery.current):
        assert sample.rows.shape == (POINTS_SHOWN,)
        assert sample.values.shape == (POINTS_SHOWN, 2)
    picture = summary.modes[0].picture
    assert picture.marked.rows.size <= MARKS_SHOWN
    np.testing.assert_allclose(picture.marked.values, current[picture.marked.rows], atol=2e-3)
    np.testing.assert_allclose(summary.gallery.reference.values, reference[summary.gallery.reference.rows], atol=2e-3)
    for histogram in picture.histograms:
        for shares in (histogram.reference, histogram.current, histogram.mode, histogram.kept_current):
            assert shares.sum() == pytest.approx(1.0, abs=1e-4)


def test_one_feature_is_drawn_without_a_scatter(found: ShiftResult) -> None:
    one = replace(found.modes[0], features=found.modes[0].features[:1], directions=found.modes[0].directions[:1])
    html = page(summarise(replace(found, modes=(one,))))
    assert "Scatter plot" not in html
    assert "Distribution of" in html


@pytest.mark.parametrize(
    ("centre", "scale"), [((0.0, 1e15, 0.0), (1e300, 1e-3, 1e-300)), ((1e9, -273.15, 0.0), (1.0, 1e-9, 1e5))]
)
def test_any_unit_can_be_drawn(found: ShiftResult, centre: tuple[float, ...], scale: tuple[float, ...]) -> None:
    encoded = replace(found.encoded, centre=np.array(centre), scale=np.array(scale))
    summary = summarise(replace(found, encoded=encoded, modes=(in_all_features(found),)))
    assert json.loads(write_json(summary))["modes"]
    assert "<svg" in page(summary)
    distinct = [len(np.unique(column)) for column in summary.gallery.current.values.T]
    assert min(distinct) > 100  # rounding keeps what can be seen


def test_fragment_is_short_and_self_contained(found: ShiftResult) -> None:
    html = found._repr_html_()
    assert "The samples differ" in html
    assert "<svg" not in html
    assert len(html) < 5000


def test_settings_that_differ_are_part_of_the_call(found: ShiftResult) -> None:
    summary = summarise(replace(found, modes=()))
    assert summary.scan is None
    seen = Tags(page(summary)).text
    assert "params=ss.CompareParams(n_permutations=99, scan=None, equalise=ss.EqualiseParams(k_max=60" in seen
    assert "shiftscope compare" not in seen
    usual = Tags(page(replace(summary, params=ss.CompareParams(alpha=found.alpha)))).text
    assert "params=" not in usual
    assert "shiftscope compare REFERENCE CURRENT --alpha 0.01 --seed 0" in usual


# the scan


def with_scan(result: ShiftResult) -> ShiftResult:
    """The result as if a scan had found the first two columns."""
    found = FeatureSet(
        features=(0, 1),
        names=result.names[:2],
        statistic="localised",
        side="current",
        value=9.0,
        evidence=30.0,
        unit=1.0,
        p_value=0.001,
        box=((0.0, 1.0), (0.0, 1.0)),
        rows_reference=np.array([3]),
        rows_current=np.arange(40),
    )
    null = np.zeros(99)
    scan = ScanResult((found,), 0.001, null, null, 99, np.zeros((3, 3)), np.zeros(3), null)
    mode = replace(result.modes[0], origin="scan", localisation=None)
    params = replace(result.params, scan=ScanParams(), n_permutations=None)
    return replace(result, scan=scan, modes=(mode,), params=params)


def test_scanned_sets_are_told_in_the_units_of_the_user(found: ShiftResult) -> None:
    summary = summarise(with_scan(found))
    assert summary.scan is not None
    box = summary.scan.sets[0].box
    rows = [3, *range(found.n_reference, found.n_reference + 40)]
    assert box[1] == (found.encoded.raw(1)[rows].min(), found.encoded.raw(1)[rows].max())
    assert json.loads(write_json(summary))["scan"]["sets"][0]["count_current"] == 40


def test_page_of_a_mode_that_the_scan_found(found: ShiftResult) -> None:
    scanned, plain = page(summarise(with_scan(found))), page(summarise(found))
    figures = [
        [attributes["aria-label"] for tag, attributes in Tags(html).tags if tag == "figure"]
        for html in (scanned, plain)
    ]
    gone, come = (set(figures[one]) - set(figures[1 - one]) for one in (1, 0))
    assert [label.split()[:4] for label in gone] == [["Enrichment", "of", "mode", "1"]]  # no localisation, no curve
    assert [label.endswith("x0 and x1") for label in come] == [True]  # the map of pairs names the strongest
    drawing = scanned[scanned.index(come.pop()) :]
    assert drawing[: drawing.index("</figure>")].count("<rect") >= 6  # three features: alone and in pairs
    row = scanned[scanned.index('<th scope="row">x0 and x1</th>') :]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row[: row.index("</tr>")], flags=re.DOTALL)
    assert [cells[0], cells[1], *cells[3:]] == ["localised", "current", "1", "40", "0.001"]


def test_rows_near_the_middle_are_shown_with_their_values(found: ShiftResult) -> None:
    mode = summarise(found).modes[0]
    assert len(mode.top) == TOP_ROWS
    position = found.names.index(mode.features[0])
    sample = found.encoded.current if mode.side == "current" else found.encoded.reference
    values = sample[mode.rows, position]
    near = [sample[row.row, position] for row in mode.top]
    assert np.abs(near - np.median(values)).max() < np.quantile(np.abs(values - np.median(values)), 0.9)
    for row in mode.top:
        assert row.row in mode.rows
        assert row.values[0] == f"{found.encoded.raw(position)[row.row + found.n_reference]:.4g}"


# Markdown


def test_markdown_says_what_the_text_says(found: ShiftResult, clear: ShiftResult, tmp_path: Path) -> None:
    written = found.to_markdown(tmp_path / "result.md")
    assert (tmp_path / "result.md").read_text() == written
    assert written.startswith("# The samples differ")
    assert "\n## Mode 1: " in written
    assert f"- {found.modes[0].directions[0].feature} {found.modes[0].directions[0].word}: median" in written
    assert set(numbers(str(found))) <= set(numbers(written))
    assert clear.to_markdown().startswith("# No difference found")
    assert set(numbers(str(clear))) <= set(numbers(clear.to_markdown()))


def test_notes_and_columns_left_out_stand_in_every_form(found: ShiftResult) -> None:
    left_out = (LeftOut("id", "constant: 1 in every row"),)
    summary = replace(summarise(found), left_out=left_out, notes=("Some rows were drawn at random.",))
    console = Console(force_terminal=True, width=100, record=True, file=io.StringIO())
    show(summary, console)
    for form in (text.as_text(summary), write_markdown(summary), console.export_text(), Tags(page(summary)).text):
        words = " ".join(form.split())
        assert "Some rows were drawn at random." in words
        assert "constant: 1 in every row" in words


def test_names_are_no_markup_in_markdown(found: ShiftResult) -> None:
    result = renamed(replace(found, modes=(in_all_features(found),)), ("[a](b)", "<script>", "*x*|`y`"))
    written = result.to_markdown()
    assert "\\[a\\](b)" in written
    assert "<script" not in written.replace("\\<", "")
    assert "\\*x\\*\\|\\`y\\`" in written


# files


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("missing/a.html", "its folder does not exist"),
        ("", "it is a folder"),
        ("f" * 300, "File name too long"),
    ],
)
def test_path_that_cannot_be_written_is_one_line(found: ShiftResult, tmp_path: Path, where: str, why: str) -> None:
    with pytest.raises(InputError, match=why) as caught:
        found.to_json(tmp_path / where)
    assert "\n" not in str(caught.value)
    assert re.search("cannot be written", str(caught.value))


def test_summary_is_frozen(found: ShiftResult) -> None:
    summary: Summary = summarise(found)
    with pytest.raises(AttributeError):
        summary.p_value = 1.0  # type: ignore[misc]


# categories, dates and missing values


DAY = 86400.0


@pytest.fixture(scope="module")
def mixed() -> ShiftResult:
    """Ages go missing for device B; 14 cities, of which the last is told of although it is rare; a date."""
    rng = np.random.default_rng(0)

    def sample(shifted: bool) -> pl.DataFrame:
        device = rng.choice(["A", "B", HOSTILE], 400, p=[0.5, 0.3, 0.2])
        lost = (rng.random(400) < 0.05) | ((device == "B") & (rng.random(400) < 0.6 * shifted))
        city = rng.choice([f"city {number}" for number in range(14)], 400)
        return pl.DataFrame(
            {
                "device": device,
                "age": pl.Series(np.where(lost, np.nan, rng.normal(50, 10, 400))).fill_nan(None),
                "city": [None if at == "city 3" else at for at in city],
                "seen": np.datetime64("2024-01-01", "us") + rng.integers(0, 200, 400) * np.timedelta64(1, "D"),
            }
        )

    result = ss.compare(sample(False), sample(True), params=QUICK, columns=ss.Columns(kinds={"city": "category"}))
    assert set(result.modes[0].features) == {"age", "device"}
    return result


def test_mixed_columns_are_told_alike_everywhere(mixed: ShiftResult) -> None:
    summary = summarise(mixed)
    told = {direction.feature: str(direction) for direction in mixed.modes[0].directions}
    assert re.fullmatch(r"age missing: [\d.]+ % -> \d\d %", told["age"])
    assert re.fullmatch(r"device = B: \d+ % of these rows against \d\d %", told["device"])
    saved = json.loads(write_json(summary))
    for sentence in told.values():
        assert sentence in str(mixed)
        assert sentence.replace(">", "\\>") in mixed.to_markdown()
        assert sentence in saved["modes"][0]["changes"]
    seen = " ".join(Tags(page(summary)).text.split()).replace("\N{NO-BREAK SPACE}", " ").replace("→", "->")
    assert told["age"].removeprefix("age ") in seen
    (arrow,) = re.findall(r"An arrow [^.]*", seen)
    assert arrow.index("reference sample") < arrow.index("current sample")
    assert "2 categories, 1 number, 1 date" in seen
    assert "columns=ss.Columns(kinds={'city': 'category'})" in seen
    assert not {"nan", "inf"} & set(re.findall(r"\b[a-z]+\b", seen.lower()))


def test_cells_of_the_scan_are_told_by_levels_and_dates(mixed: ShiftResult) -> None:
    summary = summarise(mixed)
    assert summary.scan is not None
    first = next(found for found in summary.scan.sets if set(found.names) == {"age", "device"})
    assert dict(zip(first.names, first.where, strict=True)) == {"age": "missing", "device": "= B"}
    seen, city = mixed.names.index("seen"), mixed.names.index("city")
    days = np.concatenate([rows_with(mixed, seen, "2024-01-05"), rows_with(mixed, seen, "2024-01-09")])
    assert place_in_words(mixed.encoded, seen, days) == "2024-01-05 to 2024-01-09"
    levels = mixed.encoded.features[city].levels
    some = [rows_with(mixed, city, level) for level in (*levels[:5], "missing")]
    assert place_in_words(mixed.encoded, city, some[1]) == f"= {levels[1]}"
    assert place_in_words(mixed.encoded, city, np.concatenate([some[1], some[5]])) == f"missing or = {levels[1]}"
    first_three = ", ".join(f"= {level}" for level in levels[:3])
    assert place_in_words(mixed.encoded, city, np.concatenate(some[:5])) == f"{first_three} or 2 more"


def rows_with(result: ShiftResult, position: int, words: str) -> np.ndarray:
    """Pool positions of the rows with a value."""
    texts = result.encoded.texts(position, np.arange(len(result.encoded.points)))
    return np.flatnonzero([text == words for text in texts])


def test_levels_have_places_and_missing_values_one_before_them(mixed: ShiftResult) -> None:
    position = mixed.names.index("city")
    axis, rows = drawn(mixed, position).axis, np.arange(len(mixed.encoded.points))
    assert axis.labels[0] == "missing"
    assert axis.labels[-1] == "3 others"
    places = drawn(mixed, position).spread(rows, 0)
    texts = mixed.encoded.texts(position, rows)
    own = [axis.labels.index(text) if text in axis.labels else len(axis.labels) - 1 for text in texts]
    np.testing.assert_array_equal(np.round(places), own)
    assert len(np.unique(places)) == len(places)  # spread: no row hides another
    assert ticks(axis).labels == axis.labels


def test_missing_numbers_have_a_place_below_all_others(mixed: ShiftResult) -> None:
    position = mixed.names.index("age")
    column = drawn(mixed, position)
    missing = np.isnan(mixed.encoded.values(position))
    assert column.axis.gap is not None
    places = column.spread(np.arange(len(missing)), 1)
    np.testing.assert_array_equal((places >= column.axis.low) & (places < column.axis.gap), missing)
    assert ticks(column.axis).labels[0] == "missing"
    histogram = next(h for h in summarise(mixed).modes[0].picture.histograms if h.axis.name == "age")
    assert histogram.current[0] == pytest.approx(missing[mixed.n_reference :].mean(), abs=1e-5)
    assert histogram.mode[0] == 1.0
    assert histogram.reference.sum() == pytest.approx(1.0, abs=1e-4)


def test_numbers_with_few_values_are_drawn_like_a_category() -> None:
    yes = np.tile([0.0, 1.0, 1.0, np.nan], 50)[:, None]
    many = np.arange(200.0)[:, None]
    result = ss.compare(np.hstack([yes, many]), np.hstack([yes, many + 0.5]), params=replace(QUICK, scan=None))
    column = drawn(result, 0)
    assert column.axis.labels == ("missing", "0", "1")
    np.testing.assert_array_equal(column.places[:4], [1, 2, 2, 0])
    assert drawn(result, 1).axis.labels == ()


def test_dates_have_round_ticks(mixed: ShiftResult) -> None:
    axis = drawn(mixed, mixed.names.index("seen")).axis
    found = ticks(axis)
    assert found.labels[:2] == ("2024-01", "2024-03")
    assert all(axis.low <= place <= axis.high and place % DAY == 0 for place in found.places)
    start = found.places[0]
    hours = ticks(replace(axis, low=start, high=start + 0.9 * DAY))
    assert (hours.common, hours.labels[0]) == ("2024-01-01", "00:00")
    nights = ticks(replace(axis, low=start, high=start + 1.9 * DAY))
    assert (nights.common, nights.labels[0]) == ("2024", "01-01 00:00")
    beyond = ticks(replace(axis, low=-1e13, high=1e13))
    assert any("since 1970" in label for label in beyond.labels)
    assert ticks(replace(axis, kind="duration", low=0.0, high=10 * DAY)).labels[1:3] == ("3 days", "6 days")
    assert ticks(replace(axis, kind="time", low=0.0, high=DAY - 1)).labels == (
        "0:00:00",
        "6:00:00",
        "12:00:00",
        "18:00:00",
    )


def test_a_box_for_each_level_that_holds_enough_of_a_mode(mixed: ShiftResult) -> None:
    city, seen = (drawn(mixed, mixed.names.index(name)).axis for name in ("city", "seen"))
    marked = np.column_stack([[1.1] * 45 + [2.9] * 50 + [5.0] * 5, np.linspace(seen.low, seen.high, 100)])
    found = boxes(marked, city, seen)
    assert [(box.left, box.right) for box in found] == [(0.55, 1.45), (2.55, 3.45)]
    assert found[0].top < found[1].top <= seen.high
    assert found[0].bottom == seen.low


def test_saved_mixed_result_gives_the_same_page(mixed: ShiftResult, tmp_path: Path) -> None:
    summary = summarise(mixed)
    write_json(summary, tmp_path / "result.json")
    assert page(read_summary(tmp_path / "result.json")) == page(summary)


def test_hostile_levels_do_nothing(mixed: ShiftResult) -> None:
    position = mixed.names.index("device")
    levels = ("n" * 10_000, HOSTILE, "<b>\n🦅</b>")
    features = list(mixed.encoded.features)
    features[position] = replace(features[position], levels=levels)
    told = replace(mixed.modes[0].directions[0], feature="device", level=levels[0], gap=False)
    mode = replace(mixed.modes[0], directions=(told, *mixed.modes[0].directions[1:]))
    summary = summarise(replace(mixed, modes=(mode,), encoded=replace(mixed.encoded, features=tuple(features))))
    html = page(summary)
    seen = Tags(html)
    assert "b" not in {tag for tag, _ in seen.tags}
    assert len(scripts(seen)) == 2
    assert len(html) < LIMIT / 3
    assert len(write_markdown(summary)) < 5000
