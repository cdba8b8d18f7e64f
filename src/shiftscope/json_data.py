"""Frozen dataclasses as the values that JSON knows, and back.

The types of the fields say what a file must hold, so there is nothing to keep in step by hand.
"""

from __future__ import annotations

import json
import math
import sys
import types
from dataclasses import MISSING, Field, fields, is_dataclass
from os import PathLike
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from shiftscope.output_files import write_text

FIELDS_SHOWN = 3  # of those that are missing
LARGEST_EXACT = 2.0**53  # whole numbers below are floats as well


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


class UnfitError(Exception):
    """A part of a file is not what the types ask for."""


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
        return math.inf if value is None else value if abs(value) < LARGEST_EXACT else float(value)
    _check(type(value) is kind, where, {bool: "true or false", int: "a whole number"}.get(kind, "text"), value)
    return value


def _from_object(kind: Any, value: Any, where: str) -> Any:
    _check(isinstance(value, dict), where, "an object", value)
    hints = get_type_hints(kind)
    missing = [field.name for field in fields(kind) if field.name not in value and _needed(field)]
    if missing:  # what is there is of no help, and long
        more = f" and {len(missing) - FIELDS_SHOWN} more" if len(missing) > FIELDS_SHOWN else ""
        raise UnfitError(f"{where} must be an object with {', '.join(missing[:FIELDS_SHOWN])}{more}")
    there = [field.name for field in fields(kind) if field.name in value]
    return kind(**{name: from_plain(hints[name], value[name], name) for name in there})


def _needed(field: Field[Any]) -> bool:
    """Whether a file must hold a field: one with a default may be younger than the file."""
    return field.default is MISSING and field.default_factory is MISSING


def _from_array(dtype: Any, value: Any, where: str) -> Any:
    _check(isinstance(value, list), where, "a list", value)
    (scalar,) = get_args(dtype)
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise UnfitError(f"{where} must be a list of numbers") from error
    if issubclass(scalar, np.integer):
        fits = bool(np.all(np.abs(array) < LARGEST_EXACT) and np.all(array == np.floor(array)))  # not so of NaN
        _check(fits, where, "a list of whole numbers", value)
    return array.astype(scalar)


def _from_list(inner: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    _check(isinstance(value, list), where, "a list", value)
    kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else list(inner)
    _check(len(kinds) == len(value), where, f"a list of {len(kinds)}", value)
    return tuple(from_plain(kind, item, where) for kind, item in zip(kinds, value, strict=True))


def _is_number(value: object) -> bool:
    """Whether a value is a number that a float can hold; JSON itself knows neither NaN nor infinity."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return math.isfinite(value) if isinstance(value, float) else abs(value) <= sys.float_info.max


def _check(holds: bool, where: str, rule: str, value: object) -> None:
    if not holds:
        raise UnfitError(f"{where} must be {rule}, got {repr(value)[:60]}")
