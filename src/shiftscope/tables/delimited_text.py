"""Delimited text -> columns of numbers and of text as it stands there; polars does the parsing."""

from __future__ import annotations

import codecs
import csv
import io
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

import polars as pl

from shiftscope.tables.dialect import BLANKS, Dialect, find_dialect, spaced, split_rows
from shiftscope.tables.field_kinds import COMPACT_DATE, LEADING_ZERO, field_kind
from shiftscope.tables.options import TableOptions
from shiftscope.tables.text_bytes import Sample, encoding_of, sampled, unpacked, western

CHUNK = 1 << 24  # characters rewritten at a time
ROW_NAME = "row name"  # what a first column without a name is called if it tells the rows apart
_UTF8 = ("utf-8", "utf-8-sig", "utf8", "ascii", "us-ascii")


@dataclass(frozen=True)
class TextFile:
    """A text file, and how it is written.

    Attributes
    ----------
    path
    sample
    encoding
    dialect
    decimal
        The decimal sign that most numbers of the sample have.
    carriage
        Lines end in a carriage return alone.
    footer
        Lines at the end that are no rows.
    """

    path: Path
    sample: Sample
    encoding: str
    dialect: Dialect
    decimal: str
    carriage: bool
    footer: int = 0

    def sample_frame(self) -> pl.DataFrame:
        """The rows of the sample as text: all of them if the file is small."""
        try:
            content = b"".join(self._rewritten(io.BytesIO(b"".join(self.sample.pieces))))
            return self._without_footer(self._parse(content, pl.String))
        except pl.exceptions.PolarsError:
            if self.sample.whole or len(self.sample.pieces) == 1:
                raise
            one = replace(self.sample, pieces=self.sample.pieces[:1])  # a quoted field cut in two elsewhere
            return replace(self, sample=one).sample_frame()

    def frame(self) -> pl.DataFrame:
        """All rows: columns of plain numbers as such, the others as text."""
        seen = self.sample_frame()
        if self.sample.whole:
            return seen
        types = {name: pl.Float64 if _is_plain(seen[name]) else pl.String for name in seen.columns}
        with self._source() as source:
            found = self._parse(source, types)
            gaps = [name for name, kind in types.items() if kind == pl.Float64 and found[name].null_count()]
            if gaps:
                found = found.with_columns(self._parse(source, pl.String, gaps))
        return self._without_footer(found)

    def texts(self) -> pl.DataFrame:
        """All rows and columns as text, without rows that are wholly blank."""
        if self.sample.whole:
            return without_blank_rows(self.sample_frame())
        with self._source() as source:
            return without_blank_rows(self._without_footer(self._parse(source, pl.String)))

    def _parse(self, source: bytes | Path, types: Any, columns: Sequence[str] | None = None) -> pl.DataFrame:
        form = self.dialect
        names = [f"x{at}" for at in range(form.width)]
        schema = types if isinstance(types, dict) else dict.fromkeys(names, types)
        return pl.read_csv(
            source,
            has_header=False,
            skip_lines=form.skipped,
            separator="\t" if form.delimiter == BLANKS else form.delimiter,
            quote_char=form.quote,
            comment_prefix=form.comment,
            schema=schema,
            columns=None if columns is None else [names.index(name) for name in columns],
            ignore_errors=isinstance(types, dict),
            missing_columns="insert",
            glob=False,
            raise_if_empty=False,
        )

    def _without_footer(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame[: frame.height - self.footer] if self.footer else frame

    @contextmanager
    def _source(self) -> Iterator[bytes | Path]:
        """What polars can read: the file itself where it can, else a copy in a scratch file."""
        if not self._needs_rewriting():
            yield self.path
            return
        with tempfile.TemporaryDirectory(prefix="shiftscope") as folder:
            copy = Path(folder) / "table.csv"
            with unpacked(self.path) as file, copy.open("wb") as target:
                target.writelines(self._rewritten(file))
            yield copy

    def _needs_rewriting(self) -> bool:
        form = self.dialect
        odd = form.delimiter == BLANKS or form.escaped or self.carriage or self._quotes_apart()
        return odd or bool(self.sample.packed) or self.encoding.lower() not in _UTF8

    def _quotes_apart(self) -> bool:
        """Whether blanks stand between a delimiter and a quote."""
        form = self.dialect
        return form.quote is not None and bool(
            re.search(re.escape(f"{form.delimiter} {form.quote}").encode(), self.sample.pieces[0])
        )

    def _rewritten(self, file: IO[bytes]) -> Iterator[bytes]:
        """UTF-8 in lines that polars understands."""
        if not self._needs_rewriting():
            yield from iter(lambda: file.read(CHUNK), b"")
            return
        reader = io.TextIOWrapper(file, self.encoding, newline=None if self.carriage else "\n")
        for lines in iter(lambda: reader.readlines(CHUNK), []):
            yield "".join(map(self._rewritten_line, lines)).encode()
        reader.detach()

    def _rewritten_line(self, line: str) -> str:
        form = self.dialect
        if form.quote is not None:
            if form.escaped:
                line = line.replace(f"\\{form.quote}", form.quote * 2)
            if form.delimiter != BLANKS and form.quote in line:
                line = _quotes_beside(line, form.delimiter, form.quote)
        return spaced(line, form.quote) + "\n" if form.delimiter == BLANKS else line


def _quotes_beside(line: str, delimiter: str, quote: str) -> str:
    """A line without the blanks between a delimiter and a quote that opens a field."""
    parts = line.split(quote)
    parts[:-1:2] = [re.sub(rf"(^|{re.escape(delimiter)}) +$", r"\1", part) for part in parts[:-1:2]]
    return quote.join(parts)


Read = Callable[[TextFile], pl.DataFrame]


def open_text(path: Path, options: TableOptions) -> TextFile:
    """Look at a text file: how it is written is found out unless the options say it.

    Raises
    ------
    ValueError
        If it is no table; the text says what it is.
    """
    sample = sampled(path)
    encoding = options.encoding or encoding_of(sample)
    start = _decoded(sample.pieces[0], encoding)
    carriage = "\n" not in start and "\r" in start
    start = start.replace("\r", "\n") if carriage else start
    dialect = find_dialect(start, options)
    if options.names is not None and len(options.names) > dialect.width:
        dialect = replace(dialect, width=len(options.names))
    found = TextFile(path, sample, encoding, dialect, ".", carriage)
    tail = start if sample.whole else _decoded(sample.pieces[-1], encoding)
    return replace(found, decimal=options.decimal or _decimal(start, found), footer=_footer(tail, found))


def read_text(path: Path, options: TableOptions, read: Read) -> tuple[TextFile, pl.DataFrame]:
    """The rows of a text file that `read` takes of it, and how it was read; what the sample hid is made up for."""
    file = open_text(path, options)
    try:
        return file, read(file)
    except pl.exceptions.PolarsError as error:
        return _second_try(file, error, read)


def _second_try(file: TextFile, error: pl.exceptions.PolarsError, read: Read) -> tuple[TextFile, pl.DataFrame]:
    """Bytes that are no UTF-8 behind the sample, empty fields too many, or quotes that are none."""
    if "utf-8" in str(error) and file.encoding in _UTF8:
        with unpacked(file.path) as content:
            for chunk in iter(lambda: content.read(CHUNK), b""):
                western((chunk,))
        file = replace(file, encoding="cp1252")
        return file, read(file)
    if "more fields" in str(error) or "not specified in schema" in str(error):
        wider = _wider(file)
        if wider.dialect.width > file.dialect.width:
            return wider, read(wider)
    if file.dialect.quote is not None:
        plain = replace(file, dialect=replace(file.dialect, quote=None, escaped=False))
        try:
            return plain, read(plain)
        except pl.exceptions.PolarsError:
            raise ValueError(
                f"a field in {file.dialect.quote} has no end, or text behind its end; double the quotes inside fields"
            ) from error
    raise error


def _wider(file: TextFile) -> TextFile:
    """The file with as many columns as its longest row, if what is too many is empty.

    Raises
    ------
    ValueError
        If a row has more values than there are columns; the text names the line.
    """
    form, width = file.dialect, file.dialect.width
    with unpacked(file.path) as content:
        reader = io.TextIOWrapper(content, file.encoding, errors="replace", newline=None if file.carriage else "\n")
        before = 0
        for lines in iter(lambda: list(islice(reader, 10_000)), []):
            for number, row in split_rows(
                [line.rstrip("\n") for line in lines], form.comment, form.delimiter, form.quote, form.escaped
            ):
                if before + number > form.skipped and len(row) > form.width:
                    if any(field.strip() for field in row[form.width :]):
                        raise ValueError(
                            f"line {before + number} has {len(row)} fields and the table {form.width}; quote fields "
                            "that hold the delimiter, or name the right one by --delimiter"
                        )
                    width = max(width, len(row))
            before += len(lines)
    return replace(file, dialect=replace(form, width=width))


def without_blank_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows that hold anything; in a table of one column, blank lines are missing values, save at the end."""
    complete = any(column.dtype != pl.String and not column.null_count() for column in frame)
    if complete or frame.width == 0 or frame.height == 0:
        return frame
    there = frame.select(pl.any_horizontal(_is_there(frame[name]) for name in frame.columns)).to_series()
    if frame.width > 1:
        return frame if there.all() else frame.filter(there)
    last = there.arg_max() if there.any() else None
    last = frame.height - 1 - (there.reverse().arg_max() or 0) if last is not None else -1
    return frame[: last + 1]


def _is_there(column: pl.Series) -> pl.Series:
    if column.dtype == pl.String:
        return (column.str.strip_chars() != "").fill_null(False)
    return column.is_not_null()


def _decoded(piece: bytes, encoding: str) -> str:
    """Text of some bytes, of which the last character may be cut."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(piece)
    except UnicodeDecodeError as error:
        raise ValueError(f"it is no {encoding} text; name its encoding by --encoding") from error


def _is_plain(column: pl.Series) -> bool:
    """Whether the texts of a sample are numbers with a point, so that polars may read the whole column as such."""
    there = column.drop_nulls().filter(column.drop_nulls() != "")
    if there.is_empty() or there.str.contains(LEADING_ZERO).any() or there.str.contains(COMPACT_DATE).all():
        return False
    return there.cast(pl.Float64, strict=False).null_count() < 0.5 * len(there)


_COMMA = re.compile(r"^[+-]?(\d{1,3}(\.\d{3})+,\d+|\d+,(\d{1,2}|\d{4,}))$")
_POINT = re.compile(r"^[+-]?(\d{1,3}(,\d{3})+\.\d+|\d*\.(\d{1,2}|\d{4,}))$")
_EITHER = re.compile(r"^[+-]?\d{1,3},\d{3}$")


def _decimal(text: str, file: TextFile) -> str:
    """The decimal sign that more fields have without doubt; of 1,234 alone, a comma is one unless it delimits."""
    form = file.dialect
    rows = split_rows(
        text.split("\n")[form.skipped : form.skipped + 500], form.comment, form.delimiter, form.quote, form.escaped
    )
    fields = [field.strip(" %$€£") for _, row in rows for field in row]
    commas, points = (sum(sign.match(field) is not None for field in fields) for sign in (_COMMA, _POINT))
    if commas == points == 0:
        return "," if form.delimiter == ";" and any(_EITHER.match(field) for field in fields) else "."
    return "," if commas > points else "."


def _footer(text: str, file: TextFile) -> int:
    """Lines at the end with a single field that is no number, in a table of three columns or more."""
    form = file.dialect
    lines = text.rstrip().split("\n")[-20:]
    if form.width < 3 or len(text.split("\n")) < 10:
        return 0
    rows = split_rows(lines, form.comment, form.delimiter, form.quote, form.escaped)
    count = 0
    for _, row in reversed(rows):
        if len(row) > 1 or field_kind(row[0]) != "text":
            break
        count += 1
    return count if 0 < count <= 3 else 0


def csv_line(fields: Sequence[str], delimiter: str) -> str:
    """One line of delimited text."""
    target = io.StringIO()
    csv.writer(target, delimiter=delimiter, lineterminator="\n").writerow(fields)
    return target.getvalue()
