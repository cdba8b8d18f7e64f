"""Damage to the bytes of a file: what disks, transfers, editors and exports do to it."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from random import Random

BITS = 8
CHUNKS = (
    b"",
    b"\n",
    b"\r",
    b"\0",
    b",",
    b";",
    b"\t",
    b'"',
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"NaN",
    b"PK\3\4",
    b"\x80" * 9,
)


def _place(rng: Random, content: bytes) -> tuple[int, int]:
    start = rng.randrange(len(content) + 1)
    return start, min(len(content), start + rng.choice((1, 2, 4, 16, 64, 256)))


def _flip(rng: Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(BITS)
    return bytes(changed)


def _overwrite(rng: Random, content: bytes) -> bytes:
    start, end = _place(rng, content)
    return content[:start] + bytes([rng.choice((0, 255, 65, 48))]) * (end - start) + content[end:]


def _cut(rng: Random, content: bytes) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _drop(rng: Random, content: bytes) -> bytes:
    start, end = _place(rng, content)
    return content[:start] + content[end:]


def _repeat(rng: Random, content: bytes) -> bytes:
    start, end = _place(rng, content)
    return content[:end] + content[start:end] * rng.choice((1, 2, 10)) + content[end:]


def _insert(rng: Random, content: bytes) -> bytes:
    start = rng.randrange(len(content) + 1)
    return content[:start] + rng.choice(CHUNKS) + content[start:]


def _move(rng: Random, content: bytes) -> bytes:
    """Swap two pieces: lines that changed places, pages written out of order."""
    start, end = _place(rng, content)
    rest = content[:start] + content[end:]
    at = rng.randrange(len(rest) + 1)
    return rest[:at] + content[start:end] + rest[at:]


def _lines(rng: Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    at = rng.randrange(len(lines))
    what = rng.randrange(4)
    if what == 0:
        lines.insert(at, lines[rng.randrange(len(lines))])
    elif what == 1:
        del lines[at]
    elif what == 2:
        lines[at] = b""
    else:
        lines[at] += rng.choice((b",", b";1;2", b'"', b"\t", b" "))
    return b"\n".join(lines)


def _swapped_bytes(old: bytes, new: bytes) -> Callable[[Random, bytes], bytes]:
    return lambda _, content: content.replace(old, new)


def _decoded(encoding: str) -> Callable[[Random, bytes], bytes]:
    return lambda _, content: content.decode("utf-8", "replace").encode(encoding, "replace")


MUTATIONS: dict[str, Callable[[Random, bytes], bytes]] = {
    "flip": _flip,
    "overwrite": _overwrite,
    "cut": _cut,
    "drop": _drop,
    "repeat": _repeat,
    "insert": _insert,
    "move": _move,
    "lines": _lines,
    "empty": lambda rng, content: b"",
    "double": lambda rng, content: content + content,
    "semicolons": _swapped_bytes(b",", b";"),
    "decimal commas": _swapped_bytes(b".", b","),
    "old Mac": _swapped_bytes(b"\n", b"\r"),
    "no header": lambda rng, content: content.partition(b"\n")[2],
    "latin-1": _decoded("latin-1"),
    "utf-16": _decoded("utf-16"),
    "utf-32": _decoded("utf-32"),
    "cp037": _decoded("cp037"),
    "zipped": lambda rng, content: gzip.compress(content, mtime=0),
    "noise": lambda rng, content: rng.randbytes(len(content)),
}


def mutated(rng: Random, content: bytes) -> bytes:
    """One to three kinds of damage, one after the other."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        content = MUTATIONS[rng.choice(list(MUTATIONS))](rng, content)
    return content
