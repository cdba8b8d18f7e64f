"""Values of any kind as JSON, so that an input can be kept in a file, sent to a worker and made smaller.

What JSON knows stands for itself; anything else is an object with one tag, such as {"date": "2024-01-01"}.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import zlib
from typing import Any

import numpy as np

ODD = {
    "object": object,
    "callable": lambda: lambda *_: None,
    "type": lambda: dict,
    "generator": lambda: (i for i in range(3)),
    "ellipsis": lambda: ...,
    "set": lambda: {1, 2},
    "range": lambda: range(4),
    "empty array": lambda: np.empty((0, 0)),
    "scalar array": lambda: np.array(3.0),
    "cube": lambda: np.zeros((2, 2, 2)),
    "structured": lambda: np.zeros(4, dtype=[("a", "f8"), ("b", "i4")]),
    "module": lambda: np,
}  # things that no parameter wants


def tag(value: Any) -> Any:
    """A value as JSON."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else {"int": str(value)}
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": repr(value)}
    if isinstance(value, datetime.datetime):
        return {"datetime": value.isoformat()}
    if isinstance(value, datetime.date):
        return {"date": value.isoformat()}
    if isinstance(value, datetime.time):
        return {"time": value.isoformat()}
    if isinstance(value, datetime.timedelta):
        return {"duration": [value.days, value.seconds, value.microseconds]}
    if isinstance(value, decimal.Decimal):
        return {"decimal": str(value)}
    if isinstance(value, complex):
        return {"complex": [tag(value.real), tag(value.imag)]}
    if isinstance(value, bytes):
        return {"bytes": packed(value)}
    if isinstance(value, list | tuple):
        return [tag(one) for one in value]
    if isinstance(value, dict):
        return {"dict": [[tag(key), tag(one)] for key, one in value.items()]}
    raise TypeError(f"no tag for {type(value).__name__}")


_UNTAGGED = {
    "int": int,
    "float": float,
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "duration": lambda parts: datetime.timedelta(*parts),
    "decimal": decimal.Decimal,
    "complex": lambda parts: complex(*map(untag, parts)),
    "bytes": lambda text: unpacked(text),
    "dict": lambda pairs: {untag(key): untag(one) for key, one in pairs},
    "odd": lambda name: ODD[name](),
    "numpy": lambda pair: np.dtype(pair[0]).type(untag(pair[1])),
    "array": lambda rows: np.array(untag(rows)),
    "tuple": lambda items: tuple(untag(items)),
}


def untag(value: Any) -> Any:
    """The value that JSON stands for."""
    if isinstance(value, list):
        return [untag(one) for one in value]
    if isinstance(value, dict):
        ((name, content),) = value.items()
        return _UNTAGGED[name](content)
    return value


def packed(content: bytes) -> str:
    """Bytes as text: squeezed if that makes them shorter."""
    squeezed = zlib.compress(content, 9)
    if len(squeezed) < len(content):
        return "z" + base64.b85encode(squeezed).decode()
    return "b" + base64.b85encode(content).decode()


def unpacked(text: str) -> bytes:
    """Bytes that `packed` has made text of."""
    content = base64.b85decode(text[1:])
    return zlib.decompress(content) if text[0] == "z" else content
