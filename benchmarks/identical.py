"""The same result on one machine and on any cluster: the 20-D benchmark, 1 to 4 workers, 1, 3 and 16 partitions.

    python -m benchmarks.identical [--rows 2500] [--injected 150]

Prints one line per cluster and ends with an error if any figure of the result differs, to the last bit.
"""

from __future__ import annotations

import argparse

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import shiftscope as ss
from experiments.benchmark20d import local_pair
from shiftscope.engines.dask import DaskEngine
from shiftscope.equalise import EqualiseParams
from shiftscope.results import ShiftResult

CLUSTERS = ((1, 1), (1, 16), (2, 3), (3, 1), (4, 3), (4, 16))  # workers, partitions
SHARD_ROWS, LARGE_SEARCH = 1024, 10**6  # small, so that even few rows are cut and searched on the workers


def differences(one: ShiftResult, other: ShiftResult) -> list[str]:
    """Names of what differs between two results."""
    pairs = {
        "p_value": (one.p_value, other.p_value),
        "features": ([mode.features for mode in one.modes], [mode.features for mode in other.modes]),
        "kept_reference": (one.kept_reference, other.kept_reference),
        "kept_current": (one.kept_current, other.kept_current),
        "scores.reference": (one.scores.reference, other.scores.reference),
        "scores.current": (one.scores.current, other.scores.current),
        "centre": (one.encoded.centre, other.encoded.centre),
        "scale": (one.encoded.scale, other.encoded.scale),
    }
    if one.scan is not None and other.scan is not None:
        for name in ("pairs", "localised_null", "broad_null"):
            pairs[f"scan.{name}"] = getattr(one.scan, name), getattr(other.scan, name)
    for number, (mode, twin) in enumerate(zip(one.modes, other.modes, strict=False), start=1):
        pairs[f"rows of mode {number}"] = mode.rows, twin.rows
        pairs[f"excess of mode {number}"] = mode.excess, twin.excess
    return [name for name, (first, second) in pairs.items() if not np.array_equal(first, second)]


def run(rows: int, injected: int, clusters: tuple[tuple[int, int], ...], params: ss.CompareParams) -> int:
    """Compare on every cluster; the number of those whose result differs."""
    pair = local_pair(injected, 0, rows)
    local = ss.compare(pair.reference, pair.current, params=params)
    print(f"one machine: p = {local.p_value:.3g}, modes {[(mode.features, len(mode.rows)) for mode in local.modes]}")
    wrong = 0
    for workers, partitions in clusters:
        with (
            LocalCluster(workers, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            engine = DaskEngine(client, shard_rows=SHARD_ROWS, large_search=LARGE_SEARCH)
            tables = [da.from_array(t, chunks=(-(-len(t) // partitions), -1)) for t in (pair.reference, pair.current)]
            found = differences(local, ss.compare(*tables, params=params, engine=engine))
        wrong += bool(found)
        print(
            f"{workers} workers, {partitions} partitions: {'differs in ' + ', '.join(found) if found else 'identical'}"
        )
    return wrong


def main() -> None:
    """All clusters, with few permutations: what is compared is the result, whatever it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2500, help="of either sample")
    parser.add_argument("--injected", type=int, default=150)
    arguments = parser.parse_args()
    params = ss.CompareParams(
        alpha=0.05,
        n_permutations=99,
        scan=ss.ScanParams(n_permutations=99, n_seeds=32, beam=2, max_features=4),
        equalise=EqualiseParams(k_max=60, n_permutations=59),
    )
    raise SystemExit(1 if run(arguments.rows, arguments.injected, CLUSTERS, params) else 0)


if __name__ == "__main__":
    main()
