"""Paths as users give them."""

from __future__ import annotations

import os
from pathlib import Path

from shiftscope.errors import InputError, ParameterError
from shiftscope.messages import shown


def as_path(path: object, name: str = "path") -> Path:
    """The path that a text or a path object stands for; `~` is the home folder, where there is such a user.

    Raises
    ------
    ParameterError
        If it is anything else; `name` says what was asked for.
    InputError
        If no file can have such a name.
    """
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str):
        raise ParameterError(f"{name} must be the path of a file, as text or a Path, got {shown(repr(path))}")
    if not text:
        raise InputError(f"{name} is empty; give the path of a file")
    if "\0" in text:
        raise InputError(f"{name} {shown(text)} holds a null character, which no file name can; check the path")
    return Path(os.path.expanduser(text))
