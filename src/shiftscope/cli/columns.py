"""The options about columns: which take part, and as what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from shiftscope.errors import ParameterError

if TYPE_CHECKING:
    from shiftscope.tables.column_choice import Columns

Include = Annotated[
    list[str] | None, typer.Option("--include", metavar="NAME", help="Compare this column; repeat for more.")
]
Exclude = Annotated[
    list[str] | None, typer.Option("--exclude", metavar="NAME", help="Leave this column out; repeat for more.")
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="NAME=KIND",
        help="Read a column as number, date, time, duration or category; repeat for more.",
    ),
]


def given_columns(include: list[str] | None, exclude: list[str] | None, kinds: list[str] | None) -> Columns | None:
    """The options about columns; None if there are none."""
    if not (include or exclude or kinds):
        return None
    from shiftscope.tables.column_choice import Columns

    pairs = [entry.rpartition("=") for entry in kinds or []]
    odd = next((entry for entry, (name, _, _) in zip(kinds or [], pairs, strict=True) if not name), None)
    if odd is not None:
        raise ParameterError(
            f"--kind {odd!r} must be a column, = and a kind, such as zip=category; add what is missing"
        )
    declared: dict[str, Any] = {name: kind for name, _, kind in pairs}  # checked by Columns
    return Columns(tuple(include) if include else None, tuple(exclude or ()), declared)
