from __future__ import annotations

import datetime
import decimal
import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from numpy.typing import NDArray

from shiftscope.errors import InputError
from shiftscope.tables import TEXT_SHOWN, Table, listed, read_table, shown

VALUES = np.array([[1.5, -2.0, 0.0], [1e300, 3.0, 1e-300], [0.1, 7.25, -1e9], [4.0, 5.0, 6.0]])
NAMES = ("a", "b", "c")


def matrix(table: Table) -> NDArray[np.float64]:
    return np.column_stack(table.columns)


def fault(data: object, role: str = "reference") -> str:
    """The message of the InputError that `data` causes, checked to be one line that names the role."""
    with pytest.raises(InputError) as caught:
        read_table(data, role)
    message = str(caught.value)
    assert message.startswith(f"{role}: ")
    assert message.splitlines() == [message]
    assert message.isprintable()
    return message


def says(message: str, *parts: str) -> None:
    missing = [part for part in parts if part not in message]
    assert not missing, f"{message!r} lacks {missing}"


# Every form of input gives the same table


def csv_text(delimiter: str = ",") -> str:
    rows = [delimiter.join(NAMES)] + [delimiter.join(repr(float(v)) for v in row) for row in VALUES]
    return "\n".join(rows) + "\n"


def write(path: Path) -> Path:
    """Write VALUES in the format of the suffix."""
    frame = pl.DataFrame(dict(zip(NAMES, VALUES.T, strict=True)))
    name = path.name.lower()
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(csv_text().encode()))
    elif name.endswith((".csv", ".txt")):
        path.write_text(csv_text())
    elif name.endswith(".tsv"):
        path.write_text(csv_text("\t"))
    elif name.endswith((".parquet", ".pq")):
        frame.write_parquet(path)
    elif name.endswith(".npy"):
        np.save(path, VALUES)
    else:
        frame.write_ipc(path)
    return path


@pytest.mark.parametrize(
    "make",
    [
        lambda v: v,
        lambda v: np.asfortranarray(v),
        lambda v: v.astype(">f8"),
        lambda v: v.tolist(),
        lambda v: tuple(map(tuple, v)),
        lambda v: np.ma.masked_array(v),
        lambda v: [[decimal.Decimal(repr(float(x))) for x in row] for row in v],
    ],
)
def test_plain_arrays_and_lists_are_named_by_position(make):
    table = read_table(make(VALUES), "reference")
    assert table.names == ("x0", "x1", "x2")
    assert table.positional
    assert table.n_rows == 4
    assert all(column.dtype == np.float64 for column in table.columns)
    np.testing.assert_array_equal(matrix(table), VALUES)


@pytest.mark.parametrize(
    "make",
    [
        lambda columns: pd.DataFrame(columns),
        lambda columns: pd.DataFrame(columns).convert_dtypes(),
        lambda columns: pd.DataFrame(columns, index=[7, 7, 3, 1]),
        lambda columns: pd.DataFrame(columns).astype(pd.ArrowDtype(pa.float64())),
        lambda columns: pd.DataFrame(columns).astype(object),
        lambda columns: pl.DataFrame(columns),
        lambda columns: pl.LazyFrame(columns),
        lambda columns: pa.table(columns),
        lambda columns: pa.record_batch(columns),
    ],
)
def test_frames_keep_their_names(make):
    table = read_table(make(dict(zip(NAMES, VALUES.T.copy(), strict=True))), "current")
    assert table.names == NAMES
    assert not table.positional
    np.testing.assert_array_equal(matrix(table), VALUES)


@pytest.mark.parametrize(
    "name",
    [
        "t.csv",
        "t.CSV",
        "t.tsv",
        "t.txt",
        "t.csv.gz",
        "t.TXT.GZ",
        "t.parquet",
        "t.pq",
        "t.arrow",
        "t.feather",
        "t.ipc",
        "a[1]*.csv",
        "a[1]*.parquet",
        "a[1]*.arrow",
        "t.npy",
    ],
)
@pytest.mark.parametrize("as_path", [str, Path])
def test_files_of_every_format(tmp_path, name, as_path):
    table = read_table(as_path(write(tmp_path / name)), "reference")
    assert table.names == (("x0", "x1", "x2") if name.endswith(".npy") else NAMES)
    assert table.positional == name.endswith(".npy")
    np.testing.assert_array_equal(matrix(table), VALUES)


