from __future__ import annotations

import numpy as np
import pandas as pd

from shiftscope.tables.column_choice import Columns
from tests.pairs import encode_pair


def test_columns_that_name_rows_are_left_out_and_named():
    n = 200
    frame = pd.DataFrame(
        {
            "value": np.random.default_rng(0).normal(size=n),
            "n": np.arange(n),
            "customer_id": np.random.default_rng(1).permutation(10 * n)[:n],
            "code": [f"c{i}" for i in range(n)],
            "note": [f"the customer called {i} times" for i in range(n)],
            "parts": [[i] for i in range(n)],
            "city": ["here", "there"] * (n // 2),
            "unit": ["kg"] * n,
            "void": [None] * n,
        }
    )
    encoded = encode_pair(frame, frame)
    assert encoded.names == ("city", "value")
    reasons = {left.name: left.reason for left in encoded.left_out}
    assert list(reasons) == ["code", "customer_id", "n", "note", "parts", "unit", "void"]
    for name, part in {
        "n": "numbered without a gap",
        "customer_id": "all distinct",
        "code": "identifier-like text",
        "note": "free text",
        "parts": "nested",
        "unit": "constant: kg",
        "void": "constant: missing",
    }.items():
        assert part in reasons[name]
    declared = encode_pair(frame, frame, Columns(kinds={"n": "number", "code": "category"}))
    assert set(declared.names) == {"city", "value", "n", "code"}


def test_identifiers_of_a_csv_are_left_out_too(tmp_path):
    for at, name in enumerate(("a.csv", "b.csv")):
        rows = np.random.default_rng(at).normal(size=60).round(3)
        lines = [f"{1000 * at + number},{value},{number % 7}" for number, value in enumerate(rows)]
        (tmp_path / name).write_text("\n".join(["customer_id,x,day", *lines]))
    encoded = encode_pair(tmp_path / "a.csv", tmp_path / "b.csv")
    assert encoded.names == ("day", "x")
    assert [left.name for left in encoded.left_out] == ["customer_id"]


def test_numbers_as_text_with_a_few_other_words_are_numbers():
    text = [*(str(value) for value in np.random.default_rng(0).normal(size=99)), "unknown"]
    frame = pd.DataFrame({"a": text, "b": np.arange(100) % 7})
    encoded = encode_pair(frame, frame)
    assert not encoded.left_out
    assert (encoded.features[0].kind, encoded.features[0].missing) == ("number", True)
