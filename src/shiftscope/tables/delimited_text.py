"""Delimited text -> columns: encoding, delimiter, blank lines and the kinds of values are found out."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl

from shiftscope.tables.column_kinds import parsed_number
from shiftscope.tables.dates import CLOCK, ISO_DATE, clocked, dated

# Read from a CSV as missing.
MISSING_TEXT = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-nan", "NaT", "NULL", "null", "None")
DELIMITERS = (",", ";", "\t", "|")  # and a space, if the first line has none of them
LINES_COMPARED = 20  # the delimiter is the one that cuts so many lines into equally many fields

LARGEST_WHOLE = 2.0**53  # beyond, a double may stand for another integer than the text

_DECIMAL_COMMA = r"^[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d*)?([eE][+-]?\d+)?$"  # 1234,5 and 1.234,5
_THOUSANDS = r"^[+-]?(\d+|[1-9]\d{0,2}(,\d{3})+)(\.\d*)?$"  # 1,234.5
_BLANK_LINES = re.compile(rb"\n(?:[ \r]*\n)+")
_ZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class Raw:
    """A sample taken apart into columns that are still of any type: narwhals series, arrays or lists."""

    names: Sequence[object]
    columns: Iterable[Any]
    positional: bool = False


@dataclass(frozen=True)
class Delimited:
    """Delimited text, and how it is to be read.

    Attributes
    ----------
    content
        UTF-8, without blank lines (a file of one column keeps those that are not at its end: missing values).
    names
        As written in the header line; polars would rename duplicates.
    delimiter
    quote
        None if quotes are characters like any other: no field begins with one.
    """

    content: bytes
    names: list[str]
    delimiter: str
    quote: str | None

    def read(self, **options: Any) -> pl.DataFrame:
        """The rows behind the header, as polars reads them."""
        return pl.read_csv(self.content, separator=self.delimiter, quote_char=self.quote, **options)


def read_csv(path: Path) -> Raw:
    """Read delimited text as numbers; columns where that leaves gaps are read again as text, and looked at."""
    text = read_delimited(path)
    missing = list(MISSING_TEXT)
    try:
        frame = text.read(schema_overrides=[pl.Float64] * len(text.names), ignore_errors=True, null_values=missing)
        gaps = [position for position, column in enumerate(frame) if column.null_count()]
        texts = text.read(columns=gaps, infer_schema=False, null_values=missing) if gaps else pl.DataFrame()
    except pl.exceptions.PolarsError as error:
        if "more fields" not in str(error):
            raise
        raise ValueError(f"a line has more fields than the {len(text.names)} of the first line") from error
    frame = frame.with_columns(_parsed(column, text.delimiter) for column in texts)
    frame = frame.with_columns(column.cast(pl.Int64) for column in frame if _is_whole(column))
    return Raw(text.names, nw.from_native(frame).iter_columns())


def _is_whole(column: pl.Series) -> bool:
    """Whether all numbers are whole: text does not tell integers from floats, but identifiers are integers."""
    if column.dtype != pl.Float64 or not column.is_finite().all():
        return False
    return bool(((column % 1 == 0) & (column.abs() < LARGEST_WHOLE)).all())


def read_delimited(path: Path) -> Delimited:
    """Open delimited text; the delimiter is guessed from its first lines."""
    content = utf8_content(path).lstrip(b"\r\n").rstrip(b" \r\n")
    delimiter = _delimiter(content)
    header = next(csv.reader(_first_lines(content), delimiter=delimiter), [])
    names = [name.strip() for name in header]
    if names and all(parsed_number(name) is not None for name in names) and not all(map(str.isdecimal, names)):
        raise ValueError(f"the first line must hold the names of the columns, found {', '.join(names[:3])}")
    quote = '"' if re.search(rb'(^|[\n%s])[ ]?"' % delimiter.encode(), content) else None
    content = _without_blank_lines(content) if len(names) > 1 else content
    return Delimited(content, names, delimiter, quote)


def _delimiter(content: bytes) -> str:
    """The delimiter that cuts the first lines into most fields, equally many in each; else the header's commonest."""

    def fields(delimiter: str) -> int:
        rows = list(islice(csv.reader(_first_lines(content), delimiter=delimiter), LINES_COMPARED))
        lengths = {len(row) for row in rows if row}
        return min(lengths) if len(lengths) == 1 else 1

    best = max(DELIMITERS, key=fields)
    if fields(best) > 1:
        return best
    header = re.sub(r'"[^"]*"', "", next(iter(_first_lines(content)), ""))
    common = max(DELIMITERS, key=header.count)
    return common if common in header else (" " if fields(" ") > 1 else common)


def _first_lines(content: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")


def _without_blank_lines(content: bytes) -> bytes:
    """Blank lines dropped, unless they are inside quotes."""
    if not _BLANK_LINES.search(content):
        return content
    parts = content.split(b'"')
    parts[::2] = [_BLANK_LINES.sub(b"\n", part) for part in parts[::2]]
    return b'"'.join(parts)


def utf8_content(path: Path) -> bytes:
    """A text file's bytes, unzipped, as UTF-8 without a mark at the start; lines end in a line feed.

    Text that is neither UTF-8 nor marked as UTF-16 or UTF-32 is taken for Windows-1252, which western programs write.
    """
    content = path.read_bytes()
    zipped = path.name.lower().endswith(".gz") or content.startswith(_ZIP_MAGIC)
    content = gzip.decompress(content) if zipped else content
    if content.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):  # before UTF-16, whose mark begins alike
        return content.decode("utf-32").encode()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16").encode()
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        content = _western(content)
    content = content if b"\n" in content else content.replace(b"\r", b"\n")
    return content.removeprefix(codecs.BOM_UTF8)


def _western(content: bytes) -> bytes:
    try:
        if b"\0" not in content:
            return content.decode("cp1252").encode()
    except UnicodeDecodeError:
        pass
    raise ValueError("neither UTF-8, UTF-16 nor Windows-1252 text")


def _parsed(text: pl.Series, delimiter: str) -> pl.Series:
    """Text as numbers (booleans as 0 and 1), dates or times of day, if all of it reads as such."""
    plain = text.str.strip_chars()
    missing = text.null_count()
    lowered = plain.str.to_lowercase().replace({"true": "1", "false": "0"})
    number = lowered.cast(pl.Float64, strict=False)
    if number.null_count() == missing:
        return number
    comma_decimal, comma_thousands = (plain.str.contains(form).all() for form in (_DECIMAL_COMMA, _THOUSANDS))
    if comma_thousands and (delimiter == "," or not comma_decimal):  # "1,234" may be either
        return plain.str.replace_all(",", "", literal=True).cast(pl.Float64)
    if comma_decimal:
        return plain.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True).cast(pl.Float64)
    if plain.str.contains(CLOCK).all():
        return clocked(plain)
    return dated(plain) if plain.str.contains(ISO_DATE).all() else plain
