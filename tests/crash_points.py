"""Every command that writes, killed before its first, second, third, ... file operation.

`python -m tests.crash_points RESULT FOLDER` with a pickled result. The kill is `os._exit` in a forked process,
called by an audit hook of the interpreter before a file is opened for writing, renamed, linked, removed, cut, synced,
or a folder made: what is left on the disk is what a power cut or SIGKILL would leave. Computing is replaced by answers
that are there already; all that writes is real.
"""

from __future__ import annotations

import importlib
import io
import os
import pickle
import pkgutil
import re
import shutil
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.figure
import numpy as np

import shiftscope
import shiftscope as ss
import shiftscope.questions.monitor
import shiftscope.report.html
from shiftscope.cli import app
from shiftscope.questions.explain_rows import Inside, RowsExplanation
from shiftscope.questions.monitor_batch import BatchRow

KILLED = 77
OPERATIONS = ("os.rename", "os.remove", "os.link", "os.mkdir", "os.rmdir", "os.truncate")
LEFT_BEHIND = re.compile(r"\.shiftscope-[0-9a-f]{12}\.(part|former)")
PAIR = ("reference.csv", "current.csv")


@dataclass(frozen=True)
class Case:
    """A command, and the files that it writes, the last one last."""

    arguments: tuple[str, ...]
    targets: tuple[str, ...]
    appended: str = ""


CASES = {
    "compare": Case(
        ("compare", *PAIR, "--report", "r.html", "--markdown", "r.md", "--rows", "r.csv", "--equalised", "kept",
         "--json", "r.json"),
        ("r.html", "r.md", "r.csv", "kept/reference.csv", "kept/current.csv", "kept/rows.csv", "r.json"),
    ),
    "equalised": Case(
        ("compare", *PAIR, "--equalised", "kept"), ("kept/reference.csv", "kept/current.csv", "kept/rows.csv")
    ),
    "report": Case(("report", "saved.json", "--report", "r.html", "--markdown", "r.md"), ("r.html", "r.md")),
    "explain-rows": Case(("explain-rows", *PAIR, "--rows", "1,2", "--json", "r.json"), ("r.json",)),
    "certify": Case(("certify", *PAIR, "--json", "r.json"), ("r.json",)),
    "demo": Case(("demo", "--report", "r.html"), ("r.html",)),
    "fit": Case(("fit", "reference.csv", "r.detector"), ("r.detector",)),
    "monitor": Case(
        ("monitor", "reference.csv", *PAIR[1:], "third.csv", "--history", "h.jsonl", "--table", "t.csv", "--plot",
         "p.png", "--json", "r.json"),
        ("t.csv", "p.png", "r.json"),
        "h.jsonl",
    ),
}  # fmt: skip


def answered_at_once(result: ss.ShiftResult) -> None:
    """What takes time is done already, imports included."""
    for module in pkgutil.walk_packages(shiftscope.__path__, "shiftscope."):
        if "dask" not in module.name and "__main__" not in module.name:
            importlib.import_module(module.name)
    with suppress(SystemExit), redirect_stderr(io.StringIO()):  # the command line loads more when it is first used
        sys.argv = ["shiftscope", "report", "no such file"]
        app.main()
    explained = RowsExplanation(
        True,
        0.001,
        0.01,
        ("a",),
        np.array([1]),
        np.array([1, 2]),
        (),
        Inside(1, 2, 3),
        600,
        600,
        result.scan,  # type: ignore[arg-type]
    )

    class Certified:
        def to_json(self, path: Any = None) -> str:
            return explained.to_json(path)

    ss.compare = lambda *_, **__: result
    ss.explain_rows = lambda *_, **__: explained
    ss.certify = lambda *_, **__: Certified()
    shiftscope.report.html.page = lambda _: "a page"
    shiftscope.questions.monitor._Watcher.row = batch_row  # type: ignore[method-assign]
    matplotlib.figure.Figure.savefig = lambda _self, file, **_: file.write(b"a picture")  # type: ignore[method-assign]


def batch_row(watcher: Any, name: str, digest: str, table: Any) -> BatchRow:
    return BatchRow(len(watcher.rows) + 1, name, digest, table.n_rows, 0.5, 99, 0.01, False, 0, None, None)


def forked(work: Callable[[], object]) -> int:
    """The exit code of `work` in a process of its own."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 70
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        work()
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        os._exit(code)


def run(arguments: tuple[str, ...], dies_before: int = 0) -> int:
    """Run a command in this folder; the process dies before that operation if it comes so far."""
    here = os.getcwd()
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        if done == dies_before:
            os._exit(KILLED)

    def hook(event: str, details: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = details
            writes = bool((flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
            if writes and isinstance(path, str | os.PathLike) and os.path.abspath(path).startswith(here):
                count()
        elif event in OPERATIONS:
            count()

    def work() -> None:
        sync = os.fsync
        os.fsync = lambda handle: (count(), sync(handle))[1]  # type: ignore[func-returns-value]
        sys.addaudithook(hook)
        sys.argv = ["shiftscope", *arguments, *([] if arguments[0] in ("fit", "demo") else ["--quiet"])]
        app.main()

    return forked(work)


def contents() -> dict[str, bytes]:
    """All files of this folder."""
    return {str(path.relative_to(".")): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def check_left(case: Case, before: dict[str, bytes], after: dict[str, bytes]) -> None:
    """Each file is whole; while the last one is there, all are of one run; nothing else has changed."""
    left, last = contents(), case.targets[-1]
    for name in case.targets:
        allowed = {before.get(name), after[name]} | ({None} if name == last and len(case.targets) > 1 else set())
        assert left.get(name) in allowed, f"{name} is neither old nor new"
    runs = [all(left.get(name) == run.get(name) for name in case.targets) for run in (before, after)]
    assert last not in left or any(runs), f"{last} is there, and the files are of two runs"
    if case.appended:
        assert after[case.appended].startswith(left.get(case.appended, b""))
    others = left.keys() - {*case.targets, case.appended}
    strange = [name for name in others if name not in before and not LEFT_BEHIND.fullmatch(Path(name).name)]
    assert not strange, f"left behind: {strange}"
    assert all(left[name] == before[name] for name in others & before.keys())


def kill_everywhere(folder: Path, inputs: Path, case: Case, old: bool) -> int:
    """Kill the command before each operation; the next run must work and sweep up. How many operations there are."""

    def fresh() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(inputs, folder)
        os.chdir(folder)
        for name in case.targets if old else ():
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_text("old")

    fresh()
    before = contents()
    assert run(case.arguments) == 0
    after = contents()
    at = 0
    while True:
        at += 1
        fresh()
        code = run(case.arguments, dies_before=at)
        if code == 0:
            assert contents() == after
            return at - 1
        assert code == KILLED, f"exit code {code} instead of a kill before operation {at}"
        check_left(case, before, after)
        assert run(case.arguments) == 0, f"the run after a kill before operation {at} fails"
        assert contents() == after, f"what a kill before operation {at} left is not swept up"


def main(result: Path, folder: Path) -> None:
    """Print how many operations each command has, without and with files that it replaces."""
    answered_at_once(pickle.loads(result.read_bytes()))
    for name, case in CASES.items():
        counts = [kill_everywhere(folder, result.parent / "inputs", case, old) for old in (False, True)]
        print(name, *counts, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