def test_feather_written_by_pandas(tmp_path):
    pd.DataFrame(VALUES, columns=NAMES).to_feather(tmp_path / "t.feather")
    np.testing.assert_array_equal(matrix(read_table(tmp_path / "t.feather", "reference")), VALUES)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_delimiter_is_taken_from_the_header(tmp_path, delimiter):
    path = tmp_path / "t.txt"
    path.write_text(f'"a,;|b"{delimiter}c{delimiter}d\n1{delimiter}2{delimiter}3\n4{delimiter}5{delimiter}6\n')
    table = read_table(path, "reference")
    assert table.names == ("a,;|b", "c", "d")
    np.testing.assert_array_equal(matrix(table), [[1, 2, 3], [4, 5, 6]])


def test_csv_numbers_however_written(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'\xef\xbb\xbfa, b ,"c",d,e\r\n+1, 2.5,"3",true,18446744073709551616\r\n1e3,.5 ,-4.,False,7\r\n')
    table = read_table(path, "reference")
    assert table.names == ("a", "b", "c", "d", "e")
    np.testing.assert_array_equal(matrix(table), [[1, 2.5, 3, 1, 2.0**64], [1000, 0.5, -4, 0, 7]])


def test_number_types_become_float64():
    frame = pd.DataFrame(
        {
            "uint8": np.array([1, 255], np.uint8),
            "uint64": np.array([1, 2**64 - 1], np.uint64),
            "bool": [True, False],
            "nullable": pd.array([3, 4], dtype="Int64"),
            "float16": np.array([1, 0.5], np.float16),
            "decimal": [decimal.Decimal("1.5"), decimal.Decimal(2)],
            "sparse": pd.arrays.SparseArray([0.0, 1.0]),
        }
    )
    expected = [[1, 1, 1, 3, 1, 1.5, 0], [255, 2.0**64, 0, 4, 0.5, 2, 1]]
    np.testing.assert_array_equal(matrix(read_table(frame, "reference")), expected)
    decimals = pl.DataFrame({"a": [decimal.Decimal("1.5"), decimal.Decimal(2)]})
    np.testing.assert_array_equal(matrix(read_table(decimals, "reference")), [[1.5], [2]])
    np.testing.assert_array_equal(matrix(read_table([[True, 2], [False, 10**30]], "current")), [[1, 2], [0, 1e30]])


@pytest.mark.parametrize("data", [np.array([1.0, 2, 4]), [1, 2, 4], pd.Series([1, 2, 4]), pl.Series([1, 2, 4])])
def test_one_dimension_is_one_column(data):
    table = read_table(data, "reference")
    assert table.names == ("x0",)
    np.testing.assert_array_equal(table.columns[0], [1.0, 2.0, 4.0])
    assert read_table(pd.Series([1, 2], name="age"), "reference").names == ("age",)


def test_float64_is_not_copied():
    assert np.shares_memory(read_table(VALUES, "reference").columns[1], VALUES)
    assert read_table(np.broadcast_to(1.0, (2, 3)), "reference").n_rows == 2


def test_names_that_are_not_text_become_text():
    assert read_table(pd.DataFrame(VALUES), "reference").names == ("0", "1", "2")
    several = pd.DataFrame(VALUES, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))
    assert read_table(several, "reference").names == ("('a', 1)", "('a', 2)", "('b', 1)")
    says(fault(pd.DataFrame(VALUES, columns=[1, "1", 2])), "named '1'", "rename")


# Every fault has its message


