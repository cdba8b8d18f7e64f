"""What all commands share: their common options, exit codes, checks of output files, and how an answer is given."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from shiftscope.errors import EngineError, InputError, ParameterError

if TYPE_CHECKING:
    from shiftscope.params import CompareParams
    from shiftscope.progress import Progress
    from shiftscope.report.summary import Summary
    from shiftscope.results import ShiftResult
    from shiftscope.tables.column_choice import Columns
    from shiftscope.tables.options import TableKeywords

DONE, SHIFT_FOUND, USER_ERROR, FAULT, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 130, 141
STDOUT = "-"
FULL = (errno.ENOSPC, errno.EDQUOT)

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of a fault.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same result.")]


class Answer(Protocol):
    """What `put_answer` can give: words and JSON."""

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """JSON text, also written to `path` if given."""


@contextmanager
def exit_codes(debug: bool) -> Iterator[None]:
    """Turn what goes wrong into one line and an exit code."""
    try:
        yield
    except typer.Exit:
        raise
    except BaseException as error:  # Rust's panics are no Exception, and nothing but a shift may exit with 1
        raise typer.Exit(exit_code(error, debug)) from error


def exit_code(error: BaseException, debug: bool = False) -> int:
    """What a command ends with that an error has ended, after a line that tells why."""
    if isinstance(error, InputError | ParameterError | EngineError):
        complain(str(error))
        return USER_ERROR
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        complain("interrupted")
        return INTERRUPTED
    if isinstance(error, BrokenPipeError | SystemExit):  # libraries of ours end the process when a pipe is closed
        _let_go(sys.stdout)
        return PIPE_CLOSED
    if isinstance(error, OSError) and error.errno in FULL:  # files of ours say so themselves
        complain(f"standard output or a scratch file cannot be written ({error.strerror}); free some space")
        _let_go(sys.stdout)
        return USER_ERROR
    if debug:
        traceback.print_exc()
    hint = "" if debug else "; run again with --debug for the traceback"
    complain(f"a fault of shiftscope ({type(error).__name__}: {error}){hint}")
    return FAULT


def flushed(code: int) -> int:
    """The exit code after the last words are out: the interpreter would end with a code of its own if it cannot."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        return exit_code(error)
    return code


def _let_go(stream: Any) -> None:
    """Nobody reads any more, or nothing more can be written: spare the interpreter's last flush its error."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def complain(message: str) -> None:
    """One line on standard error, if that can be written: the exit code tells as well."""
    try:
        typer.echo(f"shiftscope: {' '.join(message.split())}", err=True)
    except (OSError, ValueError):
        _let_go(sys.stderr)


def check_outputs(paths: Sequence[Path | str], *, inputs: tuple[str, ...] = (), new_folder: Path | None = None) -> None:
    """Refuse what could not be written in the end, before anything is computed; `new_folder` will be made."""
    from shiftscope.output_files import check_target
    from shiftscope.tables.file_formats import files_of, would_be_read

    taken = {_identity(file): "an input" for source in inputs for file in files_of(source)}
    for path in paths:
        if str(path) == STDOUT:
            raise InputError("only --json takes - for standard output; give this output the name of a file")
        folder = Path(os.path.expanduser(path)).parent
        is_new = new_folder is not None and Path(path).parent == new_folder and not os.path.exists(folder)
        check_target(folder if is_new else path)
        this = _identity(path)
        if this in taken:
            raise InputError(f"{str(path)!r} is {taken[this]} already; choose another path for this output")
        real = os.path.realpath(os.path.expanduser(path))
        joined = next((source for source in inputs if would_be_read(real, source)), None)
        if joined is not None:
            raise InputError(
                f"{str(path)!r} would be read as part of the input {joined!r} next time; choose a path elsewhere"
            )
        taken[this] = "another output"


def _identity(path: Path | str) -> object:
    """What two names of one file share: links of any kind, and on some disks large and small letters."""
    real = os.path.realpath(os.path.expanduser(path))
    try:
        found = os.stat(real)
    except (OSError, ValueError):  # a new file
        folder = os.path.dirname(real)
        other = folder.swapcase()
        folds = other != folder and os.path.exists(other) and os.path.samefile(folder, other)
        return real.casefold() if folds else real
    return found.st_dev, found.st_ino


def shown_progress(quiet: bool) -> AbstractContextManager[Progress]:
    """Bars on a terminal; nothing if that is wished."""
    from shiftscope.progress import silent, terminal_progress

    return nullcontext(silent) if quiet else terminal_progress()


def json_files(json: str | None) -> list[Path | str]:
    """The file that --json names, if it names one."""
    return [] if json is None or json == STDOUT else [json]


def put_answer(
    answer: Answer, json: str | None, others: Mapping[Path, Callable[[Path], None]] | None = None, *, quiet: bool
) -> None:
    """Write an answer as JSON where --json says, and tell it in words unless that is not wished.

    `others` are further files, each with what writes it; all appear together.
    """
    from shiftscope.output_files import together

    files, others = json_files(json), others or {}
    with together():
        for path, write in others.items():
            write(path)
        text = answer.to_json(files[0] if files else None)  # the last one: while it is there, all are of one run
    if json == STDOUT:
        write_stdout(text)
    if not quiet:
        typer.echo(str(answer), err=json == STDOUT)
        show_written([*others, *files], on_stderr=json == STDOUT)


def write_stdout(text: str) -> None:
    """Write to standard output at once, so that a closed pipe is noticed here."""
    if sys.stdout is None:
        raise InputError("standard output is closed; give --json the name of a file")
    sys.stdout.write(text)
    sys.stdout.flush()


def show_written(paths: Sequence[Path | str], *, on_stderr: bool) -> None:
    """Tell which files were written."""
    for path in paths:
        typer.echo(f"Written: {path}", err=on_stderr)


def compared(
    reference: object,
    current: object,
    *,
    alpha: float,
    seed: int,
    quiet: bool,
    columns: Columns | None = None,
    params: CompareParams | None = None,
    engine: str = "local",
    tables: TableKeywords | None = None,
) -> ShiftResult:
    """Compare, with progress on a terminal; kernels that are not compiled yet are compiled by two processes."""
    import shiftscope as ss
    from shiftscope.compile_ahead import shared_compilation

    with shown_progress(quiet) as progress, shared_compilation():
        return ss.compare(
            reference,
            current,
            alpha=alpha,
            columns=columns,
            random_state=seed,
            params=params,
            engine=engine,
            progress=progress,
            **(tables or {}),
        )


def show_result(summary: Summary, *, on_stderr: bool) -> None:
    """The verdict and the modes on the screen."""
    from rich.console import Console

    from shiftscope.report.terminal import show

    show(summary, Console(stderr=on_stderr, highlight=False))
