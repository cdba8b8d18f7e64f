"""The localised study: a compact minority injected into one cohort of the 20-D benchmark.

    python -m experiments.paper.local_shift --injected 100 75 50 25 --seeds 11 --out runs/local_shift
    python -m experiments.paper.local_shift --methods default paper mlp lightgbm ks mmd ulsif l1 --seeds 0-2
    python -m experiments.paper.local_shift --quick

One JSON file per cardinality, seed and method; what is there is not computed again. Tables and the paper's figure are
drawn from all units there to OUT/figures (of both studies together: experiments.paper.figures).
"""

from __future__ import annotations

from experiments.benchmark20d import local_pair
from experiments.paper.study import Study, run

STUDY = Study(
    name="local_shift",
    setting="injected",
    pair=local_pair,
    values=(0, 25, 50, 75, *range(100, 501, 50)),
    quick_values=(0, 50, 150),
)

if __name__ == "__main__":
    run(STUDY, __doc__)
