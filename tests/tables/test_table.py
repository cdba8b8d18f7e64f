from __future__ import annotations

import datetime
import decimal
import gzip
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from numpy.typing import NDArray

from shiftscope.errors import InputError
from shiftscope.tables.column_kinds import Column, Unusable, number_text
from shiftscope.tables.table import Table, joined, read_table

VALUES = np.array([[1.5, -2.0, 0.0], [1e300, 3.0, 1e-300], [0.1, 7.25, -1e9], [4.0, 5.0, 6.0]])
NAMES = ("a", "b", "c")


def matrix(table: Table) -> NDArray[np.float64]:
    return np.column_stack([column.values for column in table.columns if isinstance(column, Column)])


def column(data: object) -> Column | Unusable:
    """The only or the last column of a table."""
    return read_table(data, "reference").columns[-1]


def levels(data: object) -> list[str | None]:
    """The texts of a column that is read as a category."""
    found = column(data)
    assert isinstance(found, Column)
    assert found.kind == "category"
    return found.texts()


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
    if name.endswith(".jsonl.gz"):
        path.write_bytes(gzip.compress(frame.write_ndjson().encode()))
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(csv_text().encode()))
    elif name.endswith((".csv", ".txt")):
        path.write_text(csv_text())
    elif name.endswith(".tsv"):
        path.write_text(csv_text("\t"))
    elif name.endswith((".parquet", ".pq")):
        frame.write_parquet(path)
    elif name.endswith(".npy"):
        np.save(path, VALUES)
    elif name.endswith(".npz"):
        np.savez(path, **dict(zip(NAMES, VALUES.T, strict=True)))
    elif name.endswith((".jsonl", ".ndjson")):
        frame.write_ndjson(path)
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
    assert all(column.values.dtype == np.float64 for column in table.columns)
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
        lambda columns: pa.RecordBatchReader.from_batches(
            pa.table(columns).schema, pa.table(columns).to_batches(max_chunksize=3)
        ),
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
        "t.npz",
        "t.jsonl",
        "t.ndjson",
        "t.jsonl.gz",
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
    np.testing.assert_array_equal(table.columns[0].values, [1.0, 2.0, 4.0])
    assert read_table(pd.Series([1, 2], name="age"), "reference").names == ("age",)


def test_float64_is_not_copied():
    assert np.shares_memory(read_table(VALUES, "reference").columns[1].values, VALUES)
    assert read_table(np.broadcast_to(1.0, (2, 3)), "reference").n_rows == 2


def test_names_that_are_not_text_become_text():
    assert read_table(pd.DataFrame(VALUES), "reference").names == ("0", "1", "2")
    several = pd.DataFrame(VALUES, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))
    assert read_table(several, "reference").names == ("('a', 1)", "('a', 2)", "('b', 1)")
    says(fault(pd.DataFrame(VALUES, columns=[1, "1", 2])), "named '1'", "rename")


# Kinds other than numbers


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"age": [1.0, np.nan, np.nan]}),
        pd.DataFrame({"age": pd.array([1, None, None], dtype="Int64")}),
        pd.DataFrame({"age": pd.Series([1, None, pd.NA], dtype=object)}),
        pl.DataFrame({"age": [1, None, None]}),
        pa.table({"age": [True, None, None]}),
        pl.LazyFrame({"age": [1.0, None, float("nan")]}),
        [[1], [None], [None]],
        [[decimal.Decimal(1)], [decimal.Decimal("sNaN")], [None]],
        np.ma.masked_array([1, 2, 3], mask=[False, True, True]),
    ],
)
def test_missing_numbers_are_nan(data):
    np.testing.assert_array_equal(column(data).values, [1.0, np.nan, np.nan])


