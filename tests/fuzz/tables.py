"""Small hostile tables: kinds of columns, what can be wrong with them, and the forms in which they are given.

A table is JSON: {"names": [...], "columns": [[tagged value, ...], ...]}; `FORMS` makes objects of it, `FILES` bytes.
All draws come from one `random.Random`, so that a seed, or Hypothesis, is the only source of them; cells come from a
generator that it seeds, so that Hypothesis has few draws to make smaller.
"""

from __future__ import annotations

import csv
import datetime
import decimal
import gzip
import io
import json
import math
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from tests.fuzz.tagged import tag, untag

Spec = dict[str, Any]

SIZES = (5, 8, 12, 20, 20, 40, 40, 60, 80)
ODD_SIZES = (0, 1, 2, 3)
LEVELS = ("red", "green", "blue", "grey")
HOSTILE_TEXT = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>{{7*7}}',
    "=1+1",
    "@SUM(A1)",
    "🦅",
    "\u202eabc",
    "x\x00y",
    "\x1b[31m",
    "a\nb",
    "a\r\nb",
    '"',
    "'",
    ",",
    ";",
    "\t",
    " ",
    "\\",
    "\ud800",
    "NA",
    "nan",
    "null",
    "None",
    "-",
    "1,5",
    "1e5",
    "0x1F",
    "1_000",
    "12:30",
    "2024-02-30",
    "2024-01-01",
    "[bold]x[/bold]",
    "Ω≈ç√∫",
    "e\u0301",
    "l" * 400,
)
NAMES = ("a", "b", "c", "d", "e f", "Größe", "row", "sample", "mode", "x0")
NUMBERS = (
    math.inf,
    -math.inf,
    math.nan,
    0.0,
    -0.0,
    5e-324,
    -2.2e-308,
    1.7976931348623157e308,
    -1e300,
    1e-300,
    2.0**53 + 1,
    1e15,
    0.1 + 0.2,
)
INTEGERS = (2**31, -(2**31) - 1, 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1, 2**64, 10**30, -(10**25))
DATES = (
    datetime.datetime(1, 1, 1),
    datetime.datetime(9999, 12, 31, 23, 59, 59, 999999),
    datetime.datetime(1677, 9, 21),
    datetime.datetime(2262, 4, 12),
    datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC),
    datetime.datetime(2024, 3, 31, 2, 30),
)
ANYTHING = (
    None,
    True,
    3,
    2.5,
    "text",
    b"bytes",
    [1, 2],
    {"a": 1},
    1 + 2j,
    decimal.Decimal("1.10"),
    decimal.Decimal("sNaN"),
    datetime.date(2024, 1, 1),
    datetime.time(1, 2),
    datetime.timedelta(hours=1),
    "",
)


def _day(rng: Random) -> datetime.date:
    return datetime.date(2020, 1, 1) + datetime.timedelta(days=rng.randrange(900))


KINDS: dict[str, Callable[[Random, bool], Any]] = {  # a value; of a row in the group that is in excess or not
    "float": lambda rng, odd: round(3.0 + rng.gauss(0, 0.05) if odd else rng.gauss(0, 1), 3),
    "large": lambda rng, odd: rng.gauss(0, 1) * 1e8 + (5e8 if odd else 0.0),
    "int": lambda rng, odd: 9 if odd else rng.randrange(8),
    "bool": lambda rng, odd: odd or rng.random() < 0.5,
    "text": lambda rng, odd: "grey" if odd else rng.choice(LEVELS[:3]),
    "date": lambda rng, odd: datetime.date(2024, 1, 1) if odd else _day(rng),
    "datetime": lambda rng, odd: datetime.datetime.combine(
        datetime.date(2024, 1, 1) if odd else _day(rng), datetime.time(rng.randrange(24), rng.randrange(60))
    ),
    "time": lambda rng, odd: datetime.time(3 if odd else rng.randrange(24), rng.randrange(60)),
    "duration": lambda rng, odd: datetime.timedelta(seconds=rng.randrange(10) if odd else rng.randrange(9999)),
    "decimal": lambda rng, odd: decimal.Decimal(9900 if odd else rng.randrange(999)) / 100,
    "hostile text": lambda rng, odd: HOSTILE_TEXT[0] if odd else rng.choice(HOSTILE_TEXT),
    "id": lambda rng, odd: f"id-{rng.getrandbits(40):x}",
    "anything": lambda rng, odd: rng.choice(ANYTHING),
    "nested": lambda rng, odd: [rng.randrange(3)] if rng.random() < 0.5 else {"k": 1},
    "bytes": lambda rng, odd: bytes([rng.randrange(256)]),
}
PLAIN = ("float", "int", "text", "bool", "date")  # mean the same in every form
USUAL = ("float", "float", "int", "text", "bool", "date", "datetime")


def _gaps(rng: Random, values: list[Any]) -> list[Any]:
    return [None if rng.random() < 0.2 else value for value in values]


def _sprinkled(pool: tuple[Any, ...]) -> Callable[[Random, list[Any]], list[Any]]:
    return lambda rng, values: [rng.choice(pool) if rng.random() < 0.15 else value for value in values]


