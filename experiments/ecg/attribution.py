"""Reading the result: devices in the pruned sets, overlap of supports, waves and leads, direction and effect size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import fisher_exact, rankdata, ttest_ind

from experiments.ecg.cohorts import Rows, strata
from experiments.ecg.recordings import Ecg
from experiments.ecg.waves import GLOBAL, LEADS, WAVES, parse


@dataclass(frozen=True)
class Composition:
    """One side's devices, before pruning and among the pruned rows.

    Attributes
    ----------
    cohort, removed : (int, int, int)
        Recordings of devices 1, 2, 3.
    share, removed_share : float
        Of the device that only this side has (or has most of).
    enrichment : float
        Their ratio.
    p_value : float
        Fisher's exact test, one-sided: pruned rows are of this device more often than kept rows.
    """

    cohort: tuple[int, int, int]
    removed: tuple[int, int, int]
    share: float
    removed_share: float
    enrichment: float
    p_value: float


def composition(devices: NDArray[np.int64], removed: Sequence[int], specific: int) -> Composition:
    """Devices of a cohort's rows, and of those at the positions `removed`."""
    pruned = np.zeros(devices.size, dtype=np.bool_)
    pruned[np.asarray(removed, dtype=np.intp)] = True
    own = devices == specific
    table = [[np.sum(pruned & own), np.sum(pruned & ~own)], [np.sum(~pruned & own), np.sum(~pruned & ~own)]]
    share = float(own.mean())
    removed_share = float(own[pruned].mean()) if pruned.any() else float("nan")
    return Composition(
        cohort=_counts(devices),
        removed=_counts(devices[pruned]),
        share=share,
        removed_share=removed_share,
        enrichment=removed_share / share,
        p_value=float(fisher_exact(table, alternative="greater").pvalue),
    )


@dataclass(frozen=True)
class Rates:
    """How often a patient is pruned, over all draws in which one side has a recording of them.

    Attributes
    ----------
    specific, others : float
        Mean over the patients with the device of the side, and over those with another one.
    p_value : float
        Welch's test, one-sided, with patients as units: those with the device of the side are pruned more often.
    """

    specific: float
    others: float
    p_value: float


def removal_rates(patient: NDArray[np.int64], specific: NDArray[np.bool_], pruned: NDArray[np.bool_]) -> Rates:
    """From the rows of all draws of one side: who they are, whether by the device of the side, and whether pruned."""
    units, unit = np.unique(2 * patient + specific, return_inverse=True)
    rates = np.bincount(unit, weights=pruned) / np.bincount(unit)
    own, others = rates[units % 2 == 1], rates[units % 2 == 0]
    some = min(own.size, others.size) > 1 and np.ptp(rates) > 0.0
    p_value = ttest_ind(own, others, equal_var=False, alternative="greater").pvalue if some else 1.0
    return Rates(*(float(part.mean()) if part.size else float("nan") for part in (own, others)), float(p_value))


def _counts(devices: NDArray[np.int64]) -> tuple[int, int, int]:
    one, two, three = (int(np.sum(devices == device)) for device in (1, 2, 3))
    return one, two, three


def jaccard(first: Iterable[int], second: Iterable[int]) -> float:
    """Shared members over all members; NaN if there are none."""
    a, b = set(first), set(second)
    return len(a & b) / len(a | b) if a | b else float("nan")


def chance_jaccard(first: int, second: int, d: int) -> float:
    """What two random sets of these sizes out of `d` features have in common."""
    shared = first * second / d
    return shared / (first + second - shared)


def cell_overlap(names: Sequence[str], first: Iterable[int], second: Iterable[int]) -> float:
    """Jaccard overlap of two supports as numbers of features by wave and lead: the smaller over the larger numbers.

    Many features of a cell say nearly the same (ST levels 0, 20 and 40 ms after J); a support takes one or another.
    """
    ours, theirs = (Counter((parse(names[k]).wave, parse(names[k]).lead) for k in chosen) for chosen in (first, second))
    union = (ours | theirs).total()
    return (ours & theirs).total() / union if union else float("nan")


def chance_cell_overlap(names: Sequence[str], first: int, second: int, repeats: int = 200) -> float:
    """Its mean for random supports of these sizes."""
    rng = np.random.default_rng(0)
    draws = ([rng.choice(len(names), size, replace=False).tolist() for size in (first, second)] for _ in range(repeats))
    return float(np.mean([cell_overlap(names, *pair) for pair in draws]))


def consensus(supports: Sequence[Sequence[int]], share: float = 0.5) -> list[int]:
    """Features that at least this share of the supports hold."""
    members, counts = np.unique(np.concatenate([np.empty(0, int), *map(np.asarray, supports)]), return_counts=True)
    return [int(member) for member in members[counts >= share * len(supports)]]


def wave_map(names: Sequence[str], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(waves, leads) mean of one value per feature; NaN where a lead has no feature of a wave."""
    places = [parse(name) for name in names]
    found = np.full((len(WAVES), len(LEADS)), np.nan)
    for i, wave in enumerate(WAVES):
        for j, lead in enumerate(LEADS):
            chosen = [k for k, place in enumerate(places) if (place.wave, place.lead) == (wave, lead)]
            if chosen:
                found[i, j] = values[chosen].mean()
    return found


def wave_shares(names: Sequence[str], chosen: Iterable[int]) -> dict[str, tuple[int, int]]:
    """Chosen and all features of each wave, the global measurements last."""
    waves = [parse(name).wave for name in names]
    picked = {waves[k]: 0 for k in range(len(names))}
    for k in chosen:
        picked[waves[k]] += 1
    return {wave: (picked[wave], waves.count(wave)) for wave in (*WAVES, GLOBAL) if wave in picked}


def cliffs_delta(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(second > first) - P(second < first) per column: 0 for no difference, 1 if every second value is larger."""
    ranks = rankdata(np.concatenate([first, second]), axis=0)
    n, m = len(first), len(second)
    return 2 * (ranks[n:].sum(axis=0) - m * (m + 1) / 2) / (n * m) - 1


def matched_triples(ecg: Ecg, rows: Rows, rng: np.random.Generator) -> dict[int, Rows]:
    """Rows of each device, the same number of every sex and year of age: medians of devices can be compared."""
    groups = {device: strata(ecg, rows[ecg.device[rows] == device]) for device in (1, 2, 3)}
    common = sorted(set.intersection(*(set(found) for found in groups.values())))
    sizes = {stratum: min(found[stratum].size for found in groups.values()) for stratum in common}
    return {
        device: np.sort(
            np.concatenate([np.empty(0, np.intp), *(rng.permutation(found[s])[: sizes[s]] for s in common)])
        )
        for device, found in groups.items()
    }
