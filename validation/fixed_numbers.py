"""How far the fixed numbers may move: each smaller and larger in a copy of the sources, and what is then told.

    python -m validation.fixed_numbers --seeds 100-100 --page docs/constants.md

Compiled code has its numbers baked in, so a number is changed where it stands: in a copy of the package, by text, and
the probes of `validation.probes` run in a process that imports the copy. One JSON file per number, value and unit; what
is there is not computed again.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import shiftscope
from experiments.command import Seeds
from experiments.markdown import markdown_table, renew
from experiments.runner import Unit
from validation.probes import PROBES, compared_tables

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "shiftscope"
TABLES = ROOT.parent / "shared" / "data" / "tables"
MARK = "fixed numbers"  # of the page
PRELOADED = ("numba", "numpy", "pandas", "scipy.optimize", "scipy.spatial", "scipy.stats", "sklearn.ensemble")  # once


@dataclass(frozen=True)
class Number:
    """A fixed number: where it stands, as what, what else it is made, and the probe that is asked."""

    name: str
    file: str
    usual: str
    others: tuple[str, ...]
    probe: str
    line: str = "\n{name} = {value}"  # as it stands in the file

    def changed(self, source: str, value: str) -> str:
        """The text of its file with another value; the usual one must stand there exactly once."""
        old, new = (self.line.format(name=self.name, value=one) for one in (self.usual, value))
        if source.count(old) != 1:
            raise SystemExit(f"{self.file} must have {old.strip()!r} once, found {source.count(old)} times")
        return source.replace(old, new)


NUMBERS = (
    Number("BOX_BINS", "kernels/box_growth.py", "32", ("16", "64"), "scan"),
    Number("BIN_SLACK", "kernels/box_growth.py", "2", ("1", "4"), "scan"),
    Number("GROWN_SHARE", "kernels/box_growth.py", "8", ("4", "16"), "scan"),
    Number("POOLED_CELLS", "kernels/window_counts.py", "512", ("64", "4096"), "scan"),
    Number("FINEST", "subspaces/windows.py", "(256, 64, 16)", ("(128, 32, 8)", "(256, 128, 32)"), "scan"),
    Number("COARSEST", "subspaces/windows.py", "4", ("2", "8"), "scan"),
    Number("DENSER_TRIPLES", "subspaces/windows.py", "2", ("1", "4"), "scan"),
    Number("_LOOKED_AT", "subspaces/windows.py", "64", ("32", "128"), "scan"),
    Number("_LOOKED_AT_PER_SEED", "subspaces/windows.py", "16", ("8", "32"), "scan"),
    Number("_FEWER_PAIRS", "subspaces/scan.py", "4", ("2", "8"), "scan"),
    Number("COVARIANCE_ROWS", "subspaces/contrasts.py", "(1024, 4096)", ("(512, 2048)", "(2048, 8192)"), "scan"),
    Number("_RANK_TOLERANCE", "subspaces/contrasts.py", "1e-6", ("1e-9", "1e-3"), "scan"),
    Number("GAP_CODES", "encoding/bins.py", "32", ("16", "64"), "scan"),
    Number("the 1 in Z", "full_space/tail_test.py", "1.0", ("0.5", "2.0"), "full space", "sqrt(expected + {value})"),
    Number("KNOTS", "full_space/tail_test.py", "512", ("256", "1024"), "full space"),
    Number("STEP_SHARE", "full_space/equalise.py", "0.01", ("0.005", "0.02"), "full space"),
    Number("SECOND_CHANCE", "modes/localise.py", "0.5", ("0.25", "1.0"), "full space"),
    Number("MAX_VALIDATION_QUERIES", "modes/feature_count.py", "500", ("50", "1000"), "full space"),
    Number("DEFAULT_Z", "modes/density_peaks.py", "2.65", ("1.3", "5.3"), "full space"),
    Number("PEAK_NEIGHBOURS", "modes/density_peaks.py", "100", ("50", "200"), "full space"),
    Number("METRIC_LEVELS", "encoding/features.py", "16", ("8", "32"), "full space"),
    Number("WIDEST", "modes/excess.py", "8.0", ("4.0", "16.0"), "interval"),
    Number("MATCHES", "questions/matched_rows.py", "4", ("2", "8"), "suspected rows"),
    Number("MATCHED_ROWS", "questions/matched_rows.py", "200", ("100", "400"), "suspected rows"),
    Number("STAYS", "questions/matched_rows.py", "0.05", ("0.025", "0.1"), "suspected rows"),
    Number("LEAST_GAP", "questions/matched_rows.py", "0.4", ("0.2", "0.8"), "suspected rows"),
    Number("MOVED", "modes/mode.py", "0.25", ("0.125", "0.5"), "words"),
    Number("NARROWER, WIDER", "modes/mode.py", "0.75, 1.33", ("0.5, 2.0", "0.87, 1.15"), "words"),
    Number("ALIKE", "modes/mode.py", "0.1", ("0.05", "0.2"), "words"),
    Number("TOLD_SHARE", "modes/mode.py", "0.1", ("0.05", "0.2"), "words"),
    Number("TOLD_RATIO", "modes/mode.py", "2.0", ("1.5", "4.0"), "words"),
    Number("NOISE", "modes/describe.py", "2.0", ("1.0", "4.0"), "words"),
    Number("MOSTLY", "modes/describe.py", "0.5", ("0.25", "0.75"), "words"),
    Number("POWER", "subspaces/detectable.py", "0.9", ("0.8", "0.95"), "smallest group"),
    Number("REGION_SHARE", "questions/monitor.py", "0.9", ("0.8", "0.95"), "region"),
    Number("FIRST", "labellings/staged_p_value.py", "127", ("63", "255"), "staged p-value"),
    Number("GROWTH", "labellings/staged_p_value.py", "8", ("4", "16"), "staged p-value"),
    Number("NEAR", "labellings/staged_p_value.py", "4", ("2", "8"), "staged p-value"),
    Number("LEADERS", "labellings/staged_p_value.py", "4", ("2", "8"), "staged p-value"),
    Number("FOLDS", "questions/independent_tests.py", "5", ("3", "10"), "independent tests"),
    Number("TREES", "questions/independent_tests.py", "60", ("30", "120"), "independent tests"),
    Number("ENERGY_ROWS", "questions/independent_tests.py", "1500", ("250", "3000"), "independent tests"),
    Number(
        "TOP_SHARES",
        "questions/independent_tests.py",
        "(0.001, 0.003, 0.01, 0.03, 0.1)",
        ("(0.01, 0.1)", "(0.002, 0.006, 0.02, 0.06, 0.2)"),
        "independent tests",
    ),
    Number("FEW_LEVELS", "encoding/identifiers.py", "20", ("10", "40"), "few rows"),
    Number("DISTINCT_SHARE", "encoding/identifiers.py", "0.5", ("0.25", "0.75"), "columns"),
    Number("ODD_SHARE", "encoding/identifiers.py", "0.1", ("0.05", "0.2"), "columns"),
    Number("ENOUGH_ROWS", "encoding/identifiers.py", "50", ("25", "100"), "few rows"),
)


@dataclass(frozen=True)
class Asking:
    """Where units go, the seeds of planted shifts, and where the public tables are."""

    out: Path
    seeds: tuple[int, ...]
    tables: Path

    def usual(self, probe: str) -> list[Unit]:
        """The answers of a probe with all numbers as they are."""
        return PROBES[probe].units(self.seeds, self.out / "usual" / probe, self._read_by(probe))

    def changed(self, number: Number, value: str) -> list[Unit]:
        """The answers of the probe of a number that has another value."""
        arguments = self.seeds, self.out / f"{number.name} = {value}", self._read_by(number.probe)
        if not self.is_answered(number, value):
            with copied(number, value) as source:
                in_process(source, number.probe, *arguments)
        return PROBES[number.probe].units(*arguments)

    def is_answered(self, number: Number, value: str) -> bool:
        """Whether no answer with this value is missing."""
        return PROBES[number.probe].is_answered(self.seeds, self.out / f"{number.name} = {value}")

    def _read_by(self, probe: str) -> Path:
        return {"": ROOT, "tables": self.tables, "results": self.out / "results"}[PROBES[probe].reads]


def in_process(source: Path, *arguments: object) -> None:
    """Answer a probe in a process of its own that imports the package from `source`."""
    context = get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    sys.path.insert(0, str(source.parent))  # the process gets it; this one has its package already
    try:
        process = context.Process(target=answer, args=(source, *arguments))
        process.start()
    finally:
        sys.path.pop(0)
    process.join()
    if process.exitcode:
        raise SystemExit(f"the probe with the sources in {source} failed")


def answer(source: Path, probe: str, seeds: tuple[int, ...], out: Path, folder: Path) -> None:
    """Compute the missing units of a probe, with the sources named and no others."""
    used = Path(shiftscope.__file__).parent
    if used.resolve() != source.resolve():
        raise SystemExit(f"shiftscope must be the one in {source}, found {used}")
    PROBES[probe].units(seeds, out, folder)


@contextmanager
def copied(number: Number, value: str) -> Iterator[Path]:
    """A copy of the package with one number changed, and without compiled code that knows the old one."""
    with TemporaryDirectory() as folder:
        source = Path(folder) / SOURCE.name
        shutil.copytree(SOURCE, source)
        file = source / number.file
        file.write_text(number.changed(file.read_text("utf-8"), value), "utf-8")
        for user in (source / "kernels").glob("*.py"):
            if f"kernels.{file.stem} import" in user.read_text("utf-8"):
                for compiled in user.parent.glob(f"__pycache__/{user.stem}.*.nb?"):
                    compiled.unlink()
        yield source


def told(usual: list[Unit], changed: list[Unit]) -> list[object]:
    """Answers that differ from the usual ones, right ones, and figures."""
    pairs = [(one, other) for one, other in zip(usual, changed, strict=True)]
    total = sum(max(len(one["answers"]), len(other["answers"])) for one, other in pairs)
    differ = sum(_differing(one["answers"], other["answers"]) for one, other in pairs)
    right = [one for unit in changed for one in unit["right"]]
    means: dict[str, list[float]] = {}
    for unit in changed:
        for name, value in unit["figures"].items():
            means.setdefault(name, []).append(value)
    figures = ", ".join(f"{name} {np.mean(values):.3g}" for name, values in means.items())
    return [f"{differ} of {total}", f"{sum(right)} of {len(right)}" if right else "–", figures or "–"]


def _differing(one: list[object], other: list[object]) -> int:
    """Places in which two lists differ, the longer one's overhang included."""
    return sum(a != b for a, b in zip(one, other, strict=False)) + abs(len(one) - len(other))


