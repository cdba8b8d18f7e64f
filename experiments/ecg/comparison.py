"""One comparison of two cohorts: what was pruned, which modes there are, and which features support them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import shiftscope as ss
from experiments.cost import measured
from experiments.ecg.cohorts import CASES, Cohorts, draw_cohorts
from experiments.ecg.encoding import columns, encode, tails
from experiments.ecg.recordings import Ecg, read
from experiments.runner import Unit

K_MAX = 200  # the paper's K_M for ECG
PAPER_TAIL = 0.97
# Single features only: pairs of 565 features are 159,330 sets, minutes for each comparison.
SCAN = ss.ScanParams(max_features=1)
# The default is 1,000 epochs with 2,000 background rows: about eight times the work with 565 features. Two seeds agree
# in nine of ten features already: it is not the optimiser that makes supports differ, but the queries.
LOCALISE = ss.LocaliseParams(epochs=300, background=1000)
EVIDENT = 0.10  # of a cohort's rows, those of highest score, that a support is learned from
TURNS = 2  # of the alternation between evidence and supports
SUPPORT = 1 / 6  # of all features: the paper's supports have 120 to 140 of 782
LEAST_QUERIES = 10  # rows that a support is learned from


Scores = tuple[NDArray[np.float64], NDArray[np.float64]]  # of the rows of X and of Y


@dataclass(frozen=True)
class Refined:
    """The paper's alternation: evidence in a space, the supports it points to, evidence there, and so on.

    Attributes
    ----------
    evident : (array, array)
        Rows of X and of Y with the highest scores in the last space but one.
    supports : (dict or None, dict or None)
        What they are learned to have in common; see `support`.
    removed : (array, array)
        Rows pruned in the features of both supports.
    """

    evident: tuple[NDArray[np.intp], NDArray[np.intp]]
    supports: tuple[Unit | None, Unit | None]
    removed: tuple[NDArray[np.intp], NDArray[np.intp]]


def settings(scan: ss.ScanParams | None = None) -> ss.CompareParams:
    """The package's protocol with the paper's K_M, in the full space alone unless a scan is given."""
    return ss.CompareParams(
        scan=scan, max_iterations=1, equalise=ss.EqualiseParams(k_max=K_MAX, q_tail=PAPER_TAIL), localise=LOCALISE
    )


@measured
def compare_unit(folder: Path, name: str, draw: int, kind: str, compared_with_others: bool = True) -> Unit:
    """The whole comparison of one draw of a case; positions are within a cohort.

    For comparison, `pruned` are the rows that equalisation removes in the full space, and `pruned_support` is learned
    from those of Y, as in the paper; draws that only one case has need none.
    """
    ecg = read(folder)
    points, n = encoded(ecg, draw_cohorts(ecg, CASES[name], draw), kind)
    result = ss.compare(points[:n], points[n:], params=settings(), random_state=draw)
    found = refined(points, n, kind, (result.scores.reference, result.scores.current), draw)
    pruned = prune(points, n, draw)
    return {
        "p_value": result.p_value,
        "removed": [rows.tolist() for rows in found.removed],
        "evident": [rows.tolist() for rows in found.evident],
        "modes": [_mode(mode) for mode in result.modes],
        "supports": found.supports,
        "pruned": [rows.tolist() for rows in pruned],
        "pruned_support": support(points, n, pruned[1], 1, draw) if compared_with_others else None,
        "tails": vars(tails(points)),
        "timings": dict(result.timings),
    }


@measured
def prune_unit(folder: Path, name: str, draw: int, kind: str) -> Unit:
    """What another encoding removes, in the supports it leads to and in the full space."""
    ecg = read(folder)
    points, n = encoded(ecg, draw_cohorts(ecg, CASES[name], draw), kind)
    scores = ss.score(points[:n], points[n:], k_max=K_MAX)
    found = refined(points, n, kind, (scores.reference, scores.current), draw)
    return {
        "removed": [rows.tolist() for rows in found.removed],
        "pruned": [rows.tolist() for rows in prune(points, n, draw)],
        "tails": vars(tails(points)),
    }


def refined(points: NDArray[np.float64], n: int, kind: str, scores: Scores, draw: int) -> Refined:
    """The supports after some turns of the alternation, and what is pruned in their features.

    `scores` are those of X and of Y in the full space.
    """
    for turn in range(TURNS):
        evident = strongest(scores[0]), strongest(scores[1])
        supports = support(points, n, evident[0], 0, draw), support(points, n, evident[1], 1, draw)
        features = sorted({feature for found in supports if found for feature in found["features"]})
        if not features:
            nobody = np.empty(0, dtype=np.intp)
            return Refined(evident, supports, (nobody, nobody))
        seen = columns(points, features, kind)
        if turn + 1 < TURNS:
            anew = ss.score(seen[:n], seen[n:], k_max=K_MAX)
            scores = anew.reference, anew.current
    return Refined(evident, supports, prune(seen, n, draw))


def prune(points: NDArray[np.float64], n: int, draw: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of X and of Y, ascending, that equalisation removes in all columns of `points`."""
    params = ss.EqualiseParams(k_max=K_MAX, q_tail=PAPER_TAIL)
    done = ss.equalise(points[:n], points[n:], K_MAX, params=params, random_state=draw)
    return np.sort(done.removed_reference), np.sort(done.removed_current)


def encoded(ecg: Ecg, cohorts: Cohorts, kind: str) -> tuple[NDArray[np.float64], int]:
    """Encoded rows of X, then of Y, and the size of X."""
    return encode(ecg.features[np.concatenate([cohorts.x, cohorts.y])], kind), cohorts.x.size


def strongest(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Positions, ascending, of the share `EVIDENT` of rows with the highest scores."""
    return np.sort(np.argsort(-scores, kind="stable")[: round(EVIDENT * scores.size)])


def support(points: NDArray[np.float64], n: int, rows: NDArray[np.intp], side: int, draw: int) -> Unit | None:
    """The features in which `rows` of X (side 0) or Y (side 1) have neighbours of their own cohort, strongest first.

    Their number is fixed: the cross-validated enrichment is flat over a wide range of sizes, so its best size varies
    by chance, and supports of different sizes cannot overlap fully. It is kept beside for the record.
    """
    if rows.size < LEAST_QUERIES:
        return None
    target = (np.arange(len(points)) >= n) == bool(side)
    query = np.isin(np.arange(len(points)), rows + side * n)
    found = ss.localise(points, target, query, LOCALISE, random_state=draw)
    size = max(1, round(SUPPORT * points.shape[1]))
    return {
        "features": np.argsort(-found.weights, kind="stable")[:size].tolist(),
        "validated_size": len(found.features),
        "weights": np.round(found.weights, 4).tolist(),
    }


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
