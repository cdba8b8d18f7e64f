"""Real files straight into `look` and `compare`, without any option: what was understood, and what was found.

    python -m validation.first_contact --tables ../shared/data/tables --page docs/first_contact.md

Files of one series are cut in two as they stand, lines untouched: early against late, or decade against decade.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import shiftscope as ss

TABLES = Path(__file__).resolve().parents[2] / "shared" / "data" / "tables"
CONSTANT_UNTIL = 17_424  # rows of elec.csv in which three columns are constant
START, END = "<!-- first contact: start -->", "<!-- first contact: end -->"


@dataclass(frozen=True)
class Pair:
    """Two files, or one that is cut in two: `part` tells for each line behind the header which part it belongs to."""

    title: str
    reference: str
    current: str
    part: Callable[[int, str], int | None] | None = None


def _air(at: int, line: str) -> int | None:
    return None if line.startswith(",") else int(at >= 4_700)


def _decade(at: int, line: str) -> int | None:
    year = int(line[7:11])
    return 0 if 1950 <= year < 1960 else 1 if 2000 <= year < 2010 else None


PAIRS = (
    Pair("wine: white, red", "winequality-white.csv", "winequality-red.csv"),
    Pair("heart: Cleveland, Hungarian", "heart_cleveland.csv", "heart_hungarian.csv"),
    Pair("heart: Cleveland, Switzerland", "heart_cleveland.csv", "heart_switzerland.csv"),
    Pair("heart: Cleveland, VA", "heart_cleveland.csv", "heart_va.csv"),
    Pair("occupancy: train, test", "occupancy_train.csv", "occupancy_test.csv"),
    Pair("occupancy: train, test2", "occupancy_train.csv", "occupancy_test2.csv"),
    Pair("air: first half, second half", "air.csv", "air.csv", _air),
    Pair("elec: rows to 17,424, rest", "elec.csv", "elec.csv", lambda at, line: int(at >= CONSTANT_UNTIL)),
    Pair("climate: 1950s, 2000s", "climate.csv", "climate.csv", _decade),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Look at and compare all pairs; print the table, or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, default=TABLES, help="folder of the files")
    parser.add_argument("--page", type=Path, help="page whose table is to be replaced")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        lines = [line(pair, asked.tables, Path(folder)) for pair in PAIRS]
    table = "\n".join(["| pair | understood | doubts | found |", "| --- | --- | --- | --- |", *lines])
    if asked.page is None:
        print(table)
        return
    before, _, rest = asked.page.read_text("utf-8").partition(START)
    asked.page.write_text(f"{before}{START}\n{table}\n{END}{rest.partition(END)[2]}", "utf-8")


def line(pair: Pair, tables: Path, folder: Path) -> str:
    """One line of the table."""
    paths = files(pair, tables, folder)
    look = ss.look(*paths)
    result = ss.compare(*paths)
    return "| " + " | ".join((pair.title, understood(look), "; ".join(look.doubts) or "none", found(result))) + " |"


def files(pair: Pair, tables: Path, folder: Path) -> tuple[Path, Path]:
    """The two files; those that are cut out of one have its header each."""
    if pair.part is None:
        return tables / pair.reference, tables / pair.current
    header, *lines = (tables / pair.reference).read_text("utf-8").splitlines(keepends=True)
    parts = [pair.part(at, text) for at, text in enumerate(lines)]
    paths = tuple(folder / f"{Path(pair.reference).stem}{part}.csv" for part in (0, 1))
    for part, path in enumerate(paths):
        path.write_text(header + "".join(text for text, own in zip(lines, parts, strict=True) if own == part), "utf-8")
    return paths[0], paths[1]


def understood(look: ss.Look) -> str:
    """Rows, how the files are written, kinds of columns, what is missing."""
    rows = " + ".join(f"{file.rows:,}" for file in look.files)
    written = dict.fromkeys(
        decision.what
        for file in look.files
        for decision in file.decisions
        if not decision.what.startswith(("encoding", "fields cut"))
    )
    kinds = [f"{count} {kind}" for kind, count in _counts(look)]
    marks = dict.fromkeys(mark.text or "empty" for column in look.columns for mark in column.missing)
    missing = f"; missing: {', '.join(marks)}" if marks else ""
    return f"{rows} rows; {'; '.join(written)}; {', '.join(kinds)}{missing}"


def _counts(look: ss.Look) -> Iterator[tuple[str, int]]:
    kinds = [column.kind for column in look.columns if len(column.samples) == len(look.files)]
    for kind in dict.fromkeys(kinds):
        yield kind, kinds.count(kind)


def found(result: ss.ShiftResult) -> str:
    """The verdict, and the first mode."""
    if not result.detected:
        return f"no difference (p = {result.p_value:.2g})"
    first = "; ".join(str(direction) for direction in result.modes[0].directions[:3]) if result.modes else ""
    return re.sub(r"\s+", " ", f"p = {result.p_value:.2g}: {first}").replace("|", "/")


if __name__ == "__main__":
    main()
