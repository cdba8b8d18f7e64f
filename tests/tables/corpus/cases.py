"""The files of the corpus: written here, with the columns, kinds and values that a careful person reads.

Numbers are numbers, dates and times of day are as `time_text` writes them, None is missing.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from dataclasses import dataclass

import pyarrow as pa

Values = list[float | str | None]


@dataclass(frozen=True)
class Case:
    """A file, and what is to be read in it.

    Attributes
    ----------
    name
        Of the file.
    content
    columns
        Values under their names.
    kinds
        One letter per column: n, d, t, c for number, date, time, category; - for one that takes no part.
    said
        What `look` must show.
    """

    name: str
    content: bytes
    columns: dict[str, Values]
    kinds: str
    said: tuple[str, ...] = ()


def case(name: str, text: str | bytes, columns: dict[str, Values], kinds: str, *said: str) -> Case:
    """A case of text in UTF-8, or of bytes."""
    return Case(name, text.encode() if isinstance(text, str) else text, columns, kinds, said)


NAMES = ("temp", "city", "when")
ROWS = [
    ("1.5", "Bonn", "2024-01-31"),
    ("-2", "Ulm", "2024-02-01"),
    ("7.25", "Bonn", "2024-02-02"),
    ("0.5", "Kiel", "2024-02-12"),
    ("12", "Ulm", "2024-02-13"),
    ("3.75", "Bonn", "2024-02-14"),
]
READ: dict[str, Values] = {
    "temp": [1.5, -2, 7.25, 0.5, 12, 3.75],
    "city": [row[1] for row in ROWS],
    "when": [row[2] for row in ROWS],
}
BARE: dict[str, Values] = {f"x{at}": values for at, values in enumerate(READ.values())}


def table(delimiter: str = ",", header: bool = True, end: str = "\n") -> str:
    """The rows above as text."""
    rows = [NAMES, *ROWS] if header else ROWS
    return "".join(delimiter.join(row) + end for row in rows)


def zipped(content: bytes, name: str = "table.csv") -> bytes:
    """An archive of one file."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(name, content)
    return target.getvalue()


def zstd(content: bytes) -> bytes:
    """As the program zstd packs."""
    return bytes(pa.compress(content, "zstd", asbytes=True))


DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "blanks", "^": "'^'", "    ": "blanks"}
GRID = [
    case(
        f"{word.strip(chr(39))}{len(sign)}_{header}.txt",
        table(sign, header),
        READ if header else BARE,
        "ncd",
        f"fields cut at {word}",
        "  header  (" if header else "no header",
        "--no-header" if header else "--names",
    )
    for sign, word in DELIMITERS.items()
    for header in (True, False)
] + [
    case(f"end{at}.csv", table(end=end), READ, "ncd", "6 rows") for at, end in enumerate(("\r\n", "\r", ",\n", "\n\n"))
]

UMLAUT = table().replace("Kiel", "Köln").replace("city", "größe")
READ_UMLAUT: dict[str, Values] = {
    "temp": READ["temp"],
    "größe": ["Köln" if city == "Kiel" else city for city in READ["city"]],
    "when": READ["when"],
}
ENCODINGS = [
    case("bom.csv", b"\xef\xbb\xbf" + UMLAUT.encode(), READ_UMLAUT, "ncd", "encoding utf-8"),
    case("bom_bare.csv", b"\xef\xbb\xbf" + table(header=False).encode(), BARE, "ncd", "no header"),
    *(
        case(f"{name}.csv", UMLAUT.encode(name), READ_UMLAUT, "ncd", f"encoding {said}", "--encoding")
        for name, said in (
            ("utf-8", "utf-8"),
            ("utf-16", "utf-16"),
            ("utf-16-le", "utf-16-le"),
            ("utf-16-be", "utf-16-be"),
            ("utf-32", "utf-32"),
            ("cp1252", "cp1252"),
            ("latin-1", "cp1252"),
        )
    ),
]

