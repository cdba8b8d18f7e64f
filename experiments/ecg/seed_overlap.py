"""How much of a support is the optimiser's chance: the same queries, localised from another seed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.cost import measured
from experiments.ecg.attribution import jaccard
from experiments.ecg.cohorts import CASES, draw_cohorts
from experiments.ecg.comparison import encoded, support
from experiments.ecg.recordings import read
from experiments.runner import Unit

OTHER_SEED = 1_000  # no draw's own


@measured
def seed_unit(
    folder: Path, name: str, draw: int, kind: str, evident: Sequence[Sequence[int]], supports: Sequence[Unit | None]
) -> Unit:
    """Jaccard overlap, per side, of the supports found and of those from another seed; NaN without queries enough."""
    ecg = read(folder)
    points, n = encoded(ecg, draw_cohorts(ecg, CASES[name], draw), kind)
    again = [support(points, n, np.asarray(rows, dtype=np.intp), side, OTHER_SEED) for side, rows in enumerate(evident)]
    overlaps = [
        jaccard(one["features"], other["features"]) if one and other else float("nan")
        for one, other in zip(supports, again, strict=True)
    ]
    return {"case": name, "draw": draw, "X": overlaps[0], "Y": overlaps[1]}
