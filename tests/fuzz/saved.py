"""Files that shiftscope itself writes and reads again: detectors, histories and results; as written, or damaged.

A crafted detector has a checksum that fits: its content is what a person with bad intentions would choose.
"""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import shiftscope as ss
from shiftscope.questions import detector_file
from tests.fuzz.mutate import mutated
from tests.fuzz.tagged import untag
from tests.fuzz.values import BAD

JSON_BAD = [value for value in BAD if not isinstance(value, dict) or set(value) == {"int"}]


@cache
def tables() -> tuple[np.ndarray, np.ndarray]:
    """Two small samples that differ."""
    rng = np.random.default_rng(0)
    reference, current = rng.standard_normal((2, 60, 3))
    current[:25, :2] = 2.0 + 0.05 * rng.standard_normal((25, 2))
    return reference, current


def csv(which: int) -> bytes:
    """One of the samples as text: what the saved files belong to."""
    file = io.BytesIO()
    np.savetxt(file, tables()[which], delimiter=",", header="a,b,c", comments="")
    return file.getvalue()


@cache
def whole(kind: str) -> bytes:
    """A detector, a history or a result as shiftscope writes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "saved"
        files = [Path(folder) / f"{name}.csv" for name in ("reference", "b1", "b2")]
        for at, file in enumerate(files):
            file.write_bytes(csv(min(at, 1)))
        if kind == "result":
            ss.compare(*files[:2], params=ss.CompareParams(localise=ss.LocaliseParams(epochs=10))).to_json(path)
        else:
            detector = ss.ShiftDetector().fit(files[0])
            if kind == "detector":
                detector.save(path)
            else:
                ss.monitor(detector, {"b1": files[1], "b2": files[2]}, horizon=5, history=path)
        return path.read_bytes()


def saved(rng: Random, kind: str) -> bytes:
    """A saved file as it was, damaged, or crafted."""
    content, chance = whole(kind), rng.random()
    if chance < 0.15:
        return content
    if chance < 0.5:
        return mutated(rng, content)
    if kind == "detector":
        return _crafted(rng, content)
    lines = content.split(b"\n") if kind == "history" else [content]
    at = rng.randrange(max(1, len(lines) - 1))
    lines[at] = json.dumps(altered(rng, json.loads(lines[at])), indent=None if kind == "history" else 1).encode()
    return b"\n".join(lines)


def altered(rng: Random, value: Any, depth: int = 0) -> Any:
    """JSON with one part exchanged, removed, doubled or added."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        name, changed = rng.choice(list(value)), dict(value)
        if rng.random() < 0.1:
            del changed[name]
        else:
            changed[name] = altered(rng, value[name], depth + 1)
        return changed
    if isinstance(value, list) and value and rng.random() < 0.8:
        at, changed = rng.randrange(len(value)), list(value)
        what = rng.random()
        if what < 0.15:
            del changed[at]
        elif what < 0.3:
            changed.insert(at, changed[at])
        else:
            changed[at] = altered(rng, value[at], depth + 1)
        return changed
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.5:
        return rng.choice((-value, value + 1, value * 1e9, 10**400, 0, -1, 1e308))
    return untag(rng.choice(JSON_BAD))


def _crafted(rng: Random, content: bytes) -> bytes:
    """Another content under a checksum that fits."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    state, values = parts[detector_file.STATE], parts[detector_file.VALUES]
    if rng.random() < 0.7:
        state = json.dumps(altered(rng, json.loads(state))).encode()
    else:
        values = rng.choice((mutated(rng, values), _matrix(rng)))
    header = {**json.loads(parts[detector_file.HEADER]), "checksum": detector_file._checksum(state, values)}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, part in zip(parts, (json.dumps(header).encode(), state, values), strict=True):
            archive.writestr(zipfile.ZipInfo(name), part)
    return file.getvalue()


def _matrix(rng: Random) -> bytes:
    file = io.BytesIO()
    matrix = np.full((rng.choice((0, 2, 3)), rng.choice((0, 1, 60))), rng.choice((np.nan, np.inf, 1e308, -1.0)))
    np.save(file, matrix.astype(rng.choice(("f8", "f8", "f4", "i8", "U3"))))
    return file.getvalue()