WARTS: dict[str, Callable[[Random, list[Any]], list[Any]]] = {
    "gaps": _gaps,
    "all missing": lambda rng, values: [None] * len(values),
    "all nan": lambda rng, values: [math.nan] * len(values),
    "constant": lambda rng, values: values[:1] * len(values),
    "two values": lambda rng, values: [rng.choice(values[:2]) for _ in values],
    "rising": lambda rng, values: list(range(len(values))),
    "odd numbers": _sprinkled(NUMBERS),
    "large integers": _sprinkled(INTEGERS),
    "odd dates": _sprinkled(DATES),
    "hostile text": _sprinkled(HOSTILE_TEXT),
    "mixed": _sprinkled(ANYTHING),
    "as text": lambda rng, values: [None if value is None else str(value) for value in values],
    "numbers in full": lambda rng, values: [rng.choice(NUMBERS) for _ in values],
    "sorted": lambda rng, values: sorted(values, key=repr),
    "long text": lambda rng, values: ["t" * rng.choice((1, 5, 3000)) for _ in values],
}


def pair(rng: Random, *, plain: bool = False, sizes: tuple[int, ...] = SIZES) -> tuple[Spec, Spec]:
    """Two tables of mostly the same columns; half of the time the second has a group of rows of its own."""
    n_columns = rng.choice((1, 2, 2, 3, 3, 4, 5, 7))
    pool = PLAIN if plain else (*USUAL * 2, *KINDS)
    names, kinds = _names(rng, n_columns, plain=plain), [rng.choice(pool) for _ in range(n_columns)]
    n, m = (rng.choice(sizes) if plain or rng.random() < 0.94 else rng.choice(ODD_SIZES) for _ in range(2))
    shifted = rng.random() < 0.6
    moved = [rng.random() < 0.6 for _ in kinds]
    reference = _table(rng, names, kinds, n, [False] * n_columns)
    current = _table(rng, names, kinds, m, [shifted and one for one in moved])
    if plain:
        for table in (reference, current):
            _plain_gaps(rng, table, kinds)
        return reference, current
    for table in (reference, current):
        _blemish(rng, table)
    return reference, current


def _names(rng: Random, count: int, *, plain: bool) -> list[str]:
    pool = list(NAMES) if plain or rng.random() < 0.8 else [*HOSTILE_TEXT, "", "n" * 3000, "a", "a"]
    return rng.sample(pool, count) if plain or rng.random() < 0.97 else [rng.choice(pool) for _ in range(count)]


def _table(rng: Random, names: list[str], kinds: list[str], n: int, moved: list[bool]) -> Spec:
    cells, group = Random(rng.getrandbits(32)), n // 3
    columns = [
        [tag(KINDS[kind](cells, odd and row < group)) for row in range(n)]
        for kind, odd in zip(kinds, moved, strict=True)
    ]
    return {"names": list(names), "columns": columns}


def _plain_gaps(rng: Random, table: Spec, kinds: list[str]) -> None:
    for at, kind in enumerate(kinds):
        if kind in ("float", "text") and rng.random() < 0.3:
            table["columns"][at] = _gaps(Random(rng.getrandbits(32)), table["columns"][at])


