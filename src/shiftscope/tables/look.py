"""look(): what would be understood of one or two samples, before anything is compared."""

from __future__ import annotations

from typing import Unpack

from shiftscope.tables.column_choice import Columns, as_columns
from shiftscope.tables.file_readings import Look
from shiftscope.tables.options import TableKeywords, TableOptions
from shiftscope.tables.table import look_at


def look(
    reference: object,
    current: object = None,
    *,
    columns: Columns | None = None,
    **tables: Unpack[TableKeywords],
) -> Look:
    """What `compare` would understand of its samples: how files are written, and what their columns are.

    Of a file above 8 MB only its start, its middle and its end are read, and kinds are judged by these.

    Parameters
    ----------
    reference, current : array, data frame or path
        One sample, or two that belong together: kinds are decided on both.
    columns : Columns, optional
        Kinds that are declared.
    **tables
        How files are to be read where that is not to be found out: the fields of `TableOptions`.

    Returns
    -------
    Look
    """
    given = [reference] if current is None else [reference, current]
    return look_at(given, ["reference", "current"][: len(given)], as_columns(columns), TableOptions.of(tables))
