"""Run one case in this process and say what became of it: answered, refused, or a fault with a signature.

The property is always the same: a right answer, or one line of ours; nothing else is touched.
"""

from __future__ import annotations

import decimal
import gc
import hashlib
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
import threadpoolctl
from sklearn.exceptions import NotFittedError

import shiftscope as ss
from shiftscope.cli.app import main
from shiftscope.errors import ShiftscopeError
from tests.fuzz import oracles
from tests.fuzz.oracles import WrongError, check_answer, check_output, check_refusal, must
from tests.fuzz.tagged import unpacked
from tests.fuzz.values import Maker
from validation.unchanged import digests

ANSWERED, REFUSED, UNBUILT, FAULT = "answered", "refused", "unbuilt", "fault"
DONE, SHIFT, USER_ERROR, FAULTY = 0, 1, 2, 3


@dataclass(frozen=True)
class Outcome:
    """What became of a case; faults of one signature are one fault."""

    kind: str
    signature: str = ""
    detail: str = ""


Cluster = Callable[[], Any]


def execute(case: dict[str, Any], cluster: Cluster) -> Outcome:
    """Run a case in a new folder."""
    with _new_folder() as place:
        folder = place / "here"
        folder.mkdir()
        for name, content in case["files"].items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(unpacked(content))
        with chdir(folder):
            return _judged(case, place, cluster)


@contextmanager
def _new_folder() -> Iterator[Path]:
    """A folder with a home and a place for scratch files of its own."""
    place = Path(tempfile.mkdtemp(prefix="shiftscope-fuzz-"))
    former = {name: os.environ.get(name) for name in ("HOME", "TMPDIR")}
    for name in former:
        (place / name.lower()).mkdir()
        os.environ[name] = str(place / name.lower())
    tempfile.tempdir = None
    try:
        yield place
    finally:
        for name, value in former.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
        tempfile.tempdir = None
        shutil.rmtree(place, ignore_errors=True)


def _judged(case: dict[str, Any], place: Path, cluster: Cluster) -> Outcome:
    run = _Command(case) if "argv" in case else _Call(case, Maker(place / "here", cluster))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other libraries, about data that are odd on purpose
            run.prepare()
    except Exception as error:  # the library of that form refuses such data: no input of ours
        return Outcome(UNBUILT, detail=repr(error)[:200])
    before, state = _files(place), _state()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outcome = run.outcome()
        caught = [one for one in caught if "/distributed/" not in one.filename and "/dask/" not in one.filename]
        must(not caught, f"no warning ({_shortened(str(caught[0].message)) if caught else ''})")
        changed = _changed(state, _state())
        must(not changed, f"nothing global has changed ({changed})")
        _check_files(before, _files(place), run.may_write(outcome))
    except WrongError as error:
        detail = error.args[1] if len(error.args) > 1 else traceback.format_exc()
        return Outcome(FAULT, f"wrong: {error.args[0]}", detail[-3000:])
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return Outcome(FAULT, signature(error), traceback.format_exc()[-3000:])
    return outcome


# --- one call in Python ----------------------------------------------------------------------------------------


class _Call:
    """A call of a public function, class or method, and, for a relation, the same once more in another way."""

    def __init__(self, case: dict[str, Any], maker: Maker) -> None:
        self.case, self.maker = case, maker

    def prepare(self) -> None:
        self.owner = self.maker.make(self.case["self"]) if "self" in self.case else ss
        self.args = {name: self.maker.make(value) for name, value in self.case["args"].items()}
        relation = self.case.get("relation")
        if relation:
            self.other = {**self.args, **{name: self.maker.make(one) for name, one in relation["other"].items()}}

    def outcome(self) -> Outcome:
        answer = self._answer(self.args)
        relation = self.case.get("relation")
        if relation:
            second = self._answer(self.other)
            refused = isinstance(answer, Outcome), isinstance(second, Outcome)
            must(refused[0] == refused[1], f"{relation['kind']}: both are answered or none")
            if not any(refused):
                second = second.swapped() if relation["turned"] else second
                one, other = digests(answer), digests(second)
                odd = next((name for name in one if one[name] != other.get(name)), None)
                must(odd is None, f"{relation['kind']}: the answers agree in {odd}")
        return answer if isinstance(answer, Outcome) else Outcome(ANSWERED)

    def _answer(self, args: dict[str, Any]) -> Any:
        """The answer, checked; an Outcome if it was refused."""
        try:
            found = getattr(self.owner, self.case["call"])
            answer = found(**args) if callable(found) else found
        except ShiftscopeError as error:
            check_refusal(str(error))
            return Outcome(REFUSED, detail=str(error)[:300])
        except (NotFittedError, TypeError) as error:
            if isinstance(error, TypeError) and "sparse" not in str(error):
                raise
            return Outcome(REFUSED, detail=str(error)[:300])
        check_answer(answer)
        return answer

    def may_write(self, outcome: Outcome) -> set[str]:
        written = [self.args.get(name) for name in ("path", "history")]
        return {os.fspath(one) for one in written if isinstance(one, str | os.PathLike)}


