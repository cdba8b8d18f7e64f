"""The command `compare`: two files in; verdict, page and files out."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shiftscope.cli.certify import Asked, Keep, MaxShare, Modes
from shiftscope.cli.columns import Exclude, Include, Kinds, given_columns
from shiftscope.cli.common import (
    SHIFT_FOUND,
    STDOUT,
    Debug,
    Seed,
    check_outputs,
    compared,
    exit_codes,
    json_files,
    show_result,
    show_written,
    write_stdout,
)
from shiftscope.cli.tables import (
    Comment,
    DayFirst,
    Decimal,
    Delimiter,
    Encoding,
    Header,
    Missing,
    Names,
    Thousands,
    given_tables,
)
from shiftscope.errors import InputError, ParameterError

if TYPE_CHECKING:
    from shiftscope.findings import Subset
    from shiftscope.results import ShiftResult
    from shiftscope.tables.options import TableKeywords

KEPT_ROWS = "rows.csv"  # in the folder of the rows kept: which ones they are


def compare(
    reference: Annotated[
        str,
        typer.Argument(
            metavar="REFERENCE",
            help="A file (text, JSON lines, Parquet, Arrow, NPY, NPZ), a folder of Parquet files or a quoted pattern.",
        ),
    ],
    current: Annotated[str, typer.Argument(metavar="CURRENT", help="What to compare with it, in any of these forms.")],
    report: Annotated[Path | None, typer.Option("--report", help="Write the report as one HTML page.")] = None,
    json: Annotated[str | None, typer.Option("--json", metavar="PATH|-", help="Write the result as JSON.")] = None,
    alpha: Annotated[float, typer.Option("--alpha", help="How often equal samples may be called different.")] = 0.01,
    seed: Seed = 0,
    include: Include = None,
    exclude: Exclude = None,
    kind: Kinds = None,
    rows: Annotated[Path | None, typer.Option("--rows", help="Write the modes' rows as .parquet or .csv.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write verdict and modes as Markdown.")] = None,
    equalised: Annotated[
        Path | None, typer.Option("--equalised", metavar="DIR", help="Write the rows kept of both files to a folder.")
    ] = None,
    keep: Keep = None,
    max_share: MaxShare = None,
    modes: Modes = None,
    fail_on_shift: Annotated[bool, typer.Option("--fail-on-shift", help="Exit with 1 if the samples differ.")] = False,
    engine: Annotated[str, typer.Option("--engine", help="Where to compute: local, or dask on a cluster.")] = "local",
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", metavar="ADDRESS", help="Dask scheduler; without it, one is started.")
    ] = None,
    header: Header = None,
    names: Names = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    encoding: Encoding = None,
    missing: Missing = None,
    comment: Comment = None,
    day_first: DayFirst = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No verdict and no progress on the screen.")] = False,
    debug: Debug = False,
) -> None:
    """Compare two files: do they differ, where, in which rows and in which columns?"""
    with exit_codes(debug):
        from shiftscope.output_files import together

        kept = _kept_paths(equalised, reference, current)
        if not kept and not (keep is None and max_share is None and modes is None):
            raise ParameterError("--keep, --max-share and --modes say what --equalised DIR is to write; give it too")
        files = [*(path for path in (report, markdown, rows) if path is not None), *kept, *json_files(json)]
        _check_rows(rows)
        check_outputs(files, inputs=(reference, current), new_folder=equalised)
        columns, where = given_columns(include, exclude, kind), _engine(engine, scheduler)
        tables = given_tables(header, names, delimiter, decimal, thousands, encoding, missing, comment, day_first)
        asked = Asked.of(keep, max_share, modes)
        result = compared(
            reference, current, alpha=alpha, seed=seed, quiet=quiet, columns=columns, engine=where, tables=tables
        )
        subset = asked.subset(result)
        with together():
            _write(result, report, markdown, rows)
            _write_kept(result, subset, (reference, current), kept, tables)
            for path in json_files(json):  # the last one: while it is there, all are of one run
                result.to_json(path)
        if json == STDOUT:
            write_stdout(result.to_json())
        if not quiet:
            show_result(result.summary, on_stderr=json == STDOUT)
            show_written(files, on_stderr=json == STDOUT)
        if fail_on_shift and result.detected:
            raise typer.Exit(SHIFT_FOUND)


def _kept_paths(folder: Path | None, reference: str, current: str) -> tuple[Path, ...]:
    """Where the rows kept go: reference and current, each with the suffix of its input; then their positions."""
    if folder is None:
        return ()
    place = os.path.expanduser(folder)
    if os.path.exists(place) and not os.path.isdir(place):
        raise InputError(f"--equalised {str(folder)!r} is a file; give the name of a folder, which may be a new one")
    from shiftscope.tables.file_copies import copy_suffix

    return folder / f"reference{copy_suffix(reference)}", folder / f"current{copy_suffix(current)}", folder / KEPT_ROWS


def _check_rows(path: Path | None) -> None:
    """Refuse a table format that is not known, before anything is computed."""
    if path is not None:
        from shiftscope.report.spreadsheets import check_suffix

        check_suffix(path, "--rows")


def _engine(name: str, scheduler: str | None) -> str:
    """What `compare` takes for an engine: its name, or the address of a scheduler."""
    if scheduler is None:
        return name
    if name != "dask" or "://" not in scheduler:
        raise ParameterError(
            f"--scheduler {scheduler!r} goes with --engine dask and is an address such as tcp://10.0.0.1:8786"
        )
    return scheduler


def _write(result: ShiftResult, report: Path | None, markdown: Path | None, rows: Path | None) -> None:
    if report is not None:
        result.to_html(report)
    if markdown is not None:
        result.to_markdown(markdown)
    if rows is not None:
        from shiftscope.report.mode_rows import write_rows

        write_rows(result, rows)


def _write_kept(
    result: ShiftResult, subset: Subset, sources: tuple[str, str], targets: tuple[Path, ...], tables: TableKeywords
) -> None:
    """Both equalised files and the positions of their rows, if they are wanted and can be had."""
    if not targets:
        return
    if result.gathered is not None:
        raise InputError("--equalised needs all rows on this machine; use result.kept_current on the gathered ones")
    from shiftscope.output_files import make_folder, whole_file
    from shiftscope.tables.file_copies import extract_rows, write_positions
    from shiftscope.tables.options import TableOptions

    kept = ((subset.kept_reference, subset.n_reference), (subset.kept_current, subset.n_current))
    *copies, positions = targets
    make_folder(positions.parent)
    for source, (rows, n_rows), target in zip(sources, kept, copies, strict=True):
        with whole_file(target) as file:
            extract_rows(source, rows, n_rows, file, TableOptions.of(tables))
    with whole_file(positions) as file:
        write_positions(subset.kept_reference, subset.kept_current, file)
