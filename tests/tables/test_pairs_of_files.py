"""Kinds are decided on both samples together."""

from __future__ import annotations

import datetime
import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shiftscope as ss
from shiftscope.errors import InputError, ParameterError
from shiftscope.tables.column_choice import Columns
from shiftscope.tables.column_kinds import Column, Unusable
from shiftscope.tables.options import TableOptions
from shiftscope.tables.table import Pair, Table, read_pair, read_table

NUMBERS = [str(at) for at in range(20, 60)]


def pair(reference: object, current: object, kinds: dict | None = None, **options) -> Pair:
    return read_pair(reference, current, Columns(kinds=kinds or {}), TableOptions.of(options))


def files(folder: Path, reference: str | bytes, current: str | bytes) -> tuple[Path, Path]:
    paths = folder / "reference.csv", folder / "current.csv"
    for path, content in zip(paths, (reference, current), strict=True):
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return paths


def column(table: Table, name: str) -> Column:
    found = table.columns[table.names.index(name)]
    assert isinstance(found, Column)
    return found


def one(values: list[str]) -> str:
    return "n,v\n" + "".join(f"{at}.5,{value}\n" for at, value in enumerate(values))


def both(read: Pair, name: str = "v") -> list[Column]:
    return [column(table, name) for table in read.tables]


def test_order_of_day_and_month_by_the_evidence_of_either_file(tmp_path):
    for first, second in ((["3/4/2024", "2/1/2024"], ["25/12/2023", "1/2/2024"]),) * 2:
        one_way = pair(*files(tmp_path, one(first), one(second)))
        assert [c.texts() for c in both(one_way)] == [["2024-04-03", "2024-01-02"], ["2023-12-25", "2024-02-01"]]
        assert not one_way.reading.doubts
    other = pair(*files(tmp_path, one(["3/4/2024", "2/1/2024"]), one(["12/25/2023", "1/2/2024"])))
    assert both(other)[0].texts() == ["2024-03-04", "2024-02-01"]


def test_a_doubtful_order_is_said_and_can_be_set(tmp_path):
    paths = files(tmp_path, one(["3/4/2024", "2/1/2024"]), one(["5/6/2024", "1/2/2024"]))
    (doubt,) = pair(*paths).reading.doubts
    assert "--day-first" in doubt
    settled = pair(*paths, day_first=True)
    assert both(settled)[0].texts() == ["2024-04-03", "2024-01-02"]
    assert not settled.reading.doubts


def test_one_value_however_written(tmp_path):
    paths = files(tmp_path, one(["1", "2", "3"]), one(["1.0", '"2"', "?"]))
    first, second = both(pair(*paths))
    np.testing.assert_array_equal(first.values, [1, 2, 3])
    np.testing.assert_array_equal(second.values, [1, 2, np.nan])


def test_words_in_one_file_do_not_make_numbers_text(tmp_path):
    paths = files(tmp_path, one(NUMBERS), one([*NUMBERS, "refused", "unknown"]))
    read = pair(*paths)
    assert [c.kind for c in both(read)] == ["number", "number"]
    words = both(read, "v (words)")
    assert set(words[0].texts()) == {"a number"}
    assert words[1].texts()[-2:] == ["refused", "unknown"]
    (_, about) = read.reading.columns
    assert [(mark.text, mark.shares) for mark in about.words] == [
        ("refused", (0.0, 1 / 42)),
        ("unknown", (0.0, 1 / 42)),
    ]


def test_codes_with_many_words_are_text_in_both(tmp_path):
    codes = [f"{letter}{at}" for at in range(30) for letter in "VE"]
    paths = files(tmp_path, one(NUMBERS), one([*NUMBERS, *codes]))
    assert [c.kind for c in both(pair(*paths))] == ["category", "category"]


def test_leading_zeros_in_one_file_only(tmp_path):
    first, second = both(pair(*files(tmp_path, one(["10115", "80331"]), one(["04103", "10115"]))))
    assert first.texts() == ["10115", "80331"]
    assert second.texts() == ["04103", "10115"]


def test_booleans_in_other_words(tmp_path):
    first, second = both(pair(*files(tmp_path, one(["yes", "no", "yes"]), one(["1", "0", "0"]))))
    np.testing.assert_array_equal(first.values, [1, 0, 1])
    np.testing.assert_array_equal(second.values, [1, 0, 0])