PLAIN = table().encode()
PACKED = [
    case("packed.csv.gz", gzip.compress(PLAIN), READ, "ncd", "gzip-packed"),
    case("packed_without_suffix", gzip.compress(PLAIN), READ, "ncd", "gzip-packed"),
    case("packed.csv.bz2", bz2.compress(PLAIN), READ, "ncd", "bzip2-packed"),
    case("packed.csv.xz", lzma.compress(PLAIN), READ, "ncd", "xz-packed"),
    case("packed.zip", zipped(PLAIN), READ, "ncd", "zip-packed"),
    case("packed.csv.zst", zstd(PLAIN), READ, "ncd", "zstd-packed"),
    case(
        "semicolon_cp1252.data.gz",
        gzip.compress(UMLAUT.replace(",", ";").encode("cp1252")),
        READ_UMLAUT,
        "ncd",
        "gzip-packed",
        "encoding cp1252",
        "fields cut at semicolon",
    ),
]

NUMBERS: dict[str, Values] = {"a": [1, 2, 3, 4, 5, 6], "b": [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]}
PAIRS = [(str(a), str(b)) for a, b in zip(NUMBERS["a"], NUMBERS["b"], strict=True)]


def numbers(delimiter: str = ",", before: str = "a,b\n", behind: str = "") -> str:
    """Two columns of numbers under given first lines."""
    return before + "".join(delimiter.join(pair) + "\n" for pair in PAIRS) + behind


