"""A saved JSON result -> the summary it was written from: reports can be drawn again without computing anything.

The types of the summary's fields say what the file must hold, so there is nothing to keep in step by hand.
"""

from __future__ import annotations

import json
import math
import types
from dataclasses import fields, is_dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from shiftscope.errors import InputError, ParameterError
from shiftscope.report.summary import SCHEMA, Summary

FIELDS_SHOWN = 3  # of those that are missing


def read_summary(path: str | PathLike[str]) -> Summary:
    """Read what `write_json` has written.

    Raises
    ------
    InputError
        If there is no such file, if it is not a result, or if its schema is another one.
    """
    saved = _parsed(path)
    schema = saved.get("schema") if isinstance(saved, dict) else None
    if schema is None:
        raise InputError(f"{str(path)!r} is not a result of shiftscope (no field schema); give a file of --json")
    if schema != SCHEMA:
        raise InputError(f"{str(path)!r} has schema {schema!r}, this version reads {SCHEMA}; compare again")
    try:
        summary = from_plain(Summary, saved, "result")
    except (UnfitError, ParameterError) as error:
        raise InputError(
            f"{str(path)!r} is not a whole result of this version ({error}): "
            "it is damaged or another version wrote it; compare again"
        ) from error
    assert isinstance(summary, Summary)
    return summary


def from_plain(kind: Any, value: Any, where: str) -> Any:
    """Rebuild a value of type `kind` from what JSON holds of it; `where` names it in messages."""
    if is_dataclass(kind):
        return _from_object(kind, value, where)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is np.ndarray:
        return _from_array(inner[1], value, where)
    if origin is tuple:
        return _from_list(inner, value, where)
    if origin in (Union, types.UnionType):
        return None if value is None else from_plain(next(one for one in inner if one is not type(None)), value, where)
    if origin is Literal:
        _check(value in inner, where, f"one of {', '.join(map(repr, inner))}", value)
        return value
    if kind is float:
        _check(value is None or _is_number(value), where, "a number", value)
        return math.inf if value is None else float(value)
    _check(type(value) is kind, where, {bool: "true or false", int: "a whole number"}.get(kind, "text"), value)
    return value


class UnfitError(Exception):
    """A part of the file is not what the summary asks for."""


def _parsed(path: str | PathLike[str]) -> object:
    try:
        return json.loads(Path(path).expanduser().read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}; give a file of --json") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{str(path)!r} is not JSON ({error}); give a file of --json") from error


def _from_object(kind: Any, value: Any, where: str) -> Any:
    _check(isinstance(value, dict), where, "an object", value)
    hints = get_type_hints(kind)
    missing = [field.name for field in fields(kind) if field.name not in value]
    if missing:  # what is there is of no help, and long
        more = f" and {len(missing) - FIELDS_SHOWN} more" if len(missing) > FIELDS_SHOWN else ""
        raise UnfitError(f"{where} must be an object with {', '.join(missing[:FIELDS_SHOWN])}{more}")
    return kind(**{field.name: from_plain(hints[field.name], value[field.name], field.name) for field in fields(kind)})


def _from_array(dtype: Any, value: Any, where: str) -> Any:
    _check(isinstance(value, list), where, "a list", value)
    (scalar,) = get_args(dtype)
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UnfitError(f"{where} must be a list of numbers") from error
    return array.astype(scalar)


def _from_list(inner: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    _check(isinstance(value, list), where, "a list", value)
    kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else list(inner)
    _check(len(kinds) == len(value), where, f"a list of {len(kinds)}", value)
    return tuple(from_plain(kind, item, where) for kind, item in zip(kinds, value, strict=True))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check(holds: bool, where: str, rule: str, value: object) -> None:
    if not holds:
        raise UnfitError(f"{where} must be {rule}, got {repr(value)[:60]}")
