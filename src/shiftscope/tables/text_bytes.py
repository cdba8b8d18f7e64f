"""The bytes of a text file: unpacked, sampled and turned into UTF-8, in bounded memory."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import polars as pl

WHOLE = 8 << 20  # bytes up to which a file is looked at as a whole
PIECE = 1 << 19  # of a larger one, so much of its start, its middle and its end
PACKED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}
_OPENERS: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
_MARKS = (  # UTF-32 before UTF-16, whose mark begins alike
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)


@dataclass(frozen=True)
class Sample:
    """Some of a text file.

    Attributes
    ----------
    pieces
        Whole lines from the start, the middle and the end; one piece if that is the whole file or it is packed.
    whole
        All of the file is there.
    packed
        How the file is packed; "" if it is not.
    size
        Bytes of the whole text, estimated for a packed file that is not read to its end.
    """

    pieces: tuple[bytes, ...]
    whole: bool
    packed: str
    size: int


def packing(path: Path) -> str:
    """How a file is packed, by its first bytes; "" if it is not."""
    with path.open("rb") as file:
        start = file.read(8)
    return next((name for magic, name in PACKED.items() if start.startswith(magic)), "")


def sampled(path: Path) -> Sample:
    """The whole of a small file, and three pieces of a large one."""
    packed, size = packing(path), path.stat().st_size
    with unpacked(path) as file:
        start = file.read(WHOLE + 1)
        if len(start) <= WHOLE:
            return Sample((start,), True, packed, len(start))
        wide = _wide(start)
        if packed or wide:
            size = _unpacked_size(path, packed, file, len(start)) if packed else size
            return Sample((_whole_lines(start[: 3 * PIECE], wide),), False, packed, size)
        pieces = [_whole_lines(start[:PIECE])]
        for at in (size // 2, size - PIECE):
            file.seek(at)
            piece = file.read(PIECE)
            piece = piece[piece.find(b"\n") + 1 :]
            pieces.append(piece if at == size - PIECE else _whole_lines(piece))
    return Sample(tuple(pieces), False, packed, size)


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """A file open for reading, as if it were not packed."""
    packed = packing(path)
    if packed == "zip":
        with zipfile.ZipFile(path) as archive, archive.open(_only_member(archive)) as file:
            yield file
    elif packed == "zstd":
        yield io.BytesIO(_zstd(path))
    else:
        with _OPENERS.get(packed, open)(path, "rb") as file:
            yield file


def encoding_of(sample: Sample) -> str:
    """The encoding by its mark, else UTF-8 if the sample is, else Windows-1252, which western programs write.

    Raises
    ------
    ValueError
        If the text is neither.
    """
    start = sample.pieces[0]
    marked = next((name for mark, name in _MARKS if start.startswith(mark)), None)
    if marked is not None:
        return marked
    if _wide(start):
        return "utf-16-le" if start[1:2] == b"\0" else "utf-16-be"
    if any(b"\0" in piece for piece in sample.pieces):
        raise ValueError("neither UTF-8, UTF-16 nor Windows-1252 text")
    return "utf-8" if all(_decodes(piece, "utf-8") for piece in sample.pieces) else western(sample.pieces)


def western(pieces: tuple[bytes, ...]) -> str:
    """Windows-1252, if all bytes have a meaning there."""
    if all(_decodes(piece, "cp1252") for piece in pieces):
        return "cp1252"
    raise ValueError("neither UTF-8, UTF-16 nor Windows-1252 text")


def _whole_lines(piece: bytes, wide: bool = False) -> bytes:
    end = piece.rfind(b"\n")
    if wide:
        return piece[: len(piece) // 4 * 4]
    return piece[: end + 1] if end >= 0 else piece


def _wide(start: bytes) -> bool:
    """Whether every other byte is zero, as in UTF-16 without a mark, or a mark says so."""
    if start.startswith(tuple(mark for mark, name in _MARKS if name != "utf-8-sig")):
        return True
    head = start[:256]
    return (
        len(head) >= 4
        and any(head[at::2].count(0) > 0.4 * len(head) for at in (0, 1))
        and head.count(0) < 0.6 * len(head)
    )


def _decodes(piece: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(piece)  # the last character may be cut
    except UnicodeDecodeError:
        return False
    return True


def _unpacked_size(path: Path, packed: str, file: IO[bytes], seen: int) -> int:
    """Bytes of a packed text: as gzip wrote them down, or from how much of the file gave the `seen` first ones."""
    if packed == "gzip":
        with path.open("rb") as raw:
            raw.seek(-4, os.SEEK_END)
            written = int.from_bytes(raw.read(4), "little")
        if written >= seen:  # it is kept modulo 4 GB
            return written
    inner = getattr(file, "_fp", None) or getattr(getattr(file, "_buffer", None), "raw", None) or file
    inner = getattr(inner, "_fp", None) or getattr(inner, "_file", None) or inner
    try:
        return int(seen * path.stat().st_size / max(1, inner.tell()))
    except (OSError, ValueError, AttributeError):
        return seen


def _only_member(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    members = [
        entry for entry in archive.infolist() if not entry.is_dir() and not entry.filename.startswith("__MACOSX")
    ]
    if len(members) != 1:
        names = ", ".join(entry.filename for entry in members[:3])
        raise ValueError(f"the archive holds {len(members)} files ({names}); unpack it and give one of them")
    return members[0]


def _zstd(path: Path) -> bytes:
    """Unpacked by polars, which reads each line as one value."""
    lines = pl.read_csv(
        path,
        has_header=False,
        separator="\x01",
        quote_char=None,
        schema={"line": pl.String},
        empty_string_is_null=False,
    )
    return "\n".join(line or "" for line in lines["line"]).encode() + b"\n"
