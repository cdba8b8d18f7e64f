"""How a text file is written: delimiter, quotes, comments, lines before the table, header. Decided by many lines."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from shiftscope.tables.field_kinds import field_kind
from shiftscope.tables.header import are_units, column_kinds, first_is_header
from shiftscope.tables.options import TableOptions

BLANKS = " "  # stands for any number of blanks and tabs
DELIMITERS = (",", ";", "\t", "|", BLANKS, "^", ":")
COMMENTS = ("#", "%", "//", "--", "!", ";")
LINES_JUDGED = 500  # of the start of the file
FIELDS_JUDGED = 600
FEW_COLON_FIELDS = 4  # fewer are times of day, or the text behind a name
STEADY_ROWS = 5  # of equal width: here the table begins
_EXCEL_ERRORS = ("#N/A", "#NULL", "#DIV", "#REF", "#VALUE", "#NAME", "#NUM")
_ARFF_NAME = re.compile(r"""^@attribute\s+('[^']*'|"[^"]*"|\S+)""", re.IGNORECASE)
_PIECES = re.compile(r"[,;\t| ]+")

Rows = list[tuple[int, list[str]]]  # the physical line at which a row ends (counting from 1), and its fields


@dataclass(frozen=True)
class Dialect:
    """How a text file is written.

    Attributes
    ----------
    delimiter
        One character; `BLANKS` for any number of blanks and tabs.
    quote
        What fields are put in; None if quotes are characters like any other.
    escaped
        A quote inside quotes is written as backslash and quote, not doubled.
    comment
        What lines that are no data begin with; None if there are none.
    skipped
        Physical lines before the first row of data.
    before
        How many of these stand before the header and are no comment.
    names
        One name per column as written; None if the file has no header.
    width
        Fields of a row.
    row_names
        The header is one name short: the first column names the rows.
    units
        The row behind the header has units instead of values, and is skipped.
    """

    delimiter: str
    quote: str | None
    escaped: bool
    comment: str | None
    skipped: int
    before: int
    names: tuple[str, ...] | None
    width: int
    row_names: bool
    units: bool = False
    arff: bool = False


def find_dialect(text: str, options: TableOptions) -> Dialect:
    """Read the start of a file as a careful person would.

    Raises
    ------
    ValueError
        If there is not a single line.
    """
    lines = text.split("\n")[:LINES_JUDGED]
    if not any(line.strip() for line in lines):
        raise ValueError("it is empty")
    arff = _arff(lines)
    if arff is not None:
        return arff
    comment = _comment(lines, options)
    best = max(_candidates(lines, options), key=lambda form: _score(lines, comment, *form))
    return _described(lines, comment, *best, options)


def split_rows(lines: Sequence[str], comment: str | None, delimiter: str, quote: str | None, escaped: bool) -> Rows:
    """The rows of some lines that are neither blank nor comments."""
    if delimiter == BLANKS:
        lines = [spaced(line, quote) for line in lines]
    kept = [line.rstrip("\r") if not (comment and line.lstrip().startswith(comment)) else "" for line in lines]
    reader = csv.reader(
        (f"{line}\n" for line in kept),
        delimiter="\t" if delimiter == BLANKS else delimiter,
        quoting=csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL,
        quotechar=quote or '"',
        doublequote=not escaped,
        escapechar="\\" if escaped else None,
        skipinitialspace=delimiter not in ("\t", BLANKS),
    )
    return list(_rows(reader))


def spaced(line: str, quote: str | None) -> str:
    """A line in which each run of blanks and tabs outside quotes is one tab."""
    if quote is None or quote not in line:
        return "\t".join(line.split())
    parts = line.strip().split(quote)
    parts[::2] = [re.sub(r"[ \t]+", "\t", part) for part in parts[::2]]
    return quote.join(parts)


