"""The options about tables that all commands share: how files are to be read where that is not to be found out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from shiftscope.tables.options import TableKeywords

Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="The first line holds the names of the columns, or does not."),
]
Names = Annotated[
    str | None, typer.Option("--names", metavar="A,B,...", help="Names of the columns, instead of those in the file.")
]
Delimiter = Annotated[
    str | None,
    typer.Option("--delimiter", metavar="SIGN", help="Such as ; or tab or blank: what cuts a line into fields."),
]
Decimal = Annotated[str | None, typer.Option("--decimal", metavar="SIGN", help="Decimal sign: . or ,")]
Thousands = Annotated[
    str | None, typer.Option("--thousands", metavar="SIGN", help="What groups digits: , or . or ' or a blank.")
]
Encoding = Annotated[str | None, typer.Option("--encoding", metavar="NAME", help="Such as utf-8 or cp1252.")]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="TEXT",
        help="What stands for a missing value, such as -200 or ? (or NAME=TEXT for one column); repeat for more.",
    ),
]
Comment = Annotated[
    str | None,
    typer.Option("--comment", metavar="SIGN", help="What lines begin with that are no data; '' for nothing."),
]
DayFirst = Annotated[bool | None, typer.Option("--day-first/--month-first", help="How 3/4/2024 is to be read.")]


def given_tables(
    header: bool | None,
    names: str | None,
    delimiter: str | None,
    decimal: str | None,
    thousands: str | None,
    encoding: str | None,
    missing: list[str] | None,
    comment: str | None,
    day_first: bool | None,
) -> TableKeywords:
    """The options as keywords of the public functions."""
    return {
        "header": header,
        "names": None if names is None else [name.strip() for name in names.split(",")],
        "delimiter": delimiter,
        "decimal": decimal,
        "thousands": thousands,
        "encoding": encoding,
        "missing": missing,
        "comment": comment,
        "day_first": day_first,
    }
