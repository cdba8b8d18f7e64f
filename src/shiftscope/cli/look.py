"""The command `look`: what would be understood of one or two files."""

from __future__ import annotations

from typing import Annotated

import typer

from shiftscope.cli.columns import Kinds, given_columns
from shiftscope.cli.common import Debug, check_outputs, exit_codes, json_files, put_answer
from shiftscope.cli.tables import (
    Comment,
    DayFirst,
    Decimal,
    Delimiter,
    Encoding,
    Header,
    Missing,
    Names,
    Thousands,
    given_tables,
)


def look(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Any file that compare takes.")],
    other: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="What it is to be compared with: kinds are decided on both.")
    ] = None,
    json: Annotated[str | None, typer.Option("--json", metavar="PATH|-", help="Write all of it as JSON.")] = None,
    kind: Kinds = None,
    header: Header = None,
    names: Names = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    encoding: Encoding = None,
    missing: Missing = None,
    comment: Comment = None,
    day_first: DayFirst = None,
    debug: Debug = False,
) -> None:
    """Show what is understood of one or two files: how they are written, what their columns are, and doubts."""
    with exit_codes(debug):
        import shiftscope as ss

        tables = given_tables(header, names, delimiter, decimal, thousands, encoding, missing, comment, day_first)
        check_outputs(json_files(json), inputs=(file,) if other is None else (file, other))
        put_answer(ss.look(file, other, columns=given_columns(None, None, kind), **tables), json, quiet=False)