def test_a_column_without_any_value():
    for data in (pl.DataFrame({"n": [None, None]}), pa.table({"n": pa.nulls(2)}), pd.DataFrame({"n": [None, None]})):
        assert column(data).empty


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"ok": [1, 2], "sex": ["male", None]}),
        pd.DataFrame({"ok": [1, 2], "sex": pd.Series(["male", np.nan], dtype=object)}),
        pd.DataFrame({"ok": [1, 2], "sex": pd.Categorical(["male", None])}),
        pl.DataFrame({"ok": [1, 2], "sex": ["male", None]}),
        pl.DataFrame({"ok": [1, 2], "sex": pl.Series(["male", None], dtype=pl.Enum(["1", "male"]))}),
        pa.table({"ok": [1, 2], "sex": pa.array(["male", None]).dictionary_encode()}),
        [[1, "male"], [2, None]],
    ],
)
def test_text_is_a_category(data):
    assert levels(data) == ["male", None]


def test_categories_of_numbers_and_mixed_values():
    assert levels(pd.DataFrame({"a": pd.Categorical([1, 2])})) == ["1", "2"]
    assert levels(pl.DataFrame({"a": ["1", "2"]})) == ["1", "2"]
    assert levels(pd.DataFrame({"a": pd.Series([1, "x", 2.5, True], dtype=object)})) == ["1", "x", "2.5", "True"]
    assert levels(np.array(["a", "b"])) == ["a", "b"]
    assert levels(np.array([["1", "2"], ["3", "x"]], dtype=object)) == ["2", "x"]


@pytest.mark.parametrize(
    ("data", "kind", "seconds"),
    [
        (pd.DataFrame({"when": pd.to_datetime(["1970-01-02", None])}), "date", 86400.0),
        (pd.DataFrame({"when": pd.to_datetime(["1970-01-02", None], utc=True)}), "date", 86400.0),
        (pd.DataFrame({"when": [datetime.date(1970, 1, 2), None]}), "date", 86400.0),
        (pd.DataFrame({"when": pd.to_timedelta([1, None], unit="s")}), "duration", 1.0),
        (pl.DataFrame({"when": [datetime.date(1970, 1, 2), None]}), "date", 86400.0),
        (pl.DataFrame({"when": [datetime.time(12), None]}), "time", 43200.0),
        (pa.table({"when": [datetime.datetime(1970, 1, 1, 1), None]}), "date", 3600.0),
        (np.array(["1970-01-02", "NaT"], "M8[D]"), "date", 86400.0),
    ],
)
def test_times_are_seconds(data, kind, seconds):
    found = column(data)
    assert found.kind == kind
    np.testing.assert_array_equal(found.values, [seconds, np.nan])


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (np.array([[1j, 2], [3, 4]]), "complex numbers"),
        (pl.DataFrame({"l": [[1], [2]]}), "nested values such as '[1]'"),
        (pl.DataFrame({"s": [{"a": 1}] * 2}), "nested values such as \"{'a': 1}\""),
        (pd.DataFrame({"p": pd.period_range("2020", periods=2)}), "values of type Period"),
        (pd.DataFrame({"o": [object(), 1]}), "values of type int and object"),
        ([{"a": 1}, {"a": 2}], "nested values"),
        (np.array([1, 2], dtype="m8[M]"), "spans of months or years"),
        (pl.DataFrame({"b": [b"x", b"y"]}), "bytes"),
        (pd.DataFrame({"b": pd.Categorical([b"\x80", b"y"])}), "bytes"),
    ],
)
def test_values_that_cannot_take_part(data, part):
    found = column(data)
    assert isinstance(found, Unusable)
    assert part in found.reason
    assert found.reason.splitlines() == [found.reason]


