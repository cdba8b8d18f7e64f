"""Healthy recordings, age- and sex-matched cohort pairs A-D, and their balance.

Matching is exact: two recordings can stand for each other if their sex and their age in whole years are the same. The
devices that only one cohort has are matched with each other pair by pair, and the shared device is split into matched
halves. So X and Y agree in age and sex, and so do the parts that make them differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.ecg.recordings import Ecg

Rows = NDArray[np.intp]
ADULT, OLDEST = 18, 89  # years; PTB-XL hides higher ages
HEALTHY_LIKELIHOOD = 80


@dataclass(frozen=True)
class Case:
    """A device design: `x` only in X, `y` only in Y, `shared` in both; `exchanged` is the share of pairs that swap."""

    name: str
    x: int
    shared: int
    y: int
    exchanged: float = 0.0


# The paper does not name the devices of A, B and C. Its supports, all found from the side of Y, agree between A, C and
# D and not with B: as they would if Y has the same device to itself in A, C and D.
CASES = {
    case.name: case
    for case in (
        Case("A", x=1, shared=2, y=3),
        Case("B", x=1, shared=3, y=2),
        Case("C", x=2, shared=1, y=3),
        Case("D", x=2, shared=1, y=3, exchanged=0.10),
    )
}


@dataclass(frozen=True)
class Cohorts:
    """Rows of `Ecg` in either cohort."""

    case: Case
    x: Rows
    y: Rows


def draw_cohorts(ecg: Ecg, case: Case, seed: int) -> Cohorts:
    """One draw of a case: recordings per patient, matched pairs and halves; D is C of the same draw, perturbed."""
    rng = np.random.default_rng([seed, case.x, case.shared, case.y])
    rows = healthy(ecg, rng)
    by_device = {device: rows[ecg.device[rows] == device] for device in (case.x, case.shared, case.y)}
    pairs = matched_pairs(ecg, by_device[case.x], by_device[case.y], rng)
    halves = matched_halves(ecg, by_device[case.shared], rng)
    swapped = rng.permutation(len(pairs))[: round(case.exchanged * len(pairs))]
    pairs[swapped] = pairs[swapped, ::-1]
    both = np.concatenate([pairs, halves])
    return Cohorts(case, np.sort(both[:, 0]), np.sort(both[:, 1]))


def healthy(ecg: Ecg, rng: np.random.Generator) -> Rows:
    """One recording, drawn at random, of each adult of known age and sex whose ECG was called normal."""
    norm = np.array([codes.get("NORM", 0) >= HEALTHY_LIKELIHOOD for codes in ecg.statements])
    return one_per_patient(ecg, np.flatnonzero(norm & known_adults(ecg)), rng)


def known_adults(ecg: Ecg) -> NDArray[np.bool_]:
    """Adults whose age and sex are known."""
    return (ecg.age >= ADULT) & (ecg.age <= OLDEST) & np.isfinite(ecg.sex)


def one_per_patient(ecg: Ecg, rows: Rows, rng: np.random.Generator) -> Rows:
    """A random recording of each patient among `rows`."""
    shuffled = rng.permutation(rows)
    _, first = np.unique(ecg.patient[shuffled], return_index=True)
    return np.sort(shuffled[first])


def matched_pairs(ecg: Ecg, first: Rows, second: Rows, rng: np.random.Generator) -> Rows:
    """(k, 2) rows of `first` and `second` with the same sex and year of age, as many as there are."""
    groups, others = strata(ecg, first), strata(ecg, second)
    pairs = [np.empty((0, 2), dtype=np.intp)]
    for stratum in sorted(groups.keys() & others.keys()):
        size = min(groups[stratum].size, others[stratum].size)
        pairs.append(
            np.column_stack([rng.permutation(groups[stratum])[:size], rng.permutation(others[stratum])[:size]])
        )
    return np.concatenate(pairs)


def matched_halves(ecg: Ecg, rows: Rows, rng: np.random.Generator) -> Rows:
    """(k, 2) disjoint rows with the same sex and year of age in each pair; the odd one of a stratum is left out."""
    pairs = [np.empty((0, 2), dtype=np.intp)]
    for _, group in sorted(strata(ecg, rows).items()):
        pairs.append(rng.permutation(group)[: group.size // 2 * 2].reshape(-1, 2))
    return np.concatenate(pairs)


def strata(ecg: Ecg, rows: Rows) -> dict[tuple[int, int], Rows]:
    """Rows by sex and year of age."""
    keys = np.column_stack([ecg.sex[rows], np.floor(ecg.age[rows])]).astype(int)
    found: dict[tuple[int, int], list[int]] = {}
    for row, (sex, age) in zip(rows.tolist(), keys.tolist(), strict=True):
        found.setdefault((sex, age), []).append(row)
    return {key: np.array(members, dtype=np.intp) for key, members in found.items()}


@dataclass(frozen=True)
class Balance:
    """Age, sex and weight of both cohorts; `*_smd` are differences in pooled standard deviations."""

    n: int
    age: tuple[float, float]
    age_smd: float
    female: tuple[float, float]
    female_smd: float
    weight_known: tuple[float, float]
    weight_smd: float


def balance(ecg: Ecg, x: Rows, y: Rows) -> Balance:
    """How alike two cohorts are in what they were matched on, and in body weight, which they were not."""
    weights = [ecg.weight[rows] for rows in (x, y)]
    known = [values[np.isfinite(values)] for values in weights]
    return Balance(
        n=x.size,
        age=(float(ecg.age[x].mean()), float(ecg.age[y].mean())),
        age_smd=standardised_difference(ecg.age[x], ecg.age[y]),
        female=(float(ecg.sex[x].mean()), float(ecg.sex[y].mean())),
        female_smd=standardised_difference(ecg.sex[x], ecg.sex[y]),
        weight_known=(known[0].size / x.size, known[1].size / y.size),
        weight_smd=standardised_difference(*known) if min(known[0].size, known[1].size) > 1 else float("nan"),
    )


def standardised_difference(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Difference of means in units of the root mean variance."""
    spread = np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2)
    return float((second.mean() - first.mean()) / spread) if spread > 0 else 0.0