def _blemish(rng: Random, table: Spec) -> None:
    """Warts of single columns, and of the table as a whole."""
    for at, column in enumerate(table["columns"]):
        if rng.random() < 0.3 and column:
            wart = WARTS[rng.choice(list(WARTS))]
            table["columns"][at] = tag(wart(Random(rng.getrandbits(32)), untag(column)))
    chance = rng.random()
    if chance < 0.03 and len(table["names"]) > 1:
        at = rng.randrange(len(table["names"]))
        del table["names"][at], table["columns"][at]
    elif chance < 0.06:
        table["names"].append("only here")
        table["columns"].append([at / 7 for at, _ in enumerate(table["columns"][0])])
    elif chance < 0.09 and len(table["names"]) > 1:
        table["names"][-1] = table["names"][0]
    elif chance < 0.11:
        table["names"], table["columns"] = [], []
    elif chance < 0.16:  # repeated rows
        table["columns"] = [column + column[: len(column) // 2] for column in table["columns"]]


def permuted(table: Spec, order: list[int]) -> Spec:
    """The same columns in another order."""
    return {key: [table[key][at] for at in order] for key in ("names", "columns")}


def n_rows(table: Spec) -> int:
    """Rows of a table."""
    return len(table["columns"][0]) if table["columns"] else 0


# --- forms in memory -------------------------------------------------------------------------------------------


def _by_name(table: Spec) -> dict[str, list[Any]]:
    return dict(zip(table["names"], untag(table["columns"]), strict=True))


def _pandas(table: Spec) -> pd.DataFrame:
    columns = [pd.Series(column, dtype=None) for column in untag(table["columns"])]
    if not columns:
        return pd.DataFrame()
    frame = pd.concat(columns, axis=1)
    frame.columns = table["names"]
    return frame


def _polars(table: Spec) -> pl.DataFrame:
    if '"sNaN"' in json.dumps(table):
        raise ValueError("polars would panic")
    return pl.DataFrame(_by_name(table), strict=False)


def _arrow(table: Spec) -> pa.Table:
    return pa.table([pa.array(column) for column in untag(table["columns"])], names=table["names"])


def _rows(table: Spec) -> list[list[Any]]:
    return [list(row) for row in zip(*untag(table["columns"]), strict=True)]


def _dask(table: Spec) -> Any:
    import dask.dataframe as dd

    frame = _pandas(table)
    for at, column in enumerate(untag(table["columns"])):  # Dask makes text of what pandas keeps as objects
        if column and all(isinstance(value, datetime.date) for value in column):
            frame.isetitem(at, pd.to_datetime(frame.iloc[:, at]))
    return dd.from_pandas(frame, npartitions=2)


FORMS: dict[str, Callable[[Spec], Any]] = {
    "pandas": _pandas,
    "pandas, nullable": lambda table: _pandas(table).convert_dtypes(),
    "pandas, object": lambda table: _pandas(table).astype(object),
    "pandas, category": lambda table: _pandas(table).apply(lambda one: one.astype("category")),
    "polars": _polars,
    "polars, lazy": lambda table: _polars(table).lazy(),
    "arrow": _arrow,
    "arrow, batches": lambda table: pa.concat_tables([_arrow(table).slice(0, 3), _arrow(table).slice(3)]),
    "dask": _dask,
    "rows": _rows,
    "array": lambda table: np.array(_rows(table), dtype=np.float64),
    "array, float32": lambda table: np.asfortranarray(np.array(_rows(table), dtype=np.float32)),
    "array, object": lambda table: np.array(_rows(table), dtype=object),
    "dict": _by_name,
    "series": lambda table: _pandas(table).iloc[:, 0],
}
FRAMES = ("pandas", "polars", "polars, lazy", "arrow", "arrow, batches", "dask")  # that agree in all plain tables


def made(table: Spec, form: str) -> Any:
    """The table in a form; what the library of that form refuses becomes objects of pandas, which takes anything."""
    try:
        return FORMS[form](table)
    except (Exception, pl.exceptions.PanicException):
        return FORMS["pandas, object"](table)


# --- files -----------------------------------------------------------------------------------------------------


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(table: Spec, delimiter: str = ",", end: str = "\n") -> str:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, lineterminator=end)
    writer.writerow(table["names"])
    writer.writerows([_cell(value) for value in row] for row in _rows(table))
    return file.getvalue()


def _encoded(text: str, encoding: str = "utf-8") -> bytes:
    return text.encode(encoding, errors="replace")


def _written(write: Callable[[pl.DataFrame, io.BytesIO], Any]) -> Callable[[Spec], bytes]:
    def made(table: Spec) -> bytes:
        file = io.BytesIO()
        write(_polars(table), file)
        return file.getvalue()

    return made


def _lines(table: Spec) -> bytes:
    rows = [dict(zip(table["names"], row, strict=True)) for row in _rows(table)]
    return "".join(json.dumps(row, default=str) + "\n" for row in rows).encode()


def _saved(save: Callable[..., Any], *, named: bool = False) -> Callable[[Spec], bytes]:
    def made(table: Spec) -> bytes:
        file = io.BytesIO()
        columns = {name: np.array(column) for name, column in _by_name(table).items()}
        save(file, **columns) if named else save(file, FORMS["array"](table))
        return file.getvalue()

    return made


FILES: dict[str, Callable[[Spec], bytes]] = {
    ".csv": lambda table: _encoded(_text(table)),
    ".tsv": lambda table: _encoded(_text(table, "\t")),
    ".txt": lambda table: _encoded(_text(table, ";")),
    ".csv.gz": lambda table: gzip.compress(_encoded(_text(table)), mtime=0),
    ".CSV": lambda table: b"\xef\xbb\xbf" + _encoded(_text(table, end="\r\n")),
    ".jsonl": _lines,
    ".ndjson": _lines,
    ".jsonl.gz": lambda table: gzip.compress(_lines(table), mtime=0),
    ".parquet": _written(lambda frame, file: frame.write_parquet(file)),
    ".pq": _written(lambda frame, file: frame.write_parquet(file, compression="snappy", row_group_size=7)),
    ".arrow": _written(lambda frame, file: frame.write_ipc(file)),
    ".feather": _written(lambda frame, file: frame.write_ipc(file, compression="zstd")),
    ".ipc": _written(lambda frame, file: frame.write_ipc_stream(file)),
    ".npy": _saved(np.save),
    ".npz": _saved(np.savez, named=True),
}
SAME_FILES = (".csv", ".tsv", ".csv.gz", ".jsonl", ".parquet", ".pq", ".arrow", ".feather", ".ipc")


def file_of(rng: Random, table: Spec, suffix: str | None = None) -> tuple[str, bytes]:
    """A suffix and the bytes of a table; what the chosen format cannot hold becomes text."""
    suffix = suffix or rng.choice(list(FILES))
    try:
        return suffix, FILES[suffix](table)
    except (Exception, pl.exceptions.PanicException):  # of whatever library writes it
        return ".csv", FILES[".csv"](table)