def table(asking: Asking, numbers: Sequence[Number], so_far: bool = False) -> str:
    """All numbers, by what is asked: first as it is, then with each number changed; or what is known so far."""
    rows = []
    for probe in dict.fromkeys(number.probe for number in numbers):
        usual = asking.usual(probe)
        rows.append([f"*{probe}*: all as they are", *told(usual, usual)])
        for number in (one for one in numbers if one.probe == probe):
            for value in number.others:
                waits = so_far and not asking.is_answered(number, value)
                name = f"`{number.name}`" if number.line == Number.line else number.name
                figures = ["not run yet", "–", "–"] if waits else told(usual, asking.changed(number, value))
                rows.append([f"{name} = {value}", *figures])
    return markdown_table(["number", "answers changed", "right", "figures"], rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run missing units, print the table and fill the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="+", action=Seeds, default=[100], help="ranges such as 100-101")
    parser.add_argument(
        "--only", nargs="+", metavar="PROBE", choices=list(PROBES), help="what is asked; all by default"
    )
    parser.add_argument("--tables", type=Path, default=TABLES, help="folder of the public tables")
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "fixed_numbers", help="folder of the units")
    parser.add_argument("--page", type=Path, help="page whose table is filled in")
    parser.add_argument("--so-far", action="store_true", help="tell what is there, and change no further number")
    asked = parser.parse_args(arguments)
    numbers = [number for number in NUMBERS if number.probe in (asked.only or PROBES)]
    if any(PROBES[number.probe].reads == "results" for number in numbers):
        compared_tables(asked.tables, asked.out / "results")
    found = table(Asking(asked.out, tuple(asked.seeds), asked.tables), numbers, asked.so_far)
    print(found)
    if asked.page is not None:
        renew(asked.page, MARK, found)


if __name__ == "__main__":
    main()