def test_files_of_different_dialects(tmp_path):
    reference = "name;größe;v\n" + "".join(f"{n};{at},5;1.{at:03d},25\n" for at, n in enumerate("abcdef"))
    current = '"v"\t"name"\t"größe"\n' + "".join(f'"1,{at:03d}.25"\t{n}\t{at}.5\n' for at, n in enumerate("abcdef"))
    read = pair(*files(tmp_path, reference.encode("cp1252"), gzip.compress(current.encode("utf-16"))))
    for name in ("größe", "v", "name"):
        first, second = both(read, name)
        np.testing.assert_array_equal(first.values, second.values)
        assert first.kind == second.kind == ("category" if name == "name" else "number")


def test_one_file_without_names_takes_those_of_the_other(tmp_path):
    headed, bare = "a,b\n1,0.5\n2,1.5\n3,2.5\n", "4,3.5\n5,4.5\n"
    for paths in (files(tmp_path, headed, bare), files(tmp_path, bare, headed)):
        read = pair(*paths)
        assert [table.names for table in read.tables] == [("a", "b")] * 2
        assert "no names" in read.reading.doubts[0]
    with pytest.raises(InputError, match=r"current has 3 columns without names and reference has 2.*--names"):
        pair(*files(tmp_path, headed, "4,3.5,1\n5,4.5,2\n"))
    with pytest.raises(InputError, match=r"reference has 2 columns and current has 3.*--names"):
        pair(*files(tmp_path, bare, "4,3.5,1\n5,4.5,2\n"))


def test_text_in_a_data_frame_is_read_as_in_a_file(tmp_path):
    frame = pd.DataFrame({"when": ["2024-01-31", None, "2024-02-01"], "age": ["61", "?", "52"], "zip": ["1", "2", "3"]})
    found = read_table(frame, "reference")
    assert [c.kind for c in found.columns] == ["date", "number", "category"]
    typed = pl.DataFrame({"when": [datetime.date(2024, 1, 31), datetime.date(2024, 2, 2)], "zip": [1, 2]})
    read = pair(frame, typed)
    assert [c.kind for c in both(read, "when")] == ["date", "date"]
    assert [c.kind for c in both(read, "zip")] == ["number", "number"]


def test_the_type_of_a_data_frame_is_kept():
    frame = pl.DataFrame({"c": pl.Series(["2024-01-31", "2024-02-01"], dtype=pl.Categorical)})
    assert column(read_table(frame, "reference"), "c").kind == "category"


def test_a_saved_reference_decides_for_a_file(tmp_path):
    reference = read_table(pl.DataFrame({"v": [1.0, 2.0, 3.0], "d": [datetime.date(2024, 1, 31)] * 3}), "reference")
    path = tmp_path / "current.csv"
    path.write_text("v,d\n?,13/1/2024\n5,1/2/2024\n")
    read = pair(reference, path)
    assert read.tables[0].columns == reference.columns
    assert both(read, "d")[1].texts() == ["2024-01-13", "2024-02-01"]
    np.testing.assert_array_equal(both(read)[1].values, [np.nan, 5])