@pytest.mark.parametrize(
    ("data", "first"),
    [
        (pd.DataFrame({"ok": [1, 2, 3], "age": [1.0, np.nan, np.nan]}), 1),
        (pd.DataFrame({"ok": [1, 2, 3], "age": pd.array([1, None, None], dtype="Int64")}), 1),
        (pd.DataFrame({"ok": [1, 2, 3], "age": pd.Series([None, 1, pd.NA], dtype=object)}), 0),
        (pl.DataFrame({"ok": [1, 2, 3], "age": [1, None, None]}), 1),
        (pa.table({"ok": [1, 2, 3], "age": [None, True, None]}), 0),
        (pl.LazyFrame({"ok": [1, 2, 3], "age": [1.0, None, float("nan")]}), 1),
    ],
)
def test_missing_values(data, first):
    message = fault(data, "current")
    says(message, "column 'age' has 2 missing values", f"row {first}, counting from 0", "fill in", "drop")
    assert "'ok'" not in message


def test_missing_values_without_names():
    says(fault([[1, None], [2, 3]]), "column 'x1' has 1 missing value (first in row 0")
    masked = np.ma.masked_array(np.arange(12).reshape(4, 3), mask=VALUES == 5.0)
    says(fault(masked), "column 'x1' has 1 missing value (first in row 3")
    says(fault(pl.DataFrame({"n": [None, None]})), "column 'n' has 2 missing values")
    says(fault(pa.table({"n": pa.nulls(2)})), "column 'n' has 2 missing values")


def test_infinite_values():
    says(fault(np.array([[1, 2], [np.inf, 3]])), "column 'x0' has 1 infinite value (first in row 1", "drop")
    says(fault(np.array([[np.nan], [np.inf], [-np.inf]])), "1 missing and 2 infinite values (first in row 0")
    says(fault([[1.0], [10**400]]), "'x0' has 1 infinite value (first in row 1")
    says(fault([[decimal.Decimal("sNaN")], [1]]), "'x0' has 1 missing value (first in row 0")
    beyond = np.array([1, 2], np.longdouble) * np.finfo(np.float64).max
    if np.isfinite(beyond).all():  # only where long double is wider than double
        says(fault(beyond), "'x0' has 1 infinite value (first in row 1")


def test_missing_text_in_csv(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,d\n1,NA,2,\n2,nan,3,\ninf,4,5,\n")
    says(
        fault(path),
        "column 'a' has 1 infinite value (first in row 2",
        "column 'b' has 2 missing values (first in row 0",
        "column 'd' has 3 missing values",
    )


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"ok": [1, 2], "sex": ["1", "male"]}),
        pd.DataFrame({"ok": [1, 2], "sex": pd.Series([1, "male"], dtype=object)}),
        pd.DataFrame({"ok": [1, 2], "sex": pd.Categorical([None, "male"])}),
        pl.DataFrame({"ok": [1, 2], "sex": [None, "male"]}),
        pl.DataFrame({"ok": [1, 2], "sex": pl.Series(["1", "male"], dtype=pl.Enum(["1", "male"]))}),
        pa.table({"ok": [1, 2], "sex": pa.array([None, "male"]).dictionary_encode()}),
    ],
)
def test_text_where_numbers_belong(data):
    message = fault(data)
    says(message, "column 'sex' holds text such as 'male' (row 1", "convert text to numbers or drop the column")
    assert "'ok'" not in message


def test_text_in_arrays_and_lists():
    says(
        fault(np.array([["1", "2"], ["3", "x"]])),
        "'x0' holds text such as '1'",
        "'x1' holds text such as 'x' (row 1",
    )
    message = fault([[1, "a"], [2, "b"]])
    says(message, "column 'x1' holds text such as 'a' (row 0")
    assert "'x0'" not in message
    says(fault(["a", "b"]), "column 'x0' holds text such as 'a'")


def test_numbers_stored_as_text_in_a_frame():
    says(fault(pl.DataFrame({"a": ["1", "2"]})), "column 'a' holds text such as '1'", "convert text to numbers")
    says(fault(pd.DataFrame({"a": pd.Categorical([1, 2])})), "column 'a' holds text such as '1'")