@pytest.mark.parametrize(
    "text", ["n,ok,x\na,true,\nb,false,1.5\nc,true,2\nd,true,3\n", "n,x\na,\nb,\nc,3\nd,4\ne,5\nf,6\n"]
)
def test_gaps_in_the_first_rows_make_no_names_of_them(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    table = read_table(path, "reference")
    assert table.names == tuple(text.partition("\n")[0].split(","))
    assert table.n_rows == text.count("\n") - 1


def test_numbers_as_levels():
    found = [number_text(value) for value in (3.0, 0.5, -0.0, 1e300, np.inf, -np.inf)]
    assert found == ["3", "0.5", "0", "1e+300", "inf", "-inf"]


def test_csv_of_every_kind(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("n,city,day,gap,ok\n1,Bonn,2024-01-01,,true\n2, Ulm ,2024-01-02T12:00:00,3,false\n3,NA,,4,NA\n")
    table = read_table(path, "reference")
    assert [c.kind for c in table.columns] == ["number", "category", "date", "number", "number"]
    assert table.columns[1].texts() == ["Bonn", "Ulm", None]
    np.testing.assert_array_equal(table.columns[2].values, [1704067200, 1704196800, np.nan])
    np.testing.assert_array_equal(table.columns[4].values, [1, 0, np.nan])


def test_csv_with_decimal_commas_in_the_windows_encoding(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("größe;preis;ort\n1,5;1.234,5;Köln\n-2;7;Bonn\n".encode("cp1252"))
    table = read_table(path, "reference")
    assert table.names == ("größe", "preis", "ort")
    np.testing.assert_array_equal(matrix(table)[:, :2], [[1.5, 1234.5], [-2, 7]])
    assert table.columns[2].texts() == ["Köln", "Bonn"]
    path.write_bytes("a,b\n1,é\n2,f\n".encode("utf-16"))
    assert levels(path) == ["é", "f"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"a,b\n1,x\n2,y\n\n \n\n", {"a": [1, 2], "b": ["x", "y"]}),
        (b"\r\n\r\na,b\r\n1,x\r\n\r\n2,y\r\n", {"a": [1, 2], "b": ["x", "y"]}),
        (b"a,b\r1,x\r2,y\r", {"a": [1, 2], "b": ["x", "y"]}),
        (b'a,b\n1,"x\n\ny"\n\n2,z\n', {"a": [1, 2], "b": ["x\n\ny", "z"]}),
        (b"a\n1\n\n2\n\n", {"a": [1, None, 2]}),
        (b'a,b\n1,5" pipe\n2,6" pipe\n', {"a": [1, 2], "b": ['5" pipe', '6" pipe']}),
        (b"a;b, c\n1;x, y\n2;z\n", {"a": [1, 2], "b, c": ["x, y", "z"]}),
        (b"first name,b\nx y,1\nz w,2\n", {"first name": ["x y", "z w"], "b": [1, 2]}),
        (b"a b\n1 x\n2 y\n", {"a": [1, 2], "b": ["x", "y"]}),
        (b'a,b\n"1,234.5",x\n"1,234,567",y\n', {"a": [1234.5, 1234567], "b": ["x", "y"]}),
        (b"a;b\n1,234;x\n2,345;y\n", {"a": [1.234, 2.345], "b": ["x", "y"]}),
        (b"t,b\n10:30,x\n23:59:59.5,<NA>\n#N/A,y\n", {"t": [37800, 86399.5, None], "b": ["x", None, "y"]}),
        (b"t,b\n10:30,x\n24:30,y\n", {"t": ["10:30", "24:30"], "b": ["x", "y"]}),
        ("a,b\n1,é\n2,x\n".encode("utf-32"), {"a": [1, 2], "b": ["é", "x"]}),
        ("\ufeffa,b\n1,é\n2,x\n".encode(), {"a": [1, 2], "b": ["é", "x"]}),
        (gzip.compress(b"a,b\n1,x\n2,y\n", mtime=0), {"a": [1, 2], "b": ["x", "y"]}),
        (b"2019,2020\n1,3\n2,4\n", {"2019": [1, 2], "2020": [3, 4]}),
    ],
)
def test_delimited_text_however_written(tmp_path, text, found):
    path = tmp_path / "t.csv"
    path.write_bytes(text)
    table = read_table(path, "reference")
    assert table.names == tuple(found)
    for column_, values in zip(table.columns, found.values(), strict=True):
        if column_.kind == "category":
            assert column_.texts() == values
        else:
            np.testing.assert_array_equal(column_.values, np.array(values, dtype=float))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (b"a,b\n1,2\n3,4,5\n", "line 3 has 3 fields and the table 2; quote fields that hold the delimiter"),
        (b"a,b\n1,\x81\n2,y\n", "neither UTF-8, UTF-16 nor Windows-1252 text"),
    ],
)
def test_delimited_text_that_is_no_table(tmp_path, text, part):
    path = tmp_path / "t.csv"
    path.write_bytes(text)
    with pytest.raises(InputError) as caught:
        read_table(path, "current")
    assert part in str(caught.value)