def _rows(reader: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
    try:
        for row in reader:
            if any(field.strip() for field in row):
                yield reader.line_num, row  # type: ignore[attr-defined]
    except csv.Error:  # a field without an end: the rows so far must do
        return


def _comment(lines: Sequence[str], options: TableOptions) -> str | None:
    """What comments begin with: lines at the top, or a few lines in between."""
    if options.comment is not None:
        return options.comment or None
    there = [line.strip() for line in lines if line.strip()]
    for mark in COMMENTS:
        marked = [line for line in there if line.startswith(mark) and not _is_field(line, mark)]
        on_top = there[0].startswith(mark) and there[0] in marked
        if not marked or 2 * len(marked) > len(there) + 2 or len(marked) == len(there):
            continue
        if mark in (";", "--", "!") and not (on_top and _only_in_front(there, mark)):
            continue
        if on_top or (mark in ("#", "%", "//") and _apart(there, marked, mark)):
            return mark
    return None


def _is_field(line: str, mark: str) -> bool:
    """Whether what a line begins with is a field of its own: an error of Excel, or a name such as # for a number."""
    return line.startswith(_EXCEL_ERRORS) or (mark != ";" and line[len(mark) : len(mark) + 1] in tuple(",;\t|"))


def _only_in_front(there: Sequence[str], mark: str) -> bool:
    return not any(mark in line and not line.startswith(mark) for line in there)


def _apart(there: Sequence[str], marked: Sequence[str], mark: str) -> bool:
    """Whether marked lines in between are cut into other numbers of fields than the rest."""
    delimiter = max(DELIMITERS[:4], key=lambda sign: sum(line.count(sign) for line in there))
    usual = Counter(line.count(delimiter) for line in there if not line.startswith(mark)).most_common(1)[0][0]
    return all(line.count(delimiter) != usual for line in marked)


def _candidates(lines: Sequence[str], options: TableOptions) -> list[tuple[str, str | None, bool]]:
    """Delimiter, quote and escaping that may be meant."""
    text = "\n".join(lines)
    found: list[tuple[str, str | None, bool]] = []
    for delimiter in (options.delimiter,) if options.delimiter else DELIMITERS:
        edge = r"[ \t]" if delimiter == BLANKS else re.escape(delimiter)
        for quote in ('"', "'"):
            if re.search(rf"(^|\n|{edge})[ ]?{quote}", text):
                found.append((delimiter, quote, False))
                if f"\\{quote}" in text:
                    found.append((delimiter, quote, True))
        found.append((delimiter, None, False))
    return found


def _score(lines: Sequence[str], comment: str | None, delimiter: str, quote: str | None, escaped: bool) -> float:
    """How steady the number of fields is and how well they read; a single column counts half."""
    rows = split_rows(lines, comment, delimiter, quote, escaped)
    if not rows:
        return 0.0
    body = rows[min(len(rows) // 5, 20) :] if len(rows) > STEADY_ROWS else rows
    width, times = _usual_width(body)
    if delimiter == ":" and width < FEW_COLON_FIELDS:
        return 0.0
    usual = [row for _, row in body if len(row) == width]
    step = max(1, len(usual) * width // FIELDS_JUDGED)
    fields = [field for row in usual[::step] for field in row][:FIELDS_JUDGED]
    quality = sum(_quality(field, quote) for field in fields) / len(fields)
    if width == 1:
        pure = all(field_kind(field) in ("date", "time", "missing") and "," not in field for field in fields[1:])
        return (1.5 if pure and len(fields) > 2 else 0.5 if delimiter == "," else 0.45) * quality
    return (times / len(body)) ** 2 * quality * (1.0 + 0.01 * min(width, 20)) * (0.9 if delimiter in "^:" else 1.0)


def _usual_width(rows: Rows) -> tuple[int, int]:
    """The commonest number of fields, the larger one of two that are as common, and how often it occurs."""
    counts = Counter(len(row) for _, row in rows)
    width = max(counts, key=lambda width: (counts[width], width))
    return width, counts[width]


def _quality(field: str, quote: str | None) -> float:
    """How much a field looks like one value."""
    field = field.strip()
    if field_kind(field) != "text":
        return 1.0
    if quote is None and field[0] in "\"'":  # whole fields in quotes, or halves of them
        return 0.3 if len(field) > 1 and field[-1] == field[0] else 0.1
    signs = [sign for sign in _PIECES.findall(field) if sign.strip(" ")]
    pieces = [piece for piece in _PIECES.split(field) if piece]
    numbers = sum(field_kind(piece) == "number" for piece in pieces)
    if numbers > 1 and 3 * numbers > 2 * len(pieces):
        return 0.2 if signs else 0.5
    return 0.4 if any(sign in field for sign in ";\t|") else 0.5 if re.search(r"\S,\S", field) else 0.9


def _described(
    lines: Sequence[str], comment: str | None, delimiter: str, quote: str | None, escaped: bool, options: TableOptions
) -> Dialect:
    """Where the table begins, and whether it begins with names."""
    rows = split_rows(lines, comment, delimiter, quote, escaped)
    if not rows:
        rows = [(number, [line]) for number, line in enumerate(lines, 1) if line.strip()]
    width, _ = _usual_width(rows[min(len(rows) // 5, 20) :] if len(rows) > STEADY_ROWS else rows)
    top = _top(rows, width, options)
    names = None if top.names is None else tuple(name.strip() for name in top.names)
    if names is None and options.header is not False and comment is not None:
        names = _names_in_comment(lines, comment, delimiter, quote, escaped, width)
    skipped = rows[top.data - 1][0] if top.data else _leading(lines, rows)
    width = max(width, len(names or ()))
    return Dialect(delimiter, quote, escaped, comment, skipped, top.before, names, width, top.row_names, top.units)


@dataclass(frozen=True)
class _Top:
    """What stands above the data: rows before the names, the names, units; and which row is the first of the data."""

    before: int
    data: int
    names: list[str] | None = None
    row_names: bool = False
    units: bool = False


def _top(rows: Rows, width: int, options: TableOptions) -> _Top:
    data = _first_data(rows, width)
    if data is None:  # columns of text alone
        at = _first_steady(rows, width)
        body = [row for _, row in rows[at + 1 :] if len(row) == width]
        headed = options.header is not False and (options.header or first_is_header(rows[at][1], body))
        return _Top(at, at + 1, rows[at][1]) if headed else _Top(at, at)
    body = [row for _, row in rows[data:] if len(row) == width]
    if options.header is False:
        at = _first_steady(rows, width)
        return _Top(at, at)
    above = rows[data - 1][1] if data else []
    if data == 2 and len(above) == width == len(rows[0][1]) and are_units(above) and all(rows[0][1]):
        return _Top(0, data, rows[0][1], units=True)
    named = _names_above(above, body, width)
    if named is not None:
        return _Top(data - 1, data, *named)
    if (options.header and data == 0) or first_is_header(rows[data][1], body[1:]):
        return _Top(data, data + 1, rows[data][1])
    return _Top(data, data)


def _names_above(above: list[str], body: list[list[str]], width: int) -> tuple[list[str], bool] | None:
    """The names in the row above the data (as many as it has fields), and whether they are one short; None if none."""
    if len(above) == width:
        return above, False
    if len(above) == width - 1 and all(name.strip() for name in above):
        trailing = all(not row[-1].strip() for row in body)
        return ([*above, ""], False) if trailing else (["", *above], True)
    if len(above) > width > 0:
        return (above, False) if all(name.strip() for name in above) else (above[:width], False)
    return None


def _first_data(rows: Rows, width: int) -> int | None:
    """The first row whose fields are of the kinds of the rows below it; None if all columns are text."""
    sample = [row for _, row in rows[min(len(rows) // 3, 20) :] if len(row) == width] or [row for _, row in rows]
    kinds = {at: kind for at, kind in enumerate(column_kinds(sample, width)) if kind != "text"}
    if not kinds:
        return None

    def conforms(row: list[str]) -> bool:
        found = [field_kind(row[at]) for at in kinds if at < len(row)]
        alike = sum(one == kind for one, kind in zip(found, kinds.values(), strict=False))
        return len(row) == width and alike > 0 and 2 * (alike + found.count("missing")) >= len(kinds)

    for at in range(len(rows)):
        near = [conforms(row) for _, row in rows[at : at + 3]]
        if near[0] and 2 * sum(near) > len(near):
            return _with_gaps_above(rows, at, width, kinds)
    return None


def _with_gaps_above(rows: Rows, data: int, width: int, kinds: Iterable[int]) -> int:
    """The first row of the data, if the rows above lack all values that tell data from names, and names stand there."""
    at = data
    while at > 0 and len(rows[at - 1][1]) == width and all(field_kind(rows[at - 1][1][k]) == "missing" for k in kinds):
        at -= 1
    return at if at > 0 and len(rows[at - 1][1]) == width else data


def _first_steady(rows: Rows, width: int) -> int:
    """The first row from which on rows have the usual width, save a few."""
    for at in range(len(rows)):
        near = rows[at : at + STEADY_ROWS]
        if len(rows[at][1]) == width and 2 * sum(len(row) == width for _, row in near) > len(near):
            return at
    return 0


def _names_in_comment(
    lines: Sequence[str], comment: str, delimiter: str, quote: str | None, escaped: bool, width: int
) -> tuple[str, ...] | None:
    """Names in the last comment before the data, as NumPy and gnuplot write them."""
    top: list[str] = []
    for line in lines:
        if line.strip() and not line.lstrip().startswith(comment):
            break
        if line.strip():
            top.append(line.strip().lstrip(comment).strip())
    found = split_rows(top[-1:], None, delimiter, quote, escaped)
    names = [name.strip() for name in found[0][1]] if found else []
    fit = len(names) == width and all(names) and all(field_kind(name) == "text" for name in names)
    return tuple(names) if fit and len({*names}) == width else None


def _leading(lines: Sequence[str], rows: Rows) -> int:
    """Physical lines before the first row."""
    return next((at for at, line in enumerate(lines) if line.strip()), 0) if rows and rows[0][0] > 1 else 0


def _arff(lines: Sequence[str]) -> Dialect | None:
    """A file of Weka: names in @attribute, rows behind @data."""
    data = next((at for at, line in enumerate(lines) if line.strip().lower() == "@data"), None)
    if data is None or not any(line.strip().lower().startswith("@relation") for line in lines[:data]):
        return None
    found = [match.group(1).strip("'\"") for line in lines[:data] if (match := _ARFF_NAME.match(line.strip()))]
    body = [line for line in lines[data + 1 :] if line.strip() and not line.startswith("%")]
    if any(line.lstrip().startswith("{") for line in body):
        raise ValueError("it is a sparse ARFF file; write it as a dense one")
    quote = "'" if any("'" in line for line in body) else '"'
    return Dialect(",", quote, False, "%", data + 1, 0, tuple(found), len(found), False, arff=True)