def test_csv_names_the_first_text_value(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n 3,4\n5,1.2.3\n6,oops\n")
    message = fault(path)
    says(message, "column 'b' holds text such as '1.2.3' (row 2, counting from 0)", "drop the column")
    assert "'a'" not in message


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2021-01-01"])}),
        pd.DataFrame({"when": [datetime.date(2020, 1, 1)] * 2}),
        pd.DataFrame({"when": pd.to_timedelta([1, 2], unit="s")}),
        pl.DataFrame({"when": [datetime.date(2020, 1, 1)] * 2}),
        pl.DataFrame({"when": [datetime.time(12)] * 2}),
        pa.table({"when": [datetime.datetime(2020, 1, 1)] * 2}),
    ],
)
def test_dates(data):
    says(fault(data), "column 'when' holds dates or times such as ", "days since a start", "drop the column")


def test_other_values():
    says(
        fault(np.array(["2020-01-01", "2021-01-01"], "M8[D]")),
        "'x0' holds dates or times such as '2020-01-01'",
    )
    says(fault(np.array([[1j, 2]])), "'x0' holds complex numbers such as '1j'", "real and imaginary")
    says(fault(pd.DataFrame({"z": [1j, 2]})), "'z' holds complex numbers")
    says(fault(pl.DataFrame({"l": [[1], [2]]})), "'l' holds values that are not numbers", "drop the column")
    says(
        fault(pl.DataFrame({"s": [{"a": 1}] * 2})),
        "'s' holds values that are not numbers such as \"{'a': 1}\"",
    )
    says(
        fault(pd.DataFrame({"p": pd.period_range("2020", periods=2)})),
        "'p' holds values that are not numbers",
    )
    says(fault([{"a": 1}, {"a": 2}]), "'x0' holds values that are not numbers")
    says(fault(pl.DataFrame({"b": [b"x", b"y"]})), "'b' holds text such as \"b'x'\"")


def test_several_faults_in_one_line():
    columns = {
        "m": [None, 1.0],
        "t": ["x", "y"],
        "u": ["1", "z"],
        "v": ["x", "y"],
        "ok": [1, 2],
        "w": ["x", "y"],
    }
    message = fault(pl.DataFrame(columns))
    says(message, "'m' has 1 missing value", "'t' holds text", "'u' holds text such as 'z'", "2 more columns")
    says(message, "fill in such values", "convert text to numbers")
    assert message.count("convert text") == 1
    assert "'v'" not in message
    del columns["w"]
    says(fault(pl.DataFrame(columns)), "and 1 more column cannot")


def test_duplicate_names(tmp_path):
    remedy = "rename"
    says(fault(pd.DataFrame(VALUES, columns=["a", "b", "a"])), "more than one column is named 'a'", remedy)
    arrays = [pa.array([1, 2]), pa.array([3, 4])]
    says(fault(pa.table(arrays, names=["a", "a"])), "more than one column is named 'a'", remedy)
    path = tmp_path / "t.csv"
    path.write_text("a,b,a\n1,2,3\n4,5,6\n")
    says(fault(path), "more than one column is named 'a'", remedy)


def test_empty_name(tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame(VALUES, columns=NAMES).to_csv(path)
    says(fault(path), "column 0 (counting from 0) has an empty name", "name it or drop it", "row index")
    says(fault(pl.DataFrame({"a": [1, 2], "": [3, 4]})), "column 1 (counting from 0) has an empty name")


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (np.empty((0, 3)), "no rows"),
        (np.ones((1, 3)), "1 row"),
        (np.empty(0), "no rows"),
        ([], "no rows"),
        ([[1, 2]], "1 row"),
        (pd.DataFrame({"a": []}), "no rows"),
        (pd.DataFrame({"a": pd.Categorical([])}), "no rows"),
        (pl.DataFrame({"a": []}, schema={"a": pl.String}), "no rows"),
    ],
)
def test_too_few_rows(data, found):
    says(fault(data, "current"), f"has {found};", "at least 2 rows", "give more data")


