"""What was understood of files and columns, as data and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Self

import numpy as np

from shiftscope.json_data import write_fields
from shiftscope.messages import percent, readable, shown
from shiftscope.tables.column_kinds import Column, Unusable, value_text
from shiftscope.tables.delimited_text import TextFile
from shiftscope.tables.dialect import BLANKS
from shiftscope.tables.text_parts import ColumnAnswer, Part, TextPart

SCHEMA = 1
EXAMPLES = 3  # values shown of each column
CELL_WIDTH = 24  # characters of a name or a value in a table on the screen
_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", BLANKS: "blanks"}


@dataclass(frozen=True)
class Decision:
    """Something that was found out, and the option that decides it otherwise."""

    what: str
    option: str = ""


@dataclass(frozen=True)
class FileReading:
    """What was understood of one file.

    Attributes
    ----------
    role : "reference" or "current"
    path : str
    kind : str
        The format.
    size : int
        Bytes of the file.
    rows : int
    rows_exact, sampled : bool
        Whether the rows were counted, not estimated; whether only some of them were looked at.
    decisions : tuple of Decision
        How text is written.
    """

    role: str
    path: str
    kind: str
    size: int = 0
    rows: int = 0
    rows_exact: bool = True
    sampled: bool = False
    decisions: tuple[Decision, ...] = ()

    def counted(self, rows: int, *, exact: bool, sampled: bool) -> FileReading:
        """The same with its number of rows."""
        return replace(self, rows=rows, rows_exact=exact, sampled=sampled)


@dataclass(frozen=True)
class MissingMark:
    """A text that stands for a missing value ("" for an empty field), and its share of the rows of each sample."""

    text: str
    shares: tuple[float, ...]


@dataclass(frozen=True)
class ColumnReading:
    """What was understood of one column.

    Attributes
    ----------
    name : str
    kind : str
        "number", "date", "time", "duration", "category", or "unusable".
    form : str
        How its values are written, in words; often nothing.
    samples : tuple of str
        The samples that have it: "reference", "current".
    missing, words : tuple of MissingMark
        What stands for a missing value, and words among numbers, which are missing as numbers and kept apart.
    examples : tuple of str
    doubts : tuple of str
    """

    name: str
    kind: str
    form: str
    samples: tuple[str, ...]
    missing: tuple[MissingMark, ...]
    words: tuple[MissingMark, ...]
    examples: tuple[str, ...]
    doubts: tuple[str, ...]


@dataclass(frozen=True)
class Look:
    """What was understood of one or two samples.

    Attributes
    ----------
    files : tuple of FileReading
        Samples that are files.
    columns : tuple of ColumnReading
    doubts : tuple of str
        What may have been meant otherwise, each with the option that says so.
    """

    files: tuple[FileReading, ...]
    columns: tuple[ColumnReading, ...] = field(repr=False)
    doubts: tuple[str, ...] = field(repr=False)

    def swapped(self) -> Self:
        """The same with the two samples exchanged."""
        other = {"reference": "current", "current": "reference"}
        files = tuple(replace(file, role=other.get(file.role, file.role)) for file in self.files[::-1])
        return replace(self, files=files, columns=tuple(_swapped(column, other) for column in self.columns))

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """All of it as JSON text, also written to `path` if given."""
        return write_fields(self, SCHEMA, path)

    def __str__(self) -> str:
        return "\n".join([*(_file_text(file) for file in self.files), _columns_text(self.columns), _doubts_text(self)])

    __repr__ = __str__


def _swapped(column: ColumnReading, other: dict[str, str]) -> ColumnReading:
    def turned(marks: tuple[MissingMark, ...]) -> tuple[MissingMark, ...]:
        return tuple(replace(mark, shares=mark.shares[::-1]) for mark in marks)

    samples = tuple(other.get(role, role) for role in column.samples[::-1])
    return replace(column, samples=samples, missing=turned(column.missing), words=turned(column.words))


def text_reading(
    role: str, file: TextFile, rows: int, blank: int, dropped: int, renamed: Sequence[str], sample: bool
) -> FileReading:
    """What was understood of a text file whose sample, or all of it, has so many rows."""
    partial = sample and not file.sample.whole
    if partial:
        seen = sum(map(len, file.sample.pieces))
        rows = round(file.sample.size * rows / max(seen, 1))
    reading = FileReading(role, str(file.path), "delimited text", file.path.stat().st_size)
    decisions = tuple(_decisions(file, blank, dropped, renamed))
    return replace(reading.counted(rows, exact=not partial, sampled=partial), decisions=decisions)


def _decisions(file: TextFile, blank: int, dropped: int, renamed: Sequence[str]) -> list[Decision]:
    form = file.dialect
    named = _DELIMITERS.get(form.delimiter, repr(form.delimiter))
    found = [Decision(f"{file.sample.packed}-packed" if file.sample.packed else "")]
    found += [
        Decision(f"encoding {file.encoding}", "--encoding"),
        Decision(f"fields cut at {named}" if form.width > 1 else "one column", "--delimiter"),
        _header_decision(file),
    ]
    if form.quote == "'":
        found.append(Decision("fields in single quotes"))
    if form.escaped:
        found.append(Decision("quotes inside quotes marked by a backslash"))
    if file.decimal == ",":
        found.append(Decision("decimal comma", "--decimal"))
    if form.comment is not None:
        found.append(Decision(f"lines that begin with {form.comment} skipped", "--comment"))
    if form.before:
        found.append(Decision(f"{_count(form.before, 'line')} before the table skipped", "--no-header"))
    if form.units:
        found.append(Decision("the line of units below the names skipped"))
    if file.footer:
        found.append(Decision(f"{_count(file.footer, 'line')} behind the table skipped"))
    if dropped:
        found.append(Decision(f"{_count(dropped, 'column')} without name and values dropped"))
    if blank:
        found.append(Decision(f"{_count(blank, 'blank row')} dropped"))
    if renamed:
        found.append(Decision(f"names that occur twice told apart: {', '.join(map(readable, renamed))}", "--names"))
    return [decision for decision in found if decision.what]


def _header_decision(file: TextFile) -> Decision:
    form = file.dialect
    if form.arff:
        return Decision("names from the @attribute lines", "--names")
    if form.names is None:
        return Decision(
            "no header: the first line is data like the rest, so columns are x0, x1, ...", "--header, --names"
        )
    if form.row_names:
        return Decision("header one name short: the first column names the rows", "--names")
    if not form.names[0]:
        return Decision("header with a first column without name", "--names")
    return Decision("header", "--no-header, --names")


def column_reading(name: str, answer: ColumnAnswer, parts: Sequence[Part], roles: Sequence[str]) -> ColumnReading:
    """What was understood of one column."""
    there = [column for column in answer.columns if isinstance(column, Column)]
    whole = [column for column in there if not column.empty] or there
    unusable = next((column for column in answer.columns if isinstance(column, Unusable)), None)
    kind = "unusable" if unusable is not None else whole[0].kind
    form = unusable.reason if unusable is not None else answer.form
    rows = [
        len(part.text) if isinstance(part, TextPart) else len(part.values)
        for part in parts
        if not isinstance(part, Unusable)
    ]
    marks = _marks(answer.missing, rows), _marks(answer.words, rows)
    return ColumnReading(name, kind, form, tuple(roles), *marks, _examples(parts), answer.doubts)


def _marks(counts: Sequence[dict[str, int]], rows: Sequence[int]) -> tuple[MissingMark, ...]:
    texts = dict.fromkeys(text for own in counts for text in own)
    return tuple(
        MissingMark(text, tuple(own.get(text, 0) / max(n, 1) for own, n in zip(counts, rows, strict=True)))
        for text in texts
    )


def _examples(parts: Sequence[Part]) -> tuple[str, ...]:
    """The first distinct values."""
    found: dict[str, None] = {}
    for part in parts:
        if isinstance(part, TextPart):
            found.update(dict.fromkeys(part.text.drop_nulls().head(100).to_list()))
        elif isinstance(part, Column):
            if part.kind == "category":
                found.update(dict.fromkeys(part.levels[:EXAMPLES]))
            else:
                values = part.values[:1000]
                values = values[np.isfinite(values)][:100]
                found.update(dict.fromkeys(value_text(part.kind, value) for value in values.tolist()))
        if len(found) >= EXAMPLES:
            break
    return tuple(list(found)[:EXAMPLES])


def _file_text(file: FileReading) -> str:
    about = "" if file.rows_exact else "about "
    lines = [f"{file.role}: {file.path}", f"  {file.kind}, {_size(file.size)}, {about}{file.rows:,} rows"]
    if file.sampled:
        lines[-1] += "; kinds are judged by a sample from its start, middle and end"
    decided = [f"  {what.what}" + (f"  ({what.option})" if what.option else "") for what in file.decisions]
    return "\n".join([*lines, *decided]) + "\n"


def _columns_text(columns: Sequence[ColumnReading]) -> str:
    """A table: name, kind, missing, examples."""
    lines = [("column", "kind", "missing", "examples")]
    for column in columns:
        kind = f"{column.kind}, {column.form}" if column.form and column.kind != "unusable" else column.kind
        kind = "left out" if column.kind == "unusable" else kind
        lines.append((_cut(column.name), kind, _missing_text(column), ", ".join(map(_cut, column.examples))))
    widths = [max(len(line[at]) for line in lines) for at in range(3)]
    rows = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[3]]).rstrip()
        for line in lines
    ]
    return (
        "\n".join(rows)
        + "\n  (--kind NAME=KIND reads a column as another kind, --missing TEXT names what is missing)\n"
    )


def _missing_text(column: ColumnReading) -> str:
    parts = []
    for mark in (*column.missing, *column.words):
        shares = " | ".join(percent(share) for share in mark.shares)
        parts.append(f"{_cut(mark.text) if mark.text else 'empty'} {shares}")
    return ", ".join(parts[:4]) + (", ..." if len(parts) > 4 else "")


def _doubts_text(look: Look) -> str:
    return "\n".join(["Doubts:", *(f"  {doubt}" for doubt in look.doubts)]) if look.doubts else "No doubts."


def _cut(text: str) -> str:
    plain = text if text.isprintable() else shown(text)
    return plain if len(plain) <= CELL_WIDTH else f"{plain[: CELL_WIDTH - 1]}…"


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _size(size: int) -> str:
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if size >= step:
            return f"{size / step:.3g} {unit}"
    return f"{size} bytes"