def test_arrow_streams_and_categories_of_pandas(tmp_path):
    pl.DataFrame({"a": [1.0, 2.0]}).write_ipc_stream(tmp_path / "t.arrow")
    np.testing.assert_array_equal(matrix(read_table(tmp_path / "t.arrow", "reference")), [[1.0], [2.0]])
    pd.DataFrame({"c": pd.Categorical(["x", None, "y"])}).to_feather(tmp_path / "t.feather")
    assert levels(tmp_path / "t.feather") == ["x", None, "y"]


def test_json_lines_written_by_python(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1.5, "b": "x"}\n{"a": NaN, "b": "NaN"}\n\n{"a": 2, "b": null}\n')
    table = read_table(path, "reference")
    np.testing.assert_array_equal(table.columns[0].values, [1.5, np.nan, 2])
    assert table.columns[1].texts() == ["x", "NaN", None]


def test_masked_text_is_missing():
    masked = np.ma.masked_array([["a", "b"], ["c", "d"]], mask=[[True, False], [False, False]])
    assert [column.texts() for column in read_table(masked, "reference").columns] == [[None, "c"], ["b", "d"]]


def test_a_lazy_frame_that_cannot_be_computed():
    with pytest.raises(InputError, match="current: the lazy frame cannot be collected"):
        read_table(pl.LazyFrame({"a": [1, 2]}).select("b"), "current")


def test_halves_of_characters_are_replaced():
    table = read_table(np.array([["a\ud800"], ["b"]], dtype=object), "reference")
    assert table.columns[0].texts() == ["a?", "b"]
    assert all(type(level) is str for level in read_table(np.array([["a"], ["b"]]), "reference").columns[0].levels)


def test_json_lines_may_lack_fields(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1, "b": "x"}\n{"a": 2.5}\n{"b": "y", "d": "2024-01-01"}\n')
    table = read_table(path, "reference")
    assert [c.kind for c in table.columns] == ["number", "category", "date"]
    np.testing.assert_array_equal(table.columns[0].values, [1, 2.5, np.nan])


def test_many_parquet_files(tmp_path):
    for part in range(3):
        pl.DataFrame({"a": [part, part], "b": [0.5, 1.5]}).write_parquet(tmp_path / f"part{part}.parquet")
    for source in (tmp_path, str(tmp_path / "part*.parquet")):
        np.testing.assert_array_equal(read_table(source, "reference").columns[0].values, [0, 0, 1, 1, 2, 2])
    pl.DataFrame({"a": [1], "c": [1]}).write_parquet(tmp_path / "part3.parquet")
    says(fault(tmp_path), "differ in column 'b'", "same columns")
    (tmp_path / "part4.csv").write_text("a\n1\n")
    says(fault(str(tmp_path / "part*")), "only Parquet files can be read together")


# Every fault has its message


def test_duplicate_names(tmp_path):
    remedy = "rename"
    says(fault(pd.DataFrame(VALUES, columns=["a", "b", "a"])), "more than one column is named 'a'", remedy)
    arrays = [pa.array([1, 2]), pa.array([3, 4])]
    says(fault(pa.table(arrays, names=["a", "a"])), "more than one column is named 'a'", remedy)
    path = tmp_path / "t.csv"
    path.write_text("a,b,a\n1,2,3\n4,5,6\n")
    assert read_table(path, "reference").names == ("a", "b", "a_2")


