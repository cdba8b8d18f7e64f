"""What is no table is named for what it is, with the remedy; what is one is read whatever it is called."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import polars as pl
import pytest

from shiftscope.errors import InputError
from shiftscope.tables.table import read_table


def archive(*names: str, **contents: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name in names:
            file.writestr(name, contents.get(name, b"x"))
    return target.getvalue()


@pytest.mark.parametrize(
    ("content", "what", "remedy"),
    [
        (archive("[Content_Types].xml", "xl/workbook.xml"), "an Excel workbook", "save the sheet as CSV"),
        (archive("mimetype", "content.xml", mimetype=b"application/vnd.oasis.opendocument"), "OpenDocument", "as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 64, "an Excel workbook (.xls)", "save the sheet as CSV"),
        (b"%PDF-1.7\n", "a PDF document", "export the table"),
        (b"\x89PNG\r\n\x1a\n", "an image", "export the table"),
        (b"<!DOCTYPE html>\n<html><table></table></html>", "an HTML page", "save the table as CSV"),
        (b'<?xml version="1.0"?>\n<a><b/></a>', "an XML file", "save the table as CSV"),
        (b'{"a": [1, 2], "b": [3, 4]}\n', "a JSON document", "one object per line"),
        (b'{\n  "a": 1\n}\n', "a JSON document", "one object per line"),
        (b"[1, 2, 3]\n", "a JSON list", "one object per line"),
        (b"+1 1:0.5 3:2\n-1 2:1.5\n+1 1:1 2:2 3:3\n", "a libsvm (svmlight) file", "load_svmlight_file"),
        (b"SQLite format 3\0" + b"\0" * 84, "an SQLite database", "export"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file", "pandas"),
        (b"$FL2@(#) SPSS DATA FILE", "an SPSS file", "pandas"),
        (b"<stata_dta><header>", "a Stata file", "pandas"),
        (archive("a.csv", "b.csv"), "the archive holds 2 files (a.csv, b.csv)", "give one of them"),
    ],
)
@pytest.mark.parametrize("name", ["t.csv", "t", "t.dat"])
def test_what_is_no_table(tmp_path, content, what, remedy, name):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_table(path, "current")
    message = str(caught.value)
    assert message.startswith("current: ")
    assert what in message
    assert remedy in message
    assert message.splitlines() == [message]


def test_binary_formats_under_any_name(tmp_path):
    frame = pl.DataFrame({"a": [1.0, 2.0]})
    path = tmp_path / "t.csv"
    for write in (frame.write_parquet, frame.write_ipc, frame.write_ipc_stream):
        write(path)
        np.testing.assert_array_equal(read_table(path, "reference").columns[0].values, [1, 2])
    with path.open("wb") as file:
        np.save(file, np.array([[1.0], [2.0]]))
    np.testing.assert_array_equal(read_table(path, "reference").columns[0].values, [1, 2])


def test_json_under_any_name(tmp_path):
    path = tmp_path / "t.txt"
    for text in ('{"a": 1}\n{"a": 2}\n', '[{"a": 1},\n {"a": 2}]\n'):
        path.write_text(text)
        np.testing.assert_array_equal(read_table(path, "reference").columns[0].values, [1, 2])