def test_csv_with_a_header_only(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n")
    says(fault(path), "has no rows; each sample needs at least 2 rows")


@pytest.mark.parametrize("data", [np.empty((3, 0)), pd.DataFrame(index=range(3)), pl.DataFrame(), [[], []]])
def test_no_columns(data):
    says(fault(data), "has no columns", "at least one column")


def test_shapes_and_types_that_are_no_table():
    says(fault(np.ones((2, 2, 2))), "3 dimensions", "2-D array")
    says(fault(np.array(3.0)), "0 dimensions", "2-D array")
    says(fault(np.array([[1, 2], [3, 4]], dtype=object)), "dtype 'object'", ".astype(float)")
    says(fault(np.zeros(2, dtype=[("a", float)])), "dtype", "data frame")
    says(fault([[1, 2], [3, 4], [5]]), "rows differ in length (2 values in row 0, 1 in row 2)", "same number")
    says(fault([[1, 2], 3]), "rows differ in length (2 values in row 0, 1 in row 1)")
    says(fault(scipy.sparse.csr_array(VALUES)), "sparse matrix", ".toarray()")
    says(fault({"a": [1, 2]}), "type dict", "pass a 2-D NumPy array", "data frame", "file")
    says(fault(None), "type NoneType")
    says(fault(iter([1, 2])), "type list_iterator")


# Files


def test_files_that_are_not_there(tmp_path):
    says(fault(tmp_path / "no.csv"), "there is no file", "no.csv", "check the path")
    says(fault(tmp_path), "is a directory", "one file")
    says(fault("x" * 5000), "there is no file")
    says(fault("a\0b.csv"), "there is no file")
    says(fault(pl.scan_parquet(tmp_path / "no.parquet")), "lazy frame cannot be collected", "repair its source")


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.parquet.gz", "t.gz", ".csv"])
def test_unknown_suffix(tmp_path, name):
    (tmp_path / name).write_text("a\n1\n2\n")
    says(
        fault(tmp_path / name),
        "unknown suffix",
        "convert",
        ".csv",
        ".tsv",
        ".txt",
        ".gz",
        ".parquet",
        ".arrow",
        ".npy",
    )


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.npy", "t.csv.gz"])
def test_corrupt_files(tmp_path, name):
    path = write(tmp_path / name)
    whole = path.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"garbage" * 20):
        path.write_bytes(damaged)
        says(fault(path), name, "cannot be read as", "write the file again")


def test_corrupt_text(tmp_path):
    path = tmp_path / "t.csv"
    for content in (
        b"",
        b"\xff\xfe\x00",
        b"a,b\n1,\xe9\n",
        b"a,\xe9\n1,2\n",
        b"a,b\n1,2,3\n",
        b"a,b\r1,2\r3,4\r",
    ):
        path.write_bytes(content)
        says(fault(path), "t.csv", "cannot be read as delimited UTF-8 text", "write the file again")


def test_corrupt_header_of_npy(tmp_path):
    path = write(tmp_path / "t.npy")
    path.write_bytes(path.read_bytes().replace(b"'shape'", b"'shape("))
    says(fault(path), "cannot be read as NPY", "write the file again")


def test_pickles_are_never_loaded(tmp_path):
    np.save(tmp_path / "t.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
    says(fault(tmp_path / "t.npy"), "cannot be read as NPY")
    np.save(tmp_path / "t.npy", np.ones((2, 2, 2)))
    says(fault(tmp_path / "t.npy"), "3 dimensions")


# Hostile names and values stay harmless in a message


def test_hostile_names_are_quoted_and_cut():
    name = "<script>\n\x1b[31m\u202e" + "x" * 10_000
    message = fault(pl.DataFrame({name: ["\r\n<b>" + "y" * 10_000, "z"]}))
    says(message, r"'<script>\n\x1b[31m\u202exxx", r"'\r\n<b>yyy")
    assert len(message) < 300


def test_shown_and_listed():
    assert shown("a") == "'a'"
    assert shown(np.str_("a")) == "'a'"
    assert shown("é😀") == "'é😀'"
    assert len(shown("x" * 1000)) == TEXT_SHOWN
    assert listed(["a"]) == "'a'"
    assert listed(list("abcde")) == "'a', 'b', 'c' and 2 more"
