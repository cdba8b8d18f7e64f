"""The command line: its commands, and what it exits with.

Heavy modules are imported by the commands that need them, so that --version and --help answer at once.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from shiftscope._version import __version__
from shiftscope.cli import certify, compare, demo, explain_rows, fit, look, monitor, report
from shiftscope.cli.common import DONE, SHIFT_FOUND, USER_ERROR, complain, exit_code, flushed

_UsageError: Any = typer.BadParameter.__base__  # click's, wherever Typer keeps it

app = typer.Typer(
    help="Do two samples differ, in which rows, in which features, and which subsets agree?",
    pretty_exceptions_enable=False,
)
app.command()(compare.compare)
app.command()(look.look)
app.command()(demo.demo)
app.command()(report.report)
app.command()(fit.fit)
app.command()(monitor.monitor)
app.command("explain-rows")(explain_rows.explain_rows)
app.command()(certify.certify)


def main() -> None:
    """Run the command line and exit: 0 done, 1 shift found (--fail-on-shift), 2 user's mistake, 3 our fault."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a name that the terminal cannot show is no reason to fail
    try:
        code = app(standalone_mode=False, prog_name="shiftscope")
    except _UsageError as error:
        complain(error.format_message())
        code = USER_ERROR
    except SystemExit as end:  # shell completion ends so, and with 1 what wrote to a closed pipe
        code = exit_code(end) if end.code == SHIFT_FOUND else end.code
    except BaseException as error:  # of the command line itself: Python would exit with 1, which means a shift
        code = exit_code(error)
    sys.exit(flushed(code if isinstance(code, int) else DONE))


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"shiftscope {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
