"""The command `explain-rows`: are the rows that someone suspects anomalous, and in which columns?"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shiftscope.cli.common import Debug, Seed, check_outputs, exit_codes, json_files, put_answer, shown_progress
from shiftscope.errors import InputError
from shiftscope.messages import shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_POSITIONS = 10_000_000  # that a list may name: a slip of the pen must not fill the memory
_POSITIONS = re.compile(r"\s*(\d+)(?:\s*-\s*(\d+))?\s*")


def explain_rows(
    reference: Annotated[str, typer.Argument(metavar="REFERENCE", help="Table file of the reference.")],
    current: Annotated[str, typer.Argument(metavar="CURRENT", help="Table file with the suspected rows.")],
    rows: Annotated[
        str,
        typer.Option(
            "--rows",
            metavar="FILE|POSITIONS",
            help="Suspected rows of CURRENT, from 0: 3,17,40-60, or a text file of such, or a table with a column row.",
        ),
    ],
    alpha: Annotated[float, typer.Option("--alpha", help="How often random rows may be explained.")] = 0.01,
    seed: Seed = 0,
    json: Annotated[str | None, typer.Option("--json", metavar="PATH|-", help="Write the answer as JSON.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No answer and no progress on the screen.")] = False,
    debug: Debug = False,
) -> None:
    """Find the columns in which suspected rows stand out, or say that there are none."""
    with exit_codes(debug):
        check_outputs(json_files(json), inputs=(reference, current, rows))
        suspected = read_positions(rows)
        import shiftscope as ss

        with shown_progress(quiet) as progress:
            found = ss.explain_rows(reference, current, suspected, alpha=alpha, random_state=seed, progress=progress)
        put_answer(found, json, quiet=quiet)


def read_positions(rows: str) -> NDArray[np.intp]:
    """Row positions from the text of an option, from a text file, or from the column `row` of a table.

    A table with a column `sample`, as `compare --rows` writes it, gives its rows of the current sample.
    """
    path = Path(os.path.expanduser(rows))
    if not os.path.isfile(path):  # also of what is too long for the name of a file
        if not re.fullmatch(r"[\d\s,-]+", rows):
            raise InputError(f"--rows {shown(rows)} is neither a file nor a list of positions such as 3,17,40-60")
        return parse_positions(rows)
    if path.suffix.lower() in (".parquet", ".csv"):
        return _from_table(path)
    try:
        return parse_positions(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--rows {rows!r} cannot be read as text ({error}); give positions, one a line") from error


def parse_positions(text: str, option: str = "--rows") -> NDArray[np.intp]:
    """Positions and ranges, divided by commas, spaces or line ends."""
    import numpy as np

    found: list[int] = []
    for word in re.split(r"[,\n]", re.sub(r"(?<=\d)\s+(?=\d)", ",", text.strip())):
        match = _POSITIONS.fullmatch(word)
        if match is None:
            if not word.strip():
                continue
            raise InputError(f"{option}: {word.strip()[:40]!r} is no position; write such as 3,17,40-60")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise InputError(f"{option}: {word.strip()[:40]!r} runs backwards; write the smaller position first")
        if len(found) + last - first >= MOST_POSITIONS or last > np.iinfo(np.intp).max:
            raise InputError(f"{option}: {word.strip()[:40]!r} exceeds {MOST_POSITIONS:,} positions; name fewer rows")
        found += range(first, last + 1)
    return np.array(found, dtype=np.intp)


def _from_table(path: Path) -> NDArray[np.intp]:
    import numpy as np
    import polars as pl

    try:
        frame = pl.read_parquet(path) if path.suffix.lower() == ".parquet" else pl.read_csv(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"--rows {str(path)!r} cannot be read ({str(error).splitlines()[0]})") from error
    if "row" not in frame.columns or not frame["row"].dtype.is_integer():
        raise InputError(f"--rows {str(path)!r} has no column 'row' of whole numbers; name it so")
    if {"mode", "sample", "score"} <= set(frame.columns):
        raise InputError(
            f"--rows {str(path)!r} comes from `compare --rows`: rows that a search of the same columns has chosen "
            "explain themselves; name rows that were suspected for another reason"
        )
    if "sample" in frame.columns:
        frame = frame.filter(pl.col("sample").cast(pl.String, strict=False) == "current")
    if frame["row"].null_count():
        raise InputError(f"--rows {str(path)!r} has gaps in its column 'row'; fill or remove them")
    return np.asarray(frame["row"].to_numpy(), dtype=np.intp)
