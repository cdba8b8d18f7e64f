"""Every file of the corpus is read as a careful person reads it, and `look` shows each decision."""

from __future__ import annotations

import numpy as np
import pytest

from shiftscope.tables.column_kinds import Column
from shiftscope.tables.look import look
from shiftscope.tables.table import Table, read_table
from tests.tables.corpus.cases import CASES, Case

LETTERS = {"number": "n", "date": "d", "time": "t", "category": "c"}


def found_kinds(table: Table) -> str:
    return "".join(LETTERS[column.kind] if isinstance(column, Column) else "-" for column in table.columns)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_file_of_the_corpus(tmp_path, case: Case) -> None:
    path = tmp_path / case.name
    path.write_bytes(case.content)
    table = read_table(path, "reference")
    assert table.names == tuple(case.columns)
    assert found_kinds(table) == case.kinds
    for column, expected in zip(table.columns, case.columns.values(), strict=True):
        if not isinstance(column, Column):
            continue
        if column.kind == "number":
            np.testing.assert_array_equal(column.values, np.array(expected, dtype=float))
        else:
            assert column.texts() == expected
    shown = str(look(path))
    assert not [said for said in case.said if said not in shown], shown


def test_names_of_cases_are_unique_enough() -> None:
    assert len(CASES) >= 100
