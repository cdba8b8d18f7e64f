"""A saved JSON result -> the summary it was written from: reports can be drawn again without computing anything."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path

from shiftscope.errors import InputError, ParameterError
from shiftscope.json_data import UnfitError, from_plain
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


def _parsed(path: str | PathLike[str]) -> object:
    try:
        return json.loads(Path(path).expanduser().read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}; give a file of --json") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{str(path)!r} is not JSON ({error}); give a file of --json") from error
