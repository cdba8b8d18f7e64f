"""What a right answer is: things that hold for the answer to any input."""

from __future__ import annotations

import csv
import io
import json
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import polars as pl

import shiftscope as ss
from shiftscope.report.schema import PATH as SCHEMA

SCRIPTS = 2  # of our own on a page
FORBIDDEN = {"img", "iframe", "object", "embed", "link", "base", "form"}
FORMULAS = ("=", "+", "-", "@", "\t", "\r")


class WrongError(Exception):
    """An answer that cannot be right: `args[0]` says what does not hold."""


def must(holds: object, what: str) -> None:
    """Something that holds for every right answer."""
    if not holds:
        raise WrongError(what)


# --- answers in Python -----------------------------------------------------------------------------------------


def check_answer(answer: Any) -> None:
    """All that can be said of an answer without knowing the data."""
    kinds = {
        ss.ShiftResult: _check_result,
        ss.Mode: lambda mode: must(mode.rows.size == np.unique(mode.rows).size, "rows of a mode are unique"),
        ss.MonitorResult: _check_watched,
        ss.RowsExplanation: _check_explained,
        ss.Certificate: _check_certificate,
        ss.Subset: _check_subset,
    }
    for kind, check in kinds.items():
        if isinstance(answer, kind):
            check(answer)
    if hasattr(answer, "kept_reference") and hasattr(answer, "n_reference"):
        _check_subset(answer)


def _check_probability(value: object, what: str) -> None:
    must(isinstance(value, float) and 0.0 < value <= 1.0, f"{what} is a number above 0 and at most 1")


def _check_rows(rows: np.ndarray, n: int, what: str) -> None:
    must(rows.dtype.kind == "i", f"{what} are positions")
    must(rows.size == 0 or (rows.min() >= 0 and rows.max() < n), f"{what} exist")
    must(np.unique(rows).size == rows.size, f"{what} are told once")


def _check_result(result: ss.ShiftResult) -> None:
    _check_probability(result.p_value, "p_value")
    must(result.detected == (result.p_value <= result.alpha), "detected is p_value <= alpha")
    must(result.detected or not result.modes, "modes only where something was detected")
    sizes = {"reference": result.n_reference, "current": result.n_current}
    at_hand = {"reference": result.encoded.n_reference, "current": result.encoded.n_current}
    must(result.gathered is not None or at_hand == sizes, "all rows are at hand")
    for side, n in at_hand.items():
        scores = getattr(result.scores, side)
        must(scores.shape == (n,), "one score a row")
        must(np.isfinite(scores).all() and (scores >= 0).all(), "scores are numbers of at least 0")
    if not result.detected:
        must(result.kept_reference.size == at_hand["reference"], "all rows are kept where nothing was detected")
    for mode in result.modes:
        _check_rows(mode.rows, at_hand[mode.side], "rows of a mode")
        must(mode.features and set(mode.features) <= set(result.names), "features of a mode are columns")
        must(len(mode.directions) == len(mode.features), "one direction a feature")
        must(-1e-9 <= mode.purity <= 1 + 1e-9, "purity is a share")
        must(mode.excess_interval[0] <= mode.excess_interval[1], "an interval has a lower and an upper end")
        _check_probability(mode.p_value, "p_value of a mode")
    check_result_json(result.to_json())
    must(str(result).isprintable() or "\n" in str(result), "the text is printable")


def _check_subset(subset: Any) -> None:
    _check_rows(subset.kept_reference, subset.n_reference, "kept rows of the reference")
    _check_rows(subset.kept_current, subset.n_current, "kept rows of current")
    must((np.diff(subset.kept_reference) > 0).all(), "kept rows are in order")