BARE_NUMBERS: dict[str, Values] = {f"x{at}": values for at, values in enumerate(NUMBERS.values())}
HEADERS = [
    case("wine.data", numbers(before=""), BARE_NUMBERS, "nn", "no header", "--header"),
    case("years.csv", numbers(before="2019,2020\n"), {"2019": NUMBERS["a"], "2020": NUMBERS["b"]}, "nn", "  header"),
    case(
        "counted.csv",
        ",0,1\n" + "".join(f"{at},{a},{b}\n" for at, (a, b) in enumerate(PAIRS)),
        {"row name": [None] * 6, "0": NUMBERS["a"], "1": NUMBERS["b"]},
        "-nn",
        "without name",
    ),
    case(
        "r_names.csv",
        '"a","b"\n' + "".join(f'"r{at}",{a},{b}\n' for at, (a, b) in enumerate(PAIRS)),
        {"row name": [None] * 6, **NUMBERS},
        "-nn",
        "header one name short: the first column names the rows",
    ),
    case(
        "r_table.txt",
        "a b\n" + "".join(f"{at} {a} {b}\n" for at, (a, b) in enumerate(PAIRS)),
        {"row name": [None] * 6, **NUMBERS},
        "-nn",
        "header one name short",
        "fields cut at blanks",
    ),
    case(
        "pandas.csv",
        ",a,b\n" + "".join(f"{at},{a},{b}\n" for at, (a, b) in enumerate(PAIRS)),
        {"row name": [None] * 6, **NUMBERS},
        "-nn",
        "first column without name",
    ),
    case("twice.csv", numbers(before="a,a\n"), {"a": NUMBERS["a"], "a_2": NUMBERS["b"]}, "nn", "told apart: a_2"),
    case(
        "trailing.csv", "a,b,,\n" + "".join(f"{a},{b},,\n" for a, b in PAIRS), NUMBERS, "nn", "2 columns without name"
    ),
    case("trailing_bare.csv", "".join(f"{a},{b},\n" for a, b in PAIRS), BARE_NUMBERS, "nn", "no header", "1 column "),
    case("trailing_data.csv", "a,b\n" + "".join(f"{a},{b},\n" for a, b in PAIRS), NUMBERS, "nn", "  header  ("),
    case(
        "hash.csv", "# made by a machine\n# in 2024\n" + numbers(), NUMBERS, "nn", "begin with # skipped", "--comment"
    ),
    case("percent.dat", "% x\n" + numbers("\t", "a\tb\n"), NUMBERS, "nn", "begin with % skipped"),
    case("slashes.csv", numbers().replace("3,2.5", "// a pause\n3,2.5"), NUMBERS, "nn", "begin with // skipped"),
    case("savetxt.txt", "# a b\n" + numbers(" ", ""), NUMBERS, "nn", "fields cut at blanks"),
    case(
        "preamble.csv",
        "Station 7, Bonn\n\nmeasured by hand; all rights reserved\n" + numbers(";", "a;b\n"),
        NUMBERS,
        "nn",
        "fields cut at semicolon",
        "before the table skipped",
    ),
    case("excel_sep.csv", "sep=;\n" + numbers(";", "a;b\n"), NUMBERS, "nn", "fields cut at semicolon"),
    case("units.csv", "a,b\nkg,m/s\n" + numbers(before=""), NUMBERS, "nn", "units"),
    case("blank_rows.csv", numbers().replace("3,2.5\n", "3,2.5\n,\n\n,\n"), NUMBERS, "nn", "3 blank rows dropped"),
    case(
        "footer.csv",
        "a,b,c\n" + "".join(f"{a},{b},x\n" for a, b in PAIRS * 2) + "(12 rows affected)\n",
        {**{name: values * 2 for name, values in NUMBERS.items()}, "c": ["x"] * 12},
        "nnc",
        "1 line behind the table",
    ),
    case(
        "mushroom.data",
        "p,x,s\ne,x,y\np,b,s\ne,x,s\ne,b,y\np,x,s\n",
        {"x0": list("pepeep"), "x1": list("xxbxbx"), "x2": list("syssys")},
        "ccc",
        "no header",
    ),
    case(
        "words.csv",
        "sex,city\nm,Bonn\nf,Ulm\nf,Kiel\nm,Bonn\n",
        {"sex": list("mffm"), "city": ["Bonn", "Ulm", "Kiel", "Bonn"]},
        "cc",
        "  header  (",
    ),
    case("one_column.txt", "a\n1\n2\n\n4\n", {"a": [1, 2, None, 4]}, "n", "one column"),
    case(
        "one_date.txt",
        "when\n2024-01-01 10:00:00\n2024-01-02 11:30:00\n2024-01-03 12:00:00\n",
        {"when": ["2024-01-01 10:00", "2024-01-02 11:30", "2024-01-03 12:00"]},
        "d",
        "one column",
    ),
    case(
        "weka.arff",
        "% iris\n@RELATION iris\n@ATTRIBUTE 'sepal length' NUMERIC\n@attribute class {a,b}\n@DATA\n5.1,a\n?,b\n4,a\n",
        {"sepal length": [5.1, None, 4], "class": list("aba")},
        "nc",
        "@attribute",
    ),
    case(
        "auto-mpg.data",
        '18.0   8   307.0\t"chevrolet chevelle"\n15.0   8   ?\t"buick skylark 320"\n'
        '18.0   8   318.0\t"plymouth satellite"\n16.0   8   304.0\t"amc rebel sst"\n',
        {
            "x0": [18, 15, 18, 16],
            "x1": [8, 8, 8, 8],
            "x2": [307, None, 318, 304],
            "x3": ["chevrolet chevelle", "buick skylark 320", "plymouth satellite", "amc rebel sst"],
        },
        "nnnc",
        "fields cut at blanks",
        "no header",
        "? 25 %",
    ),
    case(
        "aligned.tra",
        "   1.5   -2.25  10\n  -0.5    3.50   7\n  12.25   0.75   9\n",
        {"x0": [1.5, -0.5, 12.25], "x1": [-2.25, 3.5, 0.75], "x2": [10, 7, 9]},
        "nnn",
        "blanks",
        "no header",
    ),
]

