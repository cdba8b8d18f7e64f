"""What a file is, by its first bytes; its name decides only where they do not tell."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

from shiftscope.tables.text_bytes import packing, unpacked

TEXT_SUFFIXES = (".csv", ".tsv", ".txt")
LINES_SUFFIXES = (".jsonl", ".ndjson")
PARQUET_SUFFIXES = (".parquet", ".pq")
ARROW_SUFFIXES = (".arrow", ".feather", ".ipc")
HEAD = 1 << 16
_BY_SUFFIX = {
    **dict.fromkeys(LINES_SUFFIXES, "JSON lines"),
    **dict.fromkeys(PARQUET_SUFFIXES, "Parquet"),
    **dict.fromkeys(ARROW_SUFFIXES, "Arrow IPC"),
    ".npy": "NPY",
    ".npz": "NPZ",
}
_MAGIC = ((b"PAR1", "Parquet"), (b"ARROW1", "Arrow IPC"), (b"\xff\xff\xff\xff", "Arrow IPC"), (b"\x93NUMPY", "NPY"))
_EXCEL = "open it and save the sheet as CSV"
_PANDAS = "read it with pandas and pass the data frame"
_OTHERS = (  # (first bytes, what it is, what to do)
    (b"\xd0\xcf\x11\xe0", "an Excel workbook (.xls)", _EXCEL),
    (b"%PDF", "a PDF document", "export the table as CSV"),
    (b"\x89PNG", "an image", "export the table as CSV"),
    (b"\xff\xd8\xff", "an image", "export the table as CSV"),
    (b"GIF8", "an image", "export the table as CSV"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV, or pass a data frame"),
    (b"\x89HDF", "an HDF5 file", _PANDAS),
    (b"$FL2", "an SPSS file", _PANDAS),
    (b"$FL3", "an SPSS file", _PANDAS),
    (b"<stata_dta>", "a Stata file", _PANDAS),
    (b"\x00" * 12 + b"\xc2\xea\x81\x60", "a SAS file", _PANDAS),
    (b"RDX", "an R workspace", "write the data frame with write.csv in R"),
    (b"Obj\x01", "an Avro file", "pass it as a data frame"),
    (b"ORC", "an ORC file", "pass it as a data frame"),
    (b"\x80\x04\x95", "a Python pickle", "load it yourself and pass the data frame"),
    (b"\x80\x05\x95", "a Python pickle", "load it yourself and pass the data frame"),
)
_LIBSVM = re.compile(r"^[+-]?[\d.]+(?:[eE][+-]?\d+)?(?:,[\d.]+)*(?:\s+\d+:[+-]?[\d.]+(?:[eE][+-]?\d+)?)+\s*(?:#.*)?$")
_MARKUP = re.compile(rb"(?is)(<\?xml)|<(!doctype html|html|head|body|table)\b")


def file_kind(path: Path) -> str:
    """The format of a file: "delimited text", "JSON lines", "JSON records", "Parquet", "Arrow IPC", "NPY" or "NPZ".

    Raises
    ------
    ValueError
        If it is something else; the text says what, and what to do.
    """
    with path.open("rb") as file:
        start = file.read(HEAD)
    named = _BY_SUFFIX.get(_plain_suffix(path.name))
    found = next((kind for magic, kind in _MAGIC if start.startswith(magic)), None)
    if found is not None:
        return found
    for magic, what, remedy in _OTHERS:
        if start.startswith(magic):
            raise ValueError(f"it is {what}; {remedy}")
    packed = packing(path)
    if packed == "zip":
        return _archive_kind(path, named)
    if named in ("Parquet", "Arrow IPC", "NPY", "NPZ"):
        return named
    if packed:
        with unpacked(path) as content:
            start = content.read(HEAD)
    return _text_kind(start, named)


def _plain_suffix(name: str) -> str:
    return Path(re.sub(r"\.(gz|bz2|xz|zst|zip)$", "", name.lower())).suffix


def _archive_kind(path: Path, named: str | None) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            start = b"" if "mimetype" not in names else archive.read("mimetype")
    except zipfile.BadZipFile:
        return named or "delimited text"
    if any(name.startswith("xl/") for name in names):
        raise ValueError(f"it is an Excel workbook; {_EXCEL}")
    if b"opendocument" in start:
        raise ValueError(f"it is an OpenDocument file; {_EXCEL}")
    if any(name.startswith("word/") for name in names):
        raise ValueError("it is a Word document; export the table as CSV")
    if names and all(name.endswith(".npy") for name in names):
        return "NPZ"
    with unpacked(path) as content:
        return _text_kind(content.read(HEAD), named)


def _text_kind(start: bytes, named: str | None) -> str:
    """Of text: JSON, markup, libsvm or delimited."""
    plain = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if plain[:1] in (b"{", b"["):
        return _json_kind(plain, named)
    markup = _MARKUP.match(plain)
    if markup is not None:
        raise ValueError(f"it is {'an XML file' if markup[1] else 'an HTML page'}; save the table as CSV")
    lines = [line for line in plain[: HEAD // 2].decode("latin-1").splitlines()[:50] if line.strip()]
    if len(lines) > 1 and sum(_LIBSVM.match(line) is not None for line in lines[:-1]) > 0.9 * (len(lines) - 1):
        raise ValueError(
            "it is a libsvm (svmlight) file; read it with sklearn.datasets.load_svmlight_file and pass X.toarray()"
        )
    return named or "delimited text"


def _json_kind(plain: bytes, named: str | None) -> str:
    first, _, rest = plain.partition(b"\n")
    if plain[:1] == b"[" and plain[1:].lstrip()[:1] == b"{":
        return "JSON records"
    if named == "JSON lines":
        return named
    try:
        line = json.loads(first)
    except ValueError:
        line = None
    if isinstance(line, dict) and (rest.lstrip()[:1] == b"{" or (not rest.strip() and named)):
        return "JSON lines"
    if plain[:1] == b"{" and (line is not None or re.match(rb'\{\s*"', plain)):
        raise ValueError("it is a JSON document; write one object per line (JSON lines), or a CSV")
    if plain[:1] == b"[" and line is not None:
        raise ValueError("it is a JSON list; write one object per line (JSON lines), or a CSV")
    return named or "delimited text"