# --- one command -----------------------------------------------------------------------------------------------


class _Command:
    """A command line in this process; standard output and error are files behind 1 and 2."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.argv = [str(word) for word in case["argv"]]
        self.twice = case.get("twice", False)

    def prepare(self) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        for stream in (1, 2):
            os.ftruncate(stream, 0)
            os.lseek(stream, 0, os.SEEK_SET)

    def outcome(self) -> Outcome:
        if self.twice:
            before = _contents()
            first = self._run(), _contents()
            _restore(before)
            must((self._run(), _contents()) == first, "the same command once more writes the same bytes")
            _restore(before)
        code, out, err = self._run()
        if code in (DONE, SHIFT):
            self._check_outputs(code, out)
            return Outcome(ANSWERED)
        if code == FAULTY:
            _, _, err = self._run("--debug")
            raise WrongError(f"exit code 3: {_place(err)}", err)
        must(code == USER_ERROR, f"exit code {code}: {_shortened(err)}")
        must(not out, "a refusal leaves standard output alone")
        if not (err.startswith("shiftscope: ") and err.count("\n") == 1):
            raise WrongError(f"a refusal is one line on standard error ({_shortened(err)})", err)
        check_refusal(err.rstrip("\n"))
        return Outcome(REFUSED, detail=err[:300])

    def _run(self, *more: str) -> tuple[int, str, str]:
        self.prepare()
        argv, sys.argv = sys.argv, ["shiftscope", *self.argv[:1], *more, *self.argv[1:]]
        try:
            main()
            code: Any = 0
        except SystemExit as stop:
            code = stop.code or 0
        finally:
            sys.argv = argv
            sys.stdout.flush()
            sys.stderr.flush()
        return code, _read(1), _read(2)

    def _check_outputs(self, code: int, out: str) -> None:
        if "--help" in self.argv or "--version" in self.argv:
            return
        text = out if self._after("--json") == "-" else None
        path = self._after("--json")
        if path and path != "-" and Path(path).is_file():
            text = Path(path).read_text("utf-8")
        found = None
        if text is not None:
            found = oracles.check_result_json(text) if self.argv[0] == "compare" else oracles.json.loads(text)
        if code == SHIFT:
            must("--fail-on-shift" in self.argv, "exit 1 only if asked for")
        if found is not None and "--fail-on-shift" in self.argv and self.argv[0] in ("compare", "monitor"):
            shift = found["detected"] if self.argv[0] == "compare" else any(row["alarm"] for row in found["rows"])
            must(shift == (code == SHIFT), "the exit code is that of the verdict")
        for option in ("--report", "--markdown", "--rows", "--table", "--plot", "--json"):
            name = self._after(option)
            if name and name != "-" and (option != "--rows" or self.argv[0] == "compare") and Path(name).is_file():
                check_output(Path(name))

    def _after(self, option: str) -> str | None:
        """The last value of an option."""
        found = [self.argv[at + 1] for at, word in enumerate(self.argv[:-1]) if word == option]
        return found[-1] if found else None

    def may_write(self, outcome: Outcome) -> set[str]:
        """Everything that is named, if there is an answer; a history keeps what was done before a refusal."""
        if outcome.kind == ANSWERED:
            folder = self._after("--equalised")
            default = (
                {"report.html"} if self.argv[0] == "demo" else {"result.html"} if self.argv[0] == "report" else set()
            )
            return {*self.argv, *default, *([] if folder is None else [f"{folder}/*"])}
        history = self._after("--history")
        return {history} if history else set()


def _read(stream: int) -> str:
    size = os.fstat(stream).st_size
    return os.pread(stream, size, 0).decode("utf-8", "replace")


def _contents() -> dict[Path, bytes]:
    """All files of this folder."""
    return {path: path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


def _restore(before: dict[Path, bytes]) -> None:
    """This folder as it was."""
    for path in set(_contents()) - set(before):
        path.unlink()
    for path, content in before.items():
        path.write_bytes(content)


# --- what must stay as it was ----------------------------------------------------------------------------------


def _files(place: Path) -> dict[str, str]:
    """All files, folders and links below a folder, with what they hold."""
    found = {}
    for path in place.rglob("*"):
        name = path.relative_to(place).as_posix()
        found[name] = hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest() if path.is_file() else "folder"
    return found


def _check_files(before: dict[str, str], after: dict[str, str], may_write: set[str]) -> None:
    allowed = {os.path.normpath(f"here/{name}") for name in may_write}
    for name in before:
        if before[name] != after.get(name) and name not in allowed:
            raise WrongError("a file that is no output was changed")
    for name in after:
        if name in before or name in allowed or name.startswith("tmpdir/"):
            continue
        parent = name.rpartition("/")[0]
        must(f"{parent}/*" in allowed or f"{name}/*" in allowed, f"no other file appears ({_shortened(name)})")
    must(not [name for name in after if ".part" in name or ".former" in name], "nothing half-written is left")


def _state() -> dict[str, object]:
    """What a library must leave as it found it."""
    plots = sys.modules.get("matplotlib.pyplot")
    style = sys.modules.get("matplotlib")
    return {
        "random": 0 if "dask" in sys.modules else hash(random.getstate()),  # Dask draws from it
        "numpy random": repr(np.random.get_state()),  # noqa: NPY002 - the state that others may use
        "numpy errors": tuple(np.geterr().items()),
        "numpy printing": repr(np.get_printoptions()),
        "warnings": len(warnings.filters),
        "folder": os.getcwd(),
        "environment": hash(tuple(sorted(os.environ.items()))),
        "signals": tuple(repr(signal.getsignal(one)) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)),
        "numba threads": numba.get_num_threads(),
        "pools": tuple((pool["filepath"], pool["num_threads"]) for pool in threadpoolctl.threadpool_info()),
        "figures": tuple(plots.get_fignums()) if plots else (),
        "style": hash(repr(style.rcParams)) if style else 0,
        "decimal": (decimal.getcontext().prec, decimal.getcontext().rounding),
        "garbage": gc.isenabled(),
        "recursion": sys.getrecursionlimit(),
        "path": len(sys.path),
    }


def _changed(before: dict[str, object], after: dict[str, object]) -> str:
    loaded_now = {"style": 0, "figures": ()}  # a module that was not there yet
    names = [name for name in before if before[name] != after[name] and before[name] != loaded_now.get(name, -1)]
    return ", ".join(names)


# --- signatures ------------------------------------------------------------------------------------------------


def signature(error: BaseException) -> str:
    """Kind, place and words of an error, without what differs from input to input."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/shiftscope/" in frame.filename]
    place = f"{frames[-1].filename.rpartition('/shiftscope/')[2]}:{frames[-1].name}" if frames else "outside"
    return f"{type(error).__name__} in {place}: {_shortened(str(error))}"


def _place(debug: str) -> str:
    """Where a fault of the command line lies, and its words: from what --debug shows."""
    frames = re.findall(r'File ".*/shiftscope/(\S+)", line \d+, in (\S+)', debug)
    place = ":".join(frames[-1]) if frames else "outside"
    words = re.search(r"a fault of shiftscope \((.*)\)", debug)
    return f"{place}: {_shortened(words[1] if words else debug)}"


def _shortened(text: str) -> str:
    line = text.strip().splitlines()[0] if text.strip() else ""
    line = re.sub(r"(object, not|of type|has no attribute|got) \S+", r"\1 …", line)
    return re.sub(r"\d+", "N", re.sub(r"'[^']*'|\"[^\"]*\"", "…", line))[:100]
