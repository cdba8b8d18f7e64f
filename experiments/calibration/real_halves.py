"""Is the false-alarm rate what it says on real files? Random halves of each, written as files and compared.

    python -m experiments.calibration.real_halves --tables ../shared/data/tables --seeds 20

Lines stay as they are; a header goes into both halves. The table gives the pairs rejected at alpha = 0.01 for each
file, with the binomial 99 % interval around the nominal rate. One JSON file per pair; what is there is not computed
again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import binom

import shiftscope as ss
from experiments.command import StudyParser, seeds_of
from experiments.runner import Unit, run_units

SEEDS = 20
ALPHA = 0.01
ROWS = 4000  # lines drawn of a longer file
TABLES = Path(__file__).resolve().parents[3] / "shared" / "data" / "tables"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run missing pairs and print the table."""
    parser = StudyParser(__doc__, "real_halves")
    parser.add_argument("--tables", type=Path, default=TABLES, help="folder of the CSV files")
    parser.add_argument("--rows", type=int, default=ROWS, help="lines drawn of a longer file")
    asked = parser.parse_args(arguments)
    names = sorted(path.name for path in asked.tables.glob("*.csv"))
    keys = [(name, asked.rows, seed) for seed, name in product(seeds_of(asked, SEEDS), names)]
    print(table(run_units(keys, partial(unit, asked.tables), asked.out)))


def unit(folder: Path, name: str, rows: int, seed: int) -> Unit:
    """The p-value of one pair of halves."""
    with tempfile.TemporaryDirectory() as scratch:
        paths = halves(folder / name, rows, seed, Path(scratch))
        result = ss.compare(*paths, alpha=ALPHA, random_state=seed)
    return {"file": name, "rows": result.n_reference + result.n_current, "p_value": result.p_value}


def halves(path: Path, rows: int, seed: int, folder: Path) -> tuple[Path, Path]:
    """Two files of half of the lines each, drawn at random."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    headed = ss.look(path).columns[-1].name in lines[0]
    header, body = (lines[0], lines[1:]) if headed else ("", lines)
    body = [line for line in body if line.strip(",\r\n ")]
    drawn = np.random.default_rng([seed, len(body)]).permutation(len(body))[:rows]
    parts = drawn[: len(drawn) // 2], drawn[len(drawn) // 2 :]
    paths = folder / "reference.csv", folder / "current.csv"
    for target, part in zip(paths, parts, strict=True):
        target.write_text(header + "".join(body[at] for at in part), "utf-8")
    return paths


def table(units: list[Unit]) -> str:
    """Rejections per file and in total."""
    lines = [f"{'file':28s} {'rows':>6s} pairs  rejected at {ALPHA:g} [99 %]"]
    for name in [*sorted({unit["file"] for unit in units}), "all"]:
        own = [unit for unit in units if name in ("all", unit["file"])]
        low, high = binom.interval(0.99, len(own), ALPHA)
        rejected = sum(unit["p_value"] <= ALPHA for unit in own)
        most = max(unit["rows"] for unit in own)
        lines.append(f"{name:28s} {most:6d} {len(own):5d}  {rejected} [{low:.0f}, {high:.0f}]")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
