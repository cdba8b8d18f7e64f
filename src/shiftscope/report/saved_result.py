"""A saved JSON result -> the summary it was written from: reports can be drawn again without computing anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

from shiftscope.errors import InputError, ParameterError, ShiftscopeError
from shiftscope.json_data import UnfitError, from_plain
from shiftscope.messages import one_line
from shiftscope.paths import as_path
from shiftscope.report.summary import SCHEMA, Summary


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


@contextmanager
def told_of(path: str | PathLike[str]) -> Iterator[None]:
    """Whatever a report of a saved result stumbles over lies in the file: each part fits, but not all together."""
    try:
        yield
    except (ShiftscopeError, OSError):
        raise
    except Exception as error:
        raise InputError(
            f"{str(path)!r} holds parts that do not fit together ({type(error).__name__}: {one_line(error)}); "
            "compare again"
        ) from error


def _parsed(path: str | PathLike[str]) -> object:
    try:
        return json.loads(as_path(path, "the result").read_text("utf-8"), parse_constant=_no_number)
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}; give a file of --json") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{str(path)!r} is not JSON ({error}); give a file of --json") from error


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")