QUOTES = [
    case("newline.csv", 'a,b\n1,"x\ny"\n2,"z"\n3,"u\n\nv"\n', {"a": [1, 2, 3], "b": ["x\ny", "z", "u\n\nv"]}, "nc"),
    case(
        "doubled.csv",
        'a,b\n1,"say ""yes"""\n2,"no, ""never"""\n3,z\n',
        {"a": [1, 2, 3], "b": ['say "yes"', 'no, "never"', "z"]},
        "nc",
    ),
    case(
        "escaped.csv",
        'a,b\n1,"say \\"yes\\", please"\n2,"no"\n3,"\\"so\\""\n',
        {"a": [1, 2, 3], "b": ['say "yes", please', "no", '"so"']},
        "nc",
        "backslash",
    ),
    case(
        "single.csv", "a,b\n1,'x, y'\n2,'z'\n3,'u, v'\n", {"a": [1, 2, 3], "b": ["x, y", "z", "u, v"]}, "nc", "single"
    ),
    case("inches.csv", 'a,b\n1,5" pipe\n2,6" pipe\n3,7\n', {"a": [1, 2, 3], "b": ['5" pipe', '6" pipe', "7"]}, "nc"),
    case("apart.csv", 'a, b\n1, "x, y"\n2, "z"\n3, "u"\n', {"a": [1, 2, 3], "b": ["x, y", "z", "u"]}, "nc"),
    case("all_quoted.csv", '"a","b"\n"1","0.5"\n"2","1.5"\n"3","-2"\n', {"a": [1, 2, 3], "b": [0.5, 1.5, -2]}, "nn"),
    case(
        "commas_in_text.csv",
        "a;b, c\n1;x, y\n2;z\n3;u, v, w\n",
        {"a": [1, 2, 3], "b, c": ["x, y", "z", "u, v, w"]},
        "nc",
    ),
]


def one(values: list[str], delimiter: str = ",", name: str = "v") -> str:
    """A column of given texts beside one of numbers."""
    return f"n{delimiter}{name}\n" + "".join(f"{at}.5{delimiter}{value}\n" for at, value in enumerate(values))


def read(values: Values) -> dict[str, Values]:
    """What is read of `one`."""
    return {"n": [at + 0.5 for at in range(len(values))], "v": values}


