"""A saved result gives the same reports as the result itself; the schema describes it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import shiftscope as ss
from shiftscope.errors import InputError
from shiftscope.report.explorer import LISTS_BUDGET, downloadable
from shiftscope.report.html import page
from shiftscope.report.markdown import write_markdown
from shiftscope.report.saved_result import read_summary, told_of
from shiftscope.report.schema import PATH, json_schema
from shiftscope.report.sentences import as_text
from shiftscope.report.summary import Summary, write_json
from tests.mutations import mutations

PARAMS = ss.CompareParams(
    n_permutations=199,
    scan=ss.ScanParams(n_permutations=255, n_seeds=0, beam=0),
    equalise=ss.EqualiseParams(k_max=60, n_permutations=99),
    localise=ss.LocaliseParams(epochs=100, background=300, k=30),
)


@pytest.fixture(scope="module", params=["found", "clear"])
def summary(request: pytest.FixtureRequest) -> Summary:
    rng = np.random.default_rng(3)
    reference, current = rng.standard_normal((2, 500, 3))
    if request.param == "found":
        current[:70, :2] = (1.2, -0.8) + 0.08 * rng.standard_normal((70, 2))
    result = ss.compare(reference, current, params=PARAMS)
    assert result.detected == (request.param == "found")
    return result.summary


@pytest.fixture
def saved(summary: Summary, tmp_path: Path) -> Path:
    write_json(summary, tmp_path / "result.json")
    return tmp_path / "result.json"


def test_saved_result_gives_the_same_reports(summary: Summary, saved: Path) -> None:
    again = read_summary(saved)
    assert write_json(again) == write_json(summary)
    assert as_text(again) == as_text(summary)
    assert write_markdown(again) == write_markdown(summary)
    assert page(again) == page(summary)


def test_infinite_numbers_come_back(summary: Summary, tmp_path: Path) -> None:
    assert summary.scan is not None
    endless = replace(summary, scan=replace(summary.scan, critical=float("inf")))
    write_json(endless, tmp_path / "result.json")
    again = read_summary(tmp_path / "result.json")
    assert again.scan is not None
    assert again.scan.critical == float("inf")
    assert page(again) == page(endless)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": 2}, "has schema 2, this version reads 1"),
        ({"schema": None}, "is not a result of shiftscope"),
        ({"p_value": "small"}, "p_value must be a number"),
        ({"detected": 1}, "detected must be true or false"),
        ({"names": "x0"}, "names must be a list"),
        ({"modes": [{}]}, "modes must be an object with side"),
        ({"kept_current": ["a"]}, "kept_current must be a list of numbers"),
        ({"gallery": {}}, "with columns, reference, current"),
        ({"params": {"alpha": "small"}}, "alpha must be a number"),
    ],
)
def test_other_files_are_refused_in_one_line(saved: Path, change: dict[str, object], said: str) -> None:
    saved.write_text(json.dumps({**json.loads(saved.read_text()), **change}))
    with pytest.raises(InputError, match=said) as caught:
        read_summary(saved)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(("compare again", "give a file of --json"))


def test_a_file_that_is_older_than_a_setting_is_read_with_its_default(saved: Path) -> None:
    content = json.loads(saved.read_text())
    del content["params"]["modes"]
    if content["params"]["scan"] is not None:
        del content["params"]["scan"]["rows_per_cell"]
    before = read_summary(saved)
    saved.write_text(json.dumps(content))
    assert write_json(read_summary(saved)) == write_json(before)


@pytest.mark.parametrize("path", [("scan", "smallest"), ("gallery",), ("calibration", "p_current")])
def test_result_of_an_earlier_state_is_refused_in_one_short_line(saved: Path, path: tuple[str, ...]) -> None:
    content = json.loads(saved.read_text())
    *outer, last = path
    place = content
    for name in outer:
        place = place[name]
    del place[last]
    saved.write_text(json.dumps(content))
    with pytest.raises(InputError, match=f"must be an object with {last}.*; compare again$") as caught:
        read_summary(saved)
    message = str(caught.value).replace(str(saved), "")
    assert "\n" not in message
    assert len(message) < 160


@pytest.mark.parametrize(
    ("content", "said"), [("{", "is not JSON"), ("[]", "is not a result"), (None, "cannot be read")]
)
def test_what_is_no_result_is_refused(tmp_path: Path, content: str | None, said: str) -> None:
    if content is not None:
        (tmp_path / "a.json").write_text(content)
    with pytest.raises(InputError, match=said):
        read_summary(tmp_path / "a.json")


def test_a_crafted_result_is_drawn_or_refused_in_one_line(summary: Summary, saved: Path) -> None:
    refused = []
    for number, changed in enumerate(mutations(json.loads(saved.read_text()), 60)):
        saved.write_text(json.dumps(changed))
        try:
            found = read_summary(saved)
            with told_of(saved):
                assert as_text(found)
                assert write_markdown(found)
                if number % 6 == 0:
                    assert page(found)
        except InputError as error:
            refused.append(str(error))
    assert 20 < len(refused) < 60
    assert not any("\n" in said for said in refused)


def test_numbers_that_json_does_not_know_are_refused(saved: Path) -> None:
    saved.write_text(re.sub(r'"p_value":[^,]+', '"p_value":NaN', saved.read_text(), count=1))
    with pytest.raises(InputError, match="NaN is no number of JSON"):
        read_summary(saved)


def test_schema_file_is_up_to_date() -> None:
    """`python -m shiftscope.report.schema` writes it again."""
    assert PATH.read_text("utf-8") == json_schema()


def test_result_fits_the_schema(saved: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(json.loads(PATH.read_text("utf-8")))
    result = json.loads(saved.read_text())
    assert [error.message for error in validator.iter_errors(result)] == []
    assert list(validator.iter_errors({**result, "detected": "yes"}))


# what the page's script reads


def test_long_lists_of_rows_are_left_out_of_the_page(summary: Summary) -> None:
    if not summary.modes:
        assert downloadable(summary) == ()
        return
    short = summary.modes[0]
    long = replace(short, rows=np.arange(LISTS_BUDGET + 1))
    many = replace(summary, modes=(long, short))
    assert downloadable(many) == (False, True)
    assert "Download all" in page(many)