def _check_watched(watched: ss.MonitorResult) -> None:
    for row in watched.rows:
        _check_probability(row.p_value, "p_value of a batch")
        must(row.alarm == (row.p_value <= row.level), "alarm is p_value <= level")
        must(row.drift is None or -1.0 <= row.drift <= 1.0, "drift is a difference of shares")
    must([row.number for row in watched.rows] == list(range(1, len(watched.rows) + 1)), "batches are numbered")
    json.loads(watched.to_json(), parse_constant=_no_constant)
    must(watched.to_table().height == len(watched.rows), "one line a batch")


def _check_explained(found: ss.RowsExplanation) -> None:
    _check_probability(found.p_value, "p_value")
    must(found.explained == (found.p_value <= found.alpha), "explained is p_value <= alpha")
    _check_rows(found.suspected, found.n_current, "suspected rows")
    must(set(found.rows.tolist()) <= set(found.suspected.tolist()), "rows that stand out were suspected")
    must(bool(found.features) == found.explained, "features where rows are explained")
    json.loads(found.to_json(), parse_constant=_no_constant)


def _check_certificate(certificate: ss.Certificate) -> None:
    for subset in certificate.subsets:
        for check in subset.checks:
            _check_probability(check.p_value, "p_value of a check")
    json.loads(certificate.to_json(), parse_constant=_no_constant)


# --- outputs ---------------------------------------------------------------------------------------------------


def _no_constant(name: str) -> None:
    raise WrongError(f"JSON holds {name}")


@cache
def _validator() -> Any:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    return jsonschema.Draft202012Validator(schema)


def check_result_json(text: str) -> dict[str, Any]:
    """A saved result: valid JSON that fits its schema."""
    found = json.loads(text, parse_constant=_no_constant)
    fault = next(iter(_validator().iter_errors(found)), None)
    must(fault is None, f"JSON fits its schema ({'' if fault is None else fault.json_path})")
    return dict(found)


class Elements(HTMLParser):
    """The tags of a page, and every attribute that could run or fetch something."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.risky: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.risky += [
            name
            for name, value in attrs
            if name.startswith("on")
            or (name in ("src", "href", "xlink:href") and not (value or "").startswith(("#", "data:")))
        ]


def check_page(html: str, scripts: int = SCRIPTS) -> None:
    """A page that does nothing but what we wrote."""
    seen = Elements(html)
    must(seen.tags.count("script") == scripts, "a page has our scripts and no other")
    must(not seen.risky, f"a page fetches and runs nothing ({seen.risky[:1]})")
    must(not FORBIDDEN & set(seen.tags), "a page holds no foreign element")
    must("{{" not in html or "{{7*7}}" in html, "nothing of the template is left")


def check_output(path: Path) -> None:
    """A file that was written: whole, readable, harmless."""
    content, suffix = path.read_bytes(), path.suffix.lower()
    must(content, "an output is not empty")
    if suffix == ".html":
        check_page(content.decode("utf-8"))
    elif suffix == ".md":
        must("<script" not in content.decode("utf-8").replace("\\<", ""), "Markdown holds no script")
    elif suffix == ".json":
        json.loads(content, parse_constant=_no_constant)
    elif suffix == ".parquet":
        pl.read_parquet(path)
    elif suffix == ".svg":
        must(b"<script" not in content, "a picture holds no script")
    elif suffix == ".png":
        must(content.startswith(b"\x89PNG"), "a picture is one")
    elif suffix == ".csv" and path.name != "rows.csv" and not path.parent.name.startswith(("kept", "new")):
        check_no_formula(content.decode("utf-8"))


def check_no_formula(text: str) -> None:
    """Nothing in a table of ours that a spreadsheet would compute."""
    for row in csv.reader(io.StringIO(text, newline="")):
        for cell in row:
            must(not cell.startswith(FORMULAS) or _is_number(cell), "a table holds no formula")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


# --- refusals --------------------------------------------------------------------------------------------------


def check_refusal(message: str) -> None:
    """One line for people."""
    must(message, "a refusal says something")
    must(message.isprintable(), "a refusal is one printable line")
    must(len(message) <= 1500, "a refusal is short")
    must("Traceback" not in message, "a refusal speaks to people")
