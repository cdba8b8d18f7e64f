"""Two shifts of different kinds: are both told, and does a fresh comparison agree with what is said of the rows kept?

    python -m experiments.calibration.two_shifts --seeds 10-19

300 + 300 rows, nine columns of numbers and three of categories. The kinds: the shares of a category change ("level"), a
column loses values ("gap"), 80 rows gather in two columns ("group"), two columns become correlated, a column becomes
wider ("scale"); every pair of kinds, and each kind alone, in columns of their own. A shift is told if a mode has
exactly its columns, and named if a mode has these among others. One JSON file per pair; what is there is not computed
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pandas as pd

import shiftscope as ss
from experiments.command import StudyParser, seeds_of
from experiments.runner import Unit, run_units

SEEDS = 10
N, GROUP = 300, 80  # rows of either sample, and of the group
NUMBERS, CATEGORIES = 9, 3
LEVELS, BEFORE, AFTER = list("abcd"), (0.4, 0.3, 0.2, 0.1), (0.2, 0.2, 0.25, 0.35)
COLUMNS = {
    "level": ("c0",),
    "gap": ("x0",),
    "group": ("x1", "x2"),
    "correlation": ("x3", "x4"),
    "scale": ("x5",),
}
DESIGNS = [*(" + ".join(pair) for pair in combinations(COLUMNS, 2)), *COLUMNS]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run missing pairs and print the table."""
    parser = StudyParser(__doc__, "two_shifts")
    parser.add_argument("--designs", nargs="+", default=DESIGNS, choices=DESIGNS)
    asked = parser.parse_args(arguments)
    print(table(run_units(product(asked.designs, seeds_of(asked, SEEDS)), unit, asked.out)))


def unit(design: str, seed: int) -> Unit:
    """One pair of samples; the rows kept are compared again where the text says that they do not differ."""
    rng = np.random.default_rng([seed, *design.encode()])
    reference, current = sample(rng), sample(rng)
    kinds = design.split(" + ")
    for kind in kinds:
        shift(current, kind, rng)
    result = ss.compare(reference, current, random_state=seed)
    columns = [set(mode.features) for mode in result.modes]
    planted = [set(COLUMNS[kind]) for kind in kinds]
    cleared = result.detected and "show no" in " ".join(str(result).split())
    return {
        "design": design,
        "detected": result.detected,
        "told": [one in columns for one in planted],
        "named": [any(one <= mode for mode in columns) for one in planted],
        "others": sum(not any(mode <= one for one in planted) for mode in columns),
        "cleared": cleared,
        "fresh": fresh_p_value(reference, current, result) if cleared else None,
        "modes": [[mode.side, mode.features, int(mode.rows.size), mode.origin] for mode in result.modes],
    }


def fresh_p_value(reference: pd.DataFrame, current: pd.DataFrame, result: ss.ShiftResult) -> float:
    """What `compare` says of the rows kept."""
    kept = reference.iloc[result.kept_reference], current.iloc[result.kept_current]
    return ss.compare(*kept, random_state=result.random_state).p_value


def sample(rng: np.random.Generator) -> pd.DataFrame:
    """Unrelated columns; a few values of x0 are missing."""
    frame = pd.DataFrame({f"x{at}": rng.standard_normal(N) for at in range(NUMBERS)})
    for at in range(CATEGORIES):
        frame[f"c{at}"] = rng.choice(LEVELS, N, p=BEFORE)
    frame.loc[rng.random(N) < 0.05, "x0"] = np.nan
    return frame


def shift(frame: pd.DataFrame, kind: str, rng: np.random.Generator) -> None:
    """Plant one shift."""
    if kind == "level":
        frame["c0"] = rng.choice(LEVELS, N, p=AFTER)
    elif kind == "gap":
        frame.loc[rng.random(N) < 0.2, "x0"] = np.nan
    elif kind == "group":
        rows = rng.choice(N, GROUP, replace=False)
        frame.loc[rows, ["x1", "x2"]] = rng.uniform(-0.7, 0.7, 2) + 0.15 * rng.standard_normal((GROUP, 2))
    elif kind == "correlation":
        frame["x4"] = 0.6 * frame["x3"] + 0.8 * frame["x4"]
    else:
        frame["x5"] *= 1.7


def table(units: list[Unit]) -> str:
    """Shifts told and named, further modes, and sentences about the rows kept, by design."""
    lines = [f"{'design':20s} seeds  both told  both named  other modes  said to agree  contradicted"]
    for design in dict.fromkeys(unit["design"] for unit in units):
        rows = [unit for unit in units if unit["design"] == design]
        cleared = [unit for unit in rows if unit["cleared"]]
        contradicted = sum(unit["fresh"] <= 0.01 for unit in cleared)
        lines.append(
            f"{design:20s} {len(rows):5d}  {sum(all(unit['told']) for unit in rows):9d}  "
            f"{sum(all(unit['named']) for unit in rows):10d}  {sum(unit['others'] for unit in rows):11d}  "
            f"{len(cleared):13d}  {contradicted:12d}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