MANY = [str(at) for at in range(20, 60)]
MANY_READ: Values = [float(at) for at in range(20, 60)]
VALUES = [
    case(
        "german.csv",
        "n;v\n1,5;1.234,5\n2,25;7\n-3,5;1.000.000\n",
        {"n": [1.5, 2.25, -3.5], "v": [1234.5, 7, 1e6]},
        "nn",
        "decimal comma",
        "--decimal",
    ),
    case("grouped.csv", one(['"1,234.5"', '"1,234,567"', "12"]), read([1234.5, 1234567, 12]), "nn", "grouped digits"),
    case(
        "blank_grouped.csv", one(["1 234 567", "12", "3 500"], ";"), read([1234567, 12, 3500]), "nn", "grouped digits"
    ),
    case("swiss.csv", one(["1'234'567", "12", "3'500.25"], ";"), read([1234567, 12, 3500.25]), "nn", "grouped digits"),
    case(
        "three_digits.csv",
        "n;v\n1;1,234\n2;2,345\n3;3,456\n",
        {"n": [1, 2, 3], "v": [1.234, 2.345, 3.456]},
        "nn",
        "Doubts",
        "--decimal",
    ),
    case("percentages.csv", one(["12 %", "7.5%", "0 %"]), read([12, 7.5, 0]), "nn", "percentages"),
    case("money.csv", one(['"$1,234.50"', "$7", "-$3.25"]), read([1234.5, 7, -3.25]), "nn", "money"),
    case(
        "euro.csv",
        "n;v\n1,5;1.234,50 €\n2,5;7,00 €\n3,5;12,00 €\n",
        {"n": [1.5, 2.5, 3.5], "v": [1234.5, 7, 12]},
        "nn",
        "money",
    ),
    case("units.csv", one(["12 kg", "13 kg", "7 kg"]), read(["12 kg", "13 kg", "7 kg"]), "nc"),
    case(
        "zip_codes.csv",
        one(["00123", "10115", "04103", "80331"]),
        read(["00123", "10115", "04103", "80331"]),
        "nc",
        "leading zeros",
        "--kind v=number",
    ),
    case("exponents.csv", one(["1e3", "-2.5E-3", "+4"]), read([1000, -0.0025, 4]), "nn"),
    *(
        case(
            f"missing{at}.csv",
            one([*MANY[:30], mark, mark]),
            read([*MANY_READ[:30], None, None]),
            "nn",
            mark or "empty",
            "6.2 %",
        )
        for at, mark in enumerate(
            ("?", "NA", "NULL", "-", ".", "n/a", "N/A", "nan", "None", "#N/A", "", "NaN", "--", "\\N")
        )
    ),
    case(
        "mixed_missing.csv",
        one(["1", "?", "NA", "4", "", "6"]),
        read([1, None, None, 4, None, 6]),
        "nn",
        "? 17 %",
        "NA 17 %",
    ),
    case("sas.csv", one(["1", ".", "3", "4"]), read([1, None, 3, 4]), "nn", ". 25 %"),
    case("refused.csv", one([*MANY, "refused"]), read([*MANY_READ, None]), "nn", "refused 2.4 %"),
    case(
        "refused_unknown.csv",
        one([*MANY, "refused", "unknown", "unknown"]),
        {**read([*MANY_READ, None, None, None]), "v (words)": ["a number"] * 40 + ["refused", "unknown", "unknown"]},
        "nnc",
        "refused 2.3 %",
        "unknown 4.7 %",
    ),
    case("dependents.csv", one(["0", "1", "2", "3+", "0", "1"]), read(["0", "1", "2", "3+", "0", "1"]), "nc"),
    case(
        "icd.csv",
        one(["250", "V27", "E909", "428", "V58", "E888"]),
        read(["250", "V27", "E909", "428", "V58", "E888"]),
        "nc",
    ),
    case("signs.csv", one(["+", "-", "+", "-"]), read(["+", "-", "+", "-"]), "nc"),
    case("truth.csv", one(["true", "False", "TRUE", "?"]), read([1, 0, 1, None]), "nn", "as 1 and 0"),
    case(
        "yes.csv",
        one(["yes", "no", "Yes", "no", "yes"]),
        read(["yes", "no", "yes", "no", "yes"]),
        "nc",
        "several spellings",
    ),
    case("one_value.csv", one(["1", "1.0", "A", "B"]), read(["1", "1", "A", "B"]), "nc", "several spellings"),
    case(
        "sentinel.csv",
        one([*MANY, *["-200"] * 6]),
        read([*MANY_READ, *[-200.0] * 6]),
        "nn",
        "-200 lies far",
        "--missing v=-200",
    ),
    case("code_999.csv", one([*MANY, *["999"] * 6]), read([*MANY_READ, *[999.0] * 6]), "nn", "999 lies far"),
]


def dates(name: str, values: list[str], found: Values, *said: str, kind: str = "d", delimiter: str = ",") -> Case:
    """A column of dates or times."""
    return case(name, one(values, delimiter), read(found), f"n{kind}", *said)


