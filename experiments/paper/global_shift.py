"""The global study: one component of the 20-D benchmark displaced along coordinates (0, 1, 3).

    python -m experiments.paper.global_shift --sigma 0 0.05 0.1 0.2 --seeds 11 --out runs/global_shift
    python -m experiments.paper.global_shift --methods default paper mlp lightgbm ks mmd ulsif l1 --seeds 0-2
    python -m experiments.paper.global_shift --quick

One JSON file per amplitude, seed and method; what is there is not computed again. Tables and the paper's figure are
drawn from all units there to OUT/figures (of both studies together: experiments.paper.figures).
"""

from __future__ import annotations

from experiments.benchmark20d import global_pair
from experiments.paper.study import Study, run

STUDY = Study(
    name="global_shift",
    setting="sigma",
    pair=global_pair,
    values=tuple(round(0.05 * step, 2) for step in range(11)),
    quick_values=(0.0, 0.2, 0.5),
)

if __name__ == "__main__":
    run(STUDY, __doc__)
