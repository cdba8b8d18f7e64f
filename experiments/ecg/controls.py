"""Negative controls: random halves of one device, matched on age and sex like the cohorts, must look alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import binom, binomtest

import shiftscope as ss
from experiments.cost import measured
from experiments.ecg.cohorts import healthy, matched_halves
from experiments.ecg.comparison import SCAN, settings
from experiments.ecg.encoding import encode
from experiments.ecg.recordings import read
from experiments.runner import Unit

ALPHAS = (0.01, 0.05)


@measured
def control_unit(folder: Path, device: int, split: int, kind: str) -> Unit:
    """p-values of one split: of the full space, the study's verdict; of a scan; and of both together."""
    ecg = read(folder)
    rng = np.random.default_rng([split, device])
    rows = healthy(ecg, rng)
    halves = matched_halves(ecg, rows[ecg.device[rows] == device], rng)
    points = encode(ecg.features[halves.T.ravel()], kind)
    n = len(halves)
    result = ss.compare(points[:n], points[n:], params=settings(SCAN), random_state=split)
    scan = 1.0 if result.scan is None else result.scan.p_value
    return {"device": device, "n": n, "p_value": result.p_value, "p_full": result.calibration.p_value, "p_scan": scan}


@dataclass(frozen=True)
class Rate:
    """Rejections among `n` controls, the 95 % Clopper-Pearson interval of their rate, and what an exact test gives."""

    rejected: int
    n: int
    interval: tuple[float, float]
    expected: tuple[int, int]


def rate(p_values: Sequence[float], alpha: float) -> Rate:
    """How often controls are called different at `alpha`."""
    rejected, n = int(np.sum(np.asarray(p_values) <= alpha)), len(p_values)
    interval = binomtest(rejected, n).proportion_ci()
    low, high = binom.interval(0.95, n, alpha)
    return Rate(rejected, n, (float(interval.low), float(interval.high)), (int(low), int(high)))