DATES = [
    dates(
        "iso.csv",
        ["2024-01-31", "2024-02-01T12:30:00", "2024-02-01 23:59"],
        ["2024-01-31", "2024-02-01 12:30", "2024-02-01 23:59"],
        "date, year first",
    ),
    dates(
        "zones.csv",
        ["2024-01-31T12:00:00Z", "2024-01-31T12:00:00+02:00", "2024-01-31 12:00:00-0500"],
        ["2024-01-31 12:00", "2024-01-31 10:00", "2024-01-31 17:00"],
    ),
    dates(
        "us.csv", ["3/10/2004", "12/31/2004", "1/2/2005"], ["2004-03-10", "2004-12-31", "2005-01-02"], "month/day/year"
    ),
    dates(
        "us_time.csv",
        ["3/10/2004 6:05 PM", "12/31/2004 12:00 AM", "1/2/2005 11:59 am"],
        ["2004-03-10 18:05", "2004-12-31", "2005-01-02 11:59"],
        "month/day/year",
    ),
    dates(
        "german_date.csv",
        ["31.12.2004", "01.02.2005", "5.3.2005"],
        ["2004-12-31", "2005-02-01", "2005-03-05"],
        "day/month/year",
    ),
    dates(
        "british.csv",
        ["31/12/04", "01/02/05", "05/03/05"],
        ["2004-12-31", "2005-02-01", "2005-03-05"],
        "day/month/year",
    ),
    dates(
        "sas_date.csv",
        ["31-Dec-2004", "01-Feb-2005", "5-Mar-05"],
        ["2004-12-31", "2005-02-01", "2005-03-05"],
        "month by name",
    ),
    dates(
        "climate.csv",
        ["01-Jan-1940 00:00:00", "02-Jan-1940 06:00:00", "31-Dec-1940 00:00:00"],
        ["1940-01-01", "1940-01-02 06:00", "1940-12-31"],
        "month by name",
    ),
    dates(
        "long.csv",
        ['"Jan 5, 2020"', '"February 29, 2020"', '"Mar 1st, 2021"'],
        ["2020-01-05", "2020-02-29", "2021-03-01"],
    ),
    dates(
        "mail.csv",
        ['"Mon, 01 Jan 2024 10:00:00 GMT"', '"Tue, 02 Jan 2024 11:00:00 +0100"', '"Wed, 03 Jan 2024 00:00:00 GMT"'],
        ["2024-01-01 10:00", "2024-01-02 10:00", "2024-01-03"],
    ),
    dates(
        "slashed_iso.csv",
        ["2024/01/31", "2024/2/1", "2024/12/24"],
        ["2024-01-31", "2024-02-01", "2024-12-24"],
        "year first",
    ),
    dates("months.csv", ["2024-01", "2024-02", "2024-12"], ["2024-01-01", "2024-02-01", "2024-12-01"]),
    dates(
        "doubtful.csv", ["3/4/2024", "5/1/2024", "2/7/2024"], ["2024-03-04", "2024-05-01", "2024-02-07"], "--day-first"
    ),
    dates(
        "rising.csv",
        ["1/2/2024", "2/2/2024", "3/2/2024", "1/3/2024"],
        ["2024-02-01", "2024-02-02", "2024-02-03", "2024-03-01"],
        "day/month/year",
    ),
    dates(
        "gaps.csv",
        ["2024-01-31", "?", "", "2024-02-01", "NA", "2024-02-03"],
        ["2024-01-31", None, None, "2024-02-01", None, "2024-02-03"],
        "? 17 %",
    ),
    dates(
        "no_dates.csv", ["2024-02-30", "2024-13-01", "2024-00-01"], ["2024-02-30", "2024-13-01", "2024-00-01"], kind="c"
    ),
    dates("clock.csv", ["18:00:00", "9:05", "23:59:59"], ["18:00:00", "9:05:00", "23:59:59"], "time", kind="t"),
    dates("dotted_clock.csv", ["18.00.00", "19.00.00", "20.30.15"], ["18:00:00", "19:00:00", "20:30:15"], kind="t"),
    dates("am_pm.csv", ["6:05 PM", "12:00 AM", "11:59 am"], ["18:05:00", "0:00:00", "11:59:00"], kind="t"),
    dates("no_clock.csv", ["10:30", "24:30", "25:00"], ["10:30", "24:30", "25:00"], kind="c"),
    case(
        "side_by_side.csv",
        "day,time,v\n3/10/2004,18:00:00,1\n3/13/2004,19:00:00,2\n3/14/2004,20:00:00,3\n",
        {
            "day": ["2004-03-10", "2004-03-13", "2004-03-14"],
            "time": ["18:00:00", "19:00:00", "20:00:00"],
            "v": [1, 2, 3],
        },
        "dtn",
    ),
    case(
        "sensor.log",
        "2004-03-31 03:38:15 2 1 122.15\n2004-03-31 03:39:15 3 1 120.5\n2004-04-01 00:00:45 5 1 99.75\n",
        {
            "x0": ["2004-03-31", "2004-03-31", "2004-04-01"],
            "x1": ["3:38:15", "3:39:15", "0:00:45"],
            "x2": [2, 3, 5],
            "x3": [1, 1, 1],
            "x4": [122.15, 120.5, 99.75],
        },
        "dtnnn",
        "fields cut at blanks",
    ),
]