def test_empty_name(tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame(VALUES, columns=NAMES).to_csv(path)
    table = read_table(path, "reference")
    assert table.names == ("row name", *NAMES)
    assert isinstance(table.columns[0], Unusable)
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
    says(fault(tmp_path), "is a directory without Parquet files", "subfolders")
    says(fault(str(tmp_path / "*.parquet")), "there is no file")
    says(fault("x" * 5000), "there is no file")
    says(fault("a\0b.csv"), "null character", "check the path")
    says(fault(pl.scan_parquet(tmp_path / "no.parquet")), "lazy frame cannot be collected", "repair its source")


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.gz", ".csv", "t.data", "t.dat"])
def test_a_suffix_does_not_make_a_format(tmp_path, name):
    (tmp_path / name).write_text("a\n1\n2\n")
    np.testing.assert_array_equal(matrix(read_table(tmp_path / name, "reference")), [[1], [2]])
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / name)
    np.testing.assert_array_equal(matrix(read_table(tmp_path / name, "reference")), [[1], [2]])


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.npy", "t.npz", "t.csv.gz", "t.jsonl.gz"])
def test_corrupt_files(tmp_path, name):
    path = write(tmp_path / name)
    whole = path.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"garbage" * 20):
        path.write_bytes(damaged)
        if damaged.startswith(b"garbage") and name == "t.csv.gz":
            says(fault(path), "has no rows")
        else:
            says(fault(path), name, "cannot be read as", "write the file again")


def test_corrupt_text(tmp_path):
    path = tmp_path / "t.csv"
    for content in (
        b"",
        b"\xff\xfe\x00",
        b"a,b\n1,\xe9\x00\n",
        b"a,b\n1,\x81\n",
    ):
        path.write_bytes(content)
        says(fault(path), "t.csv", "cannot be read as delimited text", "write the file again")


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
    message = fault(pa.table([pa.array([1, 2])] * 2, names=[name, name]))
    says(message, r"'<script>\n\x1b[31m\u202exxx")
    assert len(message) < 300


# Tables one behind the other


def mixed_rows() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "n": [1, 2, None, None, 5, 6],
            "x": [0.5, None, None, None, -1.0, 2.0],
            "level": ["b", None, "a", "c", "b", None],
            "day": pl.Series([None, None, None, datetime.date(2024, 1, 2), None, datetime.date(2024, 1, 3)]),
            "nested": [[1]] * 6,
            "void": pl.Series([None] * 6, dtype=pl.Float64),
        }
    )


@pytest.mark.parametrize("cuts", [(0, 6), (0, 2, 4, 6), (0, 1, 2, 3, 4, 5, 6), (0, 0, 3, 6, 6)])
def test_parts_one_behind_the_other_are_the_whole_table(cuts):
    rows = mixed_rows()
    whole = read_table(rows, "reference")
    parts = [read_table(rows[low:high], "part", least_rows=0) for low, high in itertools.pairwise(cuts)]
    found = joined(parts)
    assert (found.names, found.n_rows, found.positional) == (whole.names, 6, False)
    for name, one, other in zip(found.names, found.columns, whole.columns, strict=True):
        assert type(one) is type(other), name
        if isinstance(one, Unusable):
            assert one == other
            continue
        assert one.kind == other.kind, name
        assert one.levels == other.levels
        np.testing.assert_array_equal(one.values, other.values)


def test_parts_may_have_their_columns_in_another_order():
    one, other = pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}), pl.DataFrame({"b": ["z", "x"], "a": [3, 4]})
    found = joined([read_table(frame, "part") for frame in (one, other)])
    assert found.names == ("a", "b")
    np.testing.assert_array_equal(found.columns[0].values, [1, 2, 3, 4])
    assert found.columns[0].whole
    assert found.columns[1].texts() == ["x", "y", "z", "x"]


def test_parts_of_different_kinds_cannot_take_part():
    frames = [pl.DataFrame({"a": values}) for values in ([1, 2], ["x", "y"], [None, None])]
    (found,) = joined([read_table(frame, "part") for frame in frames]).columns
    assert isinstance(found, Unusable)
    says(found.reason, "category", "number", "one kind")
