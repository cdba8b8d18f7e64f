"""Frozen results as JSON text."""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from os import PathLike

import numpy as np

from shiftscope.output_files import write_text


def write_fields(result: object, schema: int, path: str | PathLike[str] | None, without: str = "") -> str:
    """The fields of a result, but for the one called `without`, as JSON text; also written to `path` if given."""
    shown = {name: plain(value) for name, value in vars(result).items() if name != without}
    text = json.dumps({"schema": schema, **shown}, indent=1)
    if path is not None:
        write_text(path, text)
    return text


def plain(value: object) -> object:
    """Dataclasses, tuples and arrays as JSON knows them; a number that is not finite becomes null."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
