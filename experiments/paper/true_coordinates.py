"""Equalisation in the five true coordinates of the localised 20-D benchmark: what is pruned, and is it injected?

    python -m experiments.true_coordinates --injected 300 500 --seeds 3

Prints, per cardinality and seed, the removed-to-injected ratio (the paper's Figure 2 B) and the purity of the removed
rows, for the calibrated threshold (default) and for the paper's formula with its Monte Carlo null.
"""

from __future__ import annotations

import argparse
import time

import shiftscope as ss
from experiments.benchmark20d import LOCAL_SUPPORT, local_pair

VARIANTS = {
    "calibrated": ss.EqualiseParams(),
    "paper's formula": ss.EqualiseParams(threshold="formula", null="simulated"),
}


def main() -> None:
    """Run all units and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--injected", type=int, nargs="+", default=[300, 500])
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    print("threshold        injected seed  removed  ratio  purity  reference removed  seconds")
    for name, params in VARIANTS.items():
        for injected in arguments.injected:
            for seed in range(arguments.seeds):
                print(f"{name:16s} {unit(params, injected, seed)}", flush=True)


def unit(params: ss.EqualiseParams, injected: int, seed: int) -> str:
    """Equalise one pair in its true coordinates."""
    pair = local_pair(injected, seed)
    support = list(LOCAL_SUPPORT)
    start = time.perf_counter()
    done = ss.equalise(pair.reference[:, support], pair.current[:, support], params=params)
    seconds = time.perf_counter() - start
    removed = done.removed_current
    return (
        f"{injected:8d} {seed:4d} {removed.size:8d}  {removed.size / injected:.2f}   "
        f"{pair.shifted[removed].mean():.3f}   {done.removed_reference.size:17d}  {seconds:.1f}"
    )


if __name__ == "__main__":
    main()