FOUND = [  # made like files that people publish
    case(
        "titanic.csv",
        'Id,Name,Sex,Age\n1,"Braund, Mr. ""Owen"" H",male,22\n2,"Laina, Miss. L",female,\n3,"Allen, Mr. W",male,35\n',
        {
            "Id": [1, 2, 3],
            "Name": ['Braund, Mr. "Owen" H', "Laina, Miss. L", "Allen, Mr. W"],
            "Sex": ["male", "female", "male"],
            "Age": [22, None, 35],
        },
        "nccn",
    ),
    case(
        "worldbank.csv",
        '"Data Source","World Indicators",\n\n"Last Updated","2024-06-28",\n\n"Country","Code","1960","1961",\n'
        + "".join(f'"Land {at}","L{at}","{54608 + at}","{55811 + at}",\n' for at in range(8)),
        {
            "Country": [f"Land {at}" for at in range(8)],
            "Code": [f"L{at}" for at in range(8)],
            "1960": [54608 + at for at in range(8)],
            "1961": [55811 + at for at in range(8)],
        },
        "ccnn",
        "2 lines before the table",
    ),
    case(
        "logger.csv",
        '"Plot Title: 103"\n"#","Date Time, GMT+01:00","Temp, °C"\n'
        + "".join(f"{at},06/{at + 14}/23 0{at}:00:00 PM,2{at}.5\n" for at in range(1, 7)),
        {
            "#": [1, 2, 3, 4, 5, 6],
            "Date Time, GMT+01:00": [f"2023-06-{at + 14} {at + 12}:00" for at in range(1, 7)],
            "Temp, °C": [20.5 + at for at in range(1, 7)],
        },
        "ndn",
        "1 line before the table",
    ),
    case("number_sign.csv", "#,v\n1,0.5\n2,1.5\n3,2.5\n", {"#": [1, 2, 3], "v": [0.5, 1.5, 2.5]}, "nn", "  header  ("),
    case(
        "phones.csv", one(["+49 30 12", "+49 30 13", "+49 40 14"]), read(["+49 30 12", "+49 30 13", "+49 40 14"]), "nc"
    ),
    case(
        "r_quoted.txt",
        '"mpg" "name"\n"Mazda RX4" 21.5 "a b"\n"Fiat 128" 32 "c"\n"Volvo 142E" 21 "d e"\n',
        {"row name": [None] * 3, "mpg": [21.5, 32, 21], "name": ["a b", "c", "d e"]},
        "-nc",
        "header one name short",
    ),
    dates(
        "compact.csv", ["20240131", "20240201", "20231224"], ["2024-01-31", "2024-02-01", "2023-12-24"], "without signs"
    ),
    dates(
        "forms.csv",
        ["2024/01/31 3:04:05 PM GMT+1", "2024/02/01 9:00:00 AM GMT+1"],
        ["2024-01-31 14:04", "2024-02-01 08:00"],
    ),
    case(
        "likert.csv", one([*"12345" * 4, *["99"] * 5]), read([*[1, 2, 3, 4, 5] * 4, *[99.0] * 5]), "nn", "99 lies far"
    ),
    case(
        "household.txt",
        "Date;Time;P\n16/12/2006;17:24:00;4.216\n16/12/2006;17:25:00;?\n17/12/2006;17:26:00;5.374\n",
        {
            "Date": ["2006-12-16", "2006-12-16", "2006-12-17"],
            "Time": ["17:24:00", "17:25:00", "17:26:00"],
            "P": [4.216, None, 5.374],
        },
        "dtn",
        "fields cut at semicolon",
        "? 33 %",
    ),
]

CASES = [*GRID, *ENCODINGS, *PACKED, *HEADERS, *QUOTES, *VALUES, *DATES, *FOUND]
