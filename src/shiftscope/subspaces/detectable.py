"""What could have been found: the smallest compact group of rows that the scan of these data would have shown.

The scan has measured on permuted labels how much evidence chance gives; that fixes how many extra rows a small cell
needs. What is left is arithmetic: a group so compact that it lies in one cell, over a background of ordinary rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from shiftscope.encoding.sample_order import Side
from shiftscope.kernels.deviance import half_deviances
from shiftscope.kernels.window_counts import MAX_SIZE
from shiftscope.labellings.p_values import critical_value
from shiftscope.params import ScanParams
from shiftscope.subspaces.scan_result import ScanResult
from shiftscope.subspaces.windows import Grid

POWER = 0.9  # a group counts as detectable if it is found this often
SPAN = 1e-5  # Poisson tails that are left out of the sum
SIDES: tuple[Side, Side] = ("reference", "current")


@dataclass(frozen=True)
class Detectable:
    """The smallest group in a number of columns that would have been found nine times in ten.

    Attributes
    ----------
    columns : int
    side : {"reference", "current"}
        The sample that has the group.
    rows : int
    share : float
        Of that sample.
    width : float
        How compact the group is: the share of the rows between its ends, in each of the columns.
    background : float
        Rows of both samples that a cell holds anyway, where the columns are unrelated.
    """

    columns: int
    side: Side
    rows: int
    share: float
    width: float
    background: float


def smallest_groups(
    scan: ScanResult, categories: NDArray[np.bool_], n_rows: tuple[int, int], params: ScanParams, level: float
) -> tuple[Detectable, ...]:
    """The smallest detectable group per number of columns that the scan counts in full, for either sample.

    Groups are compact in columns of numbers or times; the levels of categories are bins of any size.

    Parameters
    ----------
    scan : ScanResult
    categories : (d,) bool
        Columns whose values are levels.
    n_rows : two int
        Rows of either sample, all of which the scan has counted.
    params : ScanParams
        Of the scan.
    level : float
        What the scan was held against.
    """
    in_full = {1: np.inf, 2: params.max_pairs, MAX_SIZE: min(params.max_pairs, params.max_triples)}
    counted = max(size for size, most in in_full.items() if len(categories) <= most)
    counted = min(counted, int(np.sum(~categories)))
    critical = critical_value(scan.null, level)
    found = []
    for size in range(1, counted + 1):
        grid = Grid.fitting(sum(n_rows), size, params.rows_per_cell)
        needed = _needed(scan, size, critical, grid)
        if needed is not None:
            found += [_smallest(n_rows, size, side, needed, grid) for side in SIDES]
    return tuple(group for group in found if group is not None)


def _needed(scan: ScanResult, size: int, critical: float, grid: Grid) -> float | None:
    """Half deviance that a cell of the finest grid must reach in a set of `size` columns; None if it is not known.

    A set's value is (half deviance - price of its grid - chance) / unit; chance and unit are those of its family, so
    any set of the family tells them.
    """
    sets = [found for found in scan.sets if found.statistic == "localised" and len(found.features) == size]
    if not sets:
        return None
    needed = float(sets[0].chance + critical * sets[0].unit + grid.price[0])
    return needed if np.isfinite(needed) else None


def _smallest(n_rows: tuple[int, int], size: int, side: Side, needed: float, grid: Grid) -> Detectable | None:
    """Bisect for the number of extra rows that is found often enough."""
    own, other = n_rows if side == "reference" else n_rows[::-1]
    share = (2 / grid.finest) ** size  # of either sample in one window, where the columns are unrelated
    low, high = 0, own // 2
    if _power(high, own, other, share, needed) < POWER:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if _power(middle, own, other, share, needed) < POWER:
            low = middle
        else:
            high = middle
    return Detectable(size, side, high, high / own, 1 / grid.finest, share * (own + other))


def _power(extra: int, own: int, other: int, share: float, needed: float) -> float:
    """How often a window with Poisson background and `extra` rows of the own sample reaches the evidence needed."""
    have, counter = (_likely(share * total) for total in (own - extra, other))
    k = np.minimum(extra + have[:, None], own)
    inside = k + np.minimum(counter[None, :], other)
    reached = (half_deviances(k, inside, own, own + other) >= needed) & (k * (own + other) > inside * own)
    chance = _poisson(have, share * (own - extra))[:, None] * _poisson(counter, share * other)[None, :]
    return float(np.sum(chance * reached))


def _likely(mean: float) -> NDArray[np.int64]:
    """Counts of a Poisson variable, without its far tails."""
    from scipy.stats import poisson  # slow to import, and needed only where nothing was found

    return np.arange(int(poisson.ppf(SPAN, mean)), int(poisson.isf(SPAN, mean)) + 1)


def _poisson(counts: NDArray[np.int64], mean: float) -> NDArray[np.float64]:
    """Probabilities of counts of a Poisson variable."""
    return np.asarray(np.exp(xlogy(counts, mean) - gammaln(counts + 1) - mean))
