"""The command `report`: the page of a saved result, drawn again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shiftscope.cli.common import Debug, check_outputs, exit_codes, show_result, show_written


def report(
    result: Annotated[Path, typer.Argument(metavar="RESULT", help="JSON file that `compare --json` has written.")],
    report: Annotated[
        Path | None, typer.Option("--report", help="Where to write the page; beside RESULT, as .html, if not given.")
    ] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write verdict and modes as Markdown.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No verdict on the screen.")] = False,
    debug: Debug = False,
) -> None:
    """Write the report of a saved result again; nothing is computed."""
    with exit_codes(debug):
        from shiftscope.output_files import together
        from shiftscope.paths import as_path
        from shiftscope.report.html import write_html
        from shiftscope.report.markdown import write_markdown
        from shiftscope.report.saved_result import read_summary, told_of

        page = report or as_path(result).with_suffix(".html")
        files: list[Path | str] = [path for path in (page, markdown) if path is not None]
        check_outputs(files, inputs=(str(result),))
        summary = read_summary(result)
        with told_of(result), together():
            write_html(summary, page)
            if markdown is not None:
                write_markdown(summary, markdown)
        if not quiet:
            with told_of(result):
                show_result(summary, on_stderr=False)
            show_written(files, on_stderr=False)