def test_declared_kinds(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(one(["00123", "x", "00456"]))
    assert both(pair(path, path, {"v": "category"}))[0].texts() == ["00123", "x", "00456"]
    np.testing.assert_array_equal(both(pair(path, path, {"v": "number"}))[0].values, [123, np.nan, 456])


def test_what_is_missing_can_be_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(one([*NUMBERS, *["-200"] * 6, "NA"]))
    values = both(pair(path, path, missing=["-200"]))[0].values
    assert np.isnan(values[-7:]).all()
    assert not np.isnan(values[:-7]).any()
    again = pair(path, path, missing=["v=-200"])
    np.testing.assert_array_equal(both(again)[0].values, values)
    assert not again.reading.doubts
    (about,) = (reading for reading in again.reading.columns if reading.name == "v")
    assert {mark.text: mark.shares for mark in about.missing} == {"-200": (6 / 47, 6 / 47), "NA": (1 / 47, 1 / 47)}
    path.write_text("n,country\n1,NA\n2,DE\n3,NA\n")
    assert both(pair(path, path, missing=[]), "country")[0].texts() == ["NA", "DE", "NA"]


def test_a_far_value_of_one_number_is_flagged_with_its_shares():
    values = np.arange(40.0)
    reference, current = (pl.DataFrame({"v": np.append(values, [-200.0] * count)}) for count in (0, 10))
    (doubt,) = pair(reference, current).reading.doubts
    assert "-200" in doubt
    assert "v 0 % -> 20 %" in doubt
    assert "--missing v=-200" in doubt
    rain = np.append(np.zeros(100), np.random.default_rng(0).exponential(3.0, 100).round(1))
    assert not pair(pl.DataFrame({"v": rain}), pl.DataFrame({"v": rain})).reading.doubts


def test_a_column_constant_in_one_sample_only_is_a_finding(tmp_path):
    constant = pl.DataFrame({"v": np.zeros(300), "w": np.arange(300) % 7})
    varying = pl.DataFrame({"v": np.arange(300) % 5, "w": np.arange(300) % 7})
    result = ss.compare(constant, varying)
    assert result.detected
    assert any("v" in mode.features for mode in result.modes)


def test_the_result_says_what_was_understood(tmp_path):
    rows = "".join(f"{at};{at % 7},5;-200\n" if at % 3 else f"{at};{at % 7},5;{at}\n" for at in range(20, 90))
    path = tmp_path / "t.csv"
    path.write_text(rows)
    result = ss.compare(path, path)
    assert result.reading is not None
    assert [column.name for column in result.reading.columns] == ["x0", "x1", "x2"]
    assert any("-200" in note for note in result.notes)
    said = [decision.what for decision in result.reading.files[0].decisions]
    assert any(what.startswith("no header") for what in said)
    assert "decimal comma" in said
    assert '"no header' in result.to_json()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"delimiter": "ab"}, "delimiter must be one character"),
        ({"decimal": ";"}, "decimal must be one of"),
        ({"decimal": ",", "thousands": ","}, "must differ"),
        ({"encoding": "nonsense"}, "encoding 'nonsense' is not known"),
        ({"names": ["a", "a"]}, "names must be different"),
        ({"header": 3}, "header must be True, False or None"),
        ({"missing": 3}, "missing must be texts"),
        ({"comment": 3}, "comment must be a text"),
    ],
)
def test_options_that_cannot_be(options, said):
    with pytest.raises(ParameterError, match=said):
        TableOptions.of(options)


def test_options_by_other_names_are_refused(tmp_path):
    with pytest.raises(TypeError, match=r"unexpected keyword 'sep'; options of tables are header, names, delimiter"):
        ss.look(np.ones((3, 1)), sep=";")


def test_options_change_what_is_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1.234;x\n2.345;y\n")
    assert both(pair(path, path, header=False), "x0")[0].texts() == ["a", "1.234", "2.345"]
    np.testing.assert_array_equal(both(pair(path, path, decimal=",", thousands="."), "a")[0].values, [1234, 2345])
    named = pair(path, path, names=["p", "q"])
    assert named.tables[0].names == ("p", "q")
    assert named.tables[0].n_rows == 2
    assert pair(path, path, delimiter="comma").tables[0].names == ("a;b",)
    path.write_text("# a\n1\n2\n")
    assert pair(path, path, comment="").tables[0].names == ("# a",)
    path.write_bytes("a,b\n1,é\n2,è\n".encode("mac-roman"))
    assert both(pair(path, path, encoding="mac-roman"), "b")[0].texts() == ["é", "è"]


def test_a_first_column_without_a_name_that_repeats_takes_part(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",b\n1,2\n1,3\n2,4\n")
    table = read_table(path, "reference")
    assert table.names == ("x0", "b")
    path.write_text(",b\n1,2\n2,3\n3,4\n")
    assert isinstance(read_table(path, "reference").columns[0], Unusable)


def test_a_large_file_is_read_whole_and_looked_at_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("shiftscope.tables.text_bytes.WHOLE", 3000)
    monkeypatch.setattr("shiftscope.tables.text_bytes.PIECE", 1000)
    rows = [f"{at},{at % 7}.5,{'x' if at % 2 else 'y'},{'' if at == 333 else at}" for at in range(1000)]
    rows[500] = "500,refused,x,500"
    text = "n,v,c,g\n" + "\n".join(rows) + "\n"
    for name, content in (("t.csv", text.encode()), ("t.csv.gz", gzip.compress(text.encode()))):
        path = tmp_path / name
        path.write_bytes(content)
        table = read_table(path, "reference")
        assert table.n_rows == 1000
        assert [c.kind for c in table.columns if isinstance(c, Column)][:4] == [
            "number",
            "number",
            "category",
            "number",
        ]
        np.testing.assert_array_equal(np.flatnonzero(np.isnan(column(table, "v").values)), [500])
        np.testing.assert_array_equal(np.flatnonzero(np.isnan(column(table, "g").values)), [333])
        (file,) = ss.look(path).files
        assert file.sampled
        assert not file.rows_exact
        assert 850 < file.rows < 1150
