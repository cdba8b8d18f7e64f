"""One comparison of two cohorts: what was pruned, which modes there are, and which features support them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

import shiftscope as ss
from experiments.ecg.cohorts import CASES, Cohorts, draw_cohorts
from experiments.ecg.data import Ecg, read
from experiments.ecg.encoding import encode, tails
from experiments.ecg.resume import Unit

K_MAX = 200  # the paper's K_M for ECG
PAPER_TAIL = 0.97
# Single features only: pairs of 565 features are 159,330 sets, minutes for each of 85 comparisons and controls.
SCAN = ss.ScanParams(max_features=1)
# The default is 1,000 epochs with 2,000 background rows: about eight times the work with 565 features.
LOCALISE = ss.LocaliseParams(epochs=300, background=1000)
LEAST_QUERIES = 10  # rows that a support is learned from


@dataclass(frozen=True)
class Pruning:
    """How rows are pruned in the full space: the encoding, where the tail begins, and what judges it."""

    encoding: str
    q_tail: float = PAPER_TAIL
    threshold: Literal["calibrated", "formula"] = "calibrated"


def settings() -> ss.CompareParams:
    """The package's protocol with the paper's K_M: single features scanned, then the full space."""
    return ss.CompareParams(
        scan=SCAN, max_iterations=1, equalise=ss.EqualiseParams(k_max=K_MAX, q_tail=PAPER_TAIL), localise=LOCALISE
    )


def compare_unit(folder: Path, name: str, draw: int, kind: str) -> Unit:
    """The whole comparison of one draw of a case.

    `removed` is what is missing in the subsets that `compare` keeps: rows of modes, and rows pruned in the full space.
    Positions are within a cohort.
    """
    ecg = read(folder)
    cohorts = draw_cohorts(ecg, CASES[name], draw)
    points, n = encoded(ecg, cohorts, kind)
    result = ss.compare(points[:n], points[n:], params=settings(), random_state=draw)
    removed = [np.setdiff1d(np.arange(n), kept) for kept in (result.kept_reference, result.kept_current)]
    return {
        "p_value": result.p_value,
        "removed": [rows.tolist() for rows in removed],
        "modes": [_mode(mode) for mode in result.modes],
        "supports": [_support(points, n, rows, side, draw) for side, rows in enumerate(removed)],
        "timings": dict(result.timings),
    }


def equalise_unit(folder: Path, name: str, draw: int, pruning: Pruning) -> Unit:
    """What the paper's protocol prunes: the full space alone, no scan."""
    ecg = read(folder)
    points, n = encoded(ecg, draw_cohorts(ecg, CASES[name], draw), pruning.encoding)
    params = ss.EqualiseParams(k_max=K_MAX, q_tail=pruning.q_tail, threshold=pruning.threshold)
    done = ss.equalise(points[:n], points[n:], K_MAX, params=params, random_state=draw)
    removed = (done.removed_reference, done.removed_current)
    return {"removed": [np.sort(rows).tolist() for rows in removed], "tails": vars(tails(points))}


def encoded(ecg: Ecg, cohorts: Cohorts, kind: str) -> tuple[NDArray[np.float64], int]:
    """Encoded rows of X, then of Y, and the size of X."""
    return encode(ecg.features[np.concatenate([cohorts.x, cohorts.y])], kind), cohorts.x.size


def _mode(mode: ss.Mode) -> Unit:
    return {
        "side": "Y" if mode.side == "current" else "X",
        "rows": mode.rows.tolist(),
        "features": [int(name[1:]) for name in mode.features],  # columns of arrays are named x0, x1, ...
        "excess": mode.excess,
        "interval": list(mode.excess_interval),
        "p_value": mode.p_value,
        "settled": mode.settled,
    }


def _support(points: NDArray[np.float64], n: int, rows: NDArray[np.intp], side: int, draw: int) -> Unit | None:
    """The features in which the rows pruned from X (side 0) or Y (side 1) have neighbours of their own cohort.

    The pool is shuffled: equal distances, as in features that count notches, are decided by position.
    """
    if rows.size < LEAST_QUERIES:
        return None
    order = np.random.default_rng([draw, 2]).permutation(len(points))
    target = (order >= n) == bool(side)
    query = np.isin(order, rows + side * n)
    found = ss.localise(points[order], target, query, LOCALISE, random_state=draw)
    return {"features": list(found.features), "weights": np.round(found.weights, 4).tolist()}
