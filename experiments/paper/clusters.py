"""One comparison on clusters of different sizes, held against one machine: is the result the same to the last bit?

    python -m experiments.paper.clusters --rows 50000 --injected 100

The 20-D benchmark by Dask workers, each a process, with the samples cut into 1, 3 and 16 parts. A unit keeps digests of
all that a result holds: verdict, modes and their rows, kept rows, scores, and the null distributions of the scan. One
JSON file per cluster; what is there is not computed again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from numpy.typing import NDArray

import shiftscope as ss
from experiments.benchmark20d import ROWS, local_pair
from experiments.command import StudyParser, seeds_of
from experiments.cost import spent
from experiments.runner import Unit, joined, run_units

SEEDS = 1
QUICK_N = 200  # background rows of either sample
QUICK_CLUSTERS = ((2, 3),)
CLUSTERS = ((1, 1), (1, 16), (2, 3), (2, 16), (3, 1), (3, 16), (4, 3), (4, 16))  # workers, parts of each sample
DIGITS = 12


def main(arguments: Sequence[str] | None = None) -> None:
    """Run missing units and print one table per pair."""
    parser = StudyParser(__doc__, "clusters")
    parser.add_argument("--rows", type=int, help=f"background rows of either sample (default {ROWS:,})")
    parser.add_argument("--injected", type=int, default=100)
    asked = parser.parse_args(arguments)
    rows = asked.rows or (QUICK_N if asked.quick else ROWS)
    sizes = ((0, 1), *(QUICK_CLUSTERS if asked.quick else CLUSTERS))
    for seed in seeds_of(asked, SEEDS):
        units = run_units([(*size, rows, asked.injected, seed) for size in sizes], unit, asked.out, unit_name)
        print(f"modes on one machine: {units[0]['modes']}\n{table(units)}")


def unit_name(workers: int, parts: int, rows: int, injected: int, seed: int) -> str:
    """File name of a unit; that of the first seed carries no seed."""
    return joined(workers, parts, rows, injected, *([seed] if seed else []))


def unit(workers: int, parts: int, rows: int, injected: int, seed: int) -> Unit:
    """The comparison by some workers, none of them standing for this process alone."""
    pair = local_pair(injected, seed, rows)
    start = spent()
    if workers == 0:
        result = ss.compare(pair.reference, pair.current)
    else:
        tables = [in_parts(table, parts) for table in (pair.reference, pair.current)]
        with (
            LocalCluster(workers, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            result = ss.compare(*tables, engine=ss.DaskEngine(client))
    return {"workers": workers, "parts": parts, "seconds": (spent() - start).seconds, **digests(result)}


def in_parts(table: NDArray[np.float64], parts: int) -> da.Array:
    """A table as a Dask array of so many parts."""
    return da.from_array(table, chunks=(-(-len(table) // parts), -1))


def digests(result: ss.ShiftResult) -> Unit:
    """What a result says, the long parts as digests."""
    assert result.scan is not None
    return {
        "p_value": result.p_value,
        "modes": [[mode.side, *mode.features, mode.p_value, mode.excess] for mode in result.modes],
        "mode rows": digest([mode.rows for mode in result.modes]),
        "kept rows": digest([result.kept_reference, result.kept_current]),
        "scores": digest([result.scores.reference, result.scores.current]),
        "scan": digest([result.scan.localised_null, result.scan.broad_null, result.scan.pairs]),
    }


def digest(arrays: Sequence[NDArray[np.generic]]) -> str:
    """The same for the same arrays only."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:DIGITS]


def table(units: list[Unit]) -> str:
    """One line per cluster: what is the same as on one machine, the first unit."""
    told = [name for name in units[0] if name not in ("workers", "parts", "seconds")]
    lines = ["workers  parts  seconds  " + "  ".join(told)]
    for unit in units:
        same = "  ".join(f"{'same' if unit[name] == units[0][name] else 'OTHER':>{len(name)}}" for name in told)
        lines.append(f"{unit['workers'] or 'none':>7}  {unit['parts']:>5}  {unit['seconds']:7.1f}  {same}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
