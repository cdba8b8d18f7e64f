"""Which rows the search of the full space looks at.

The cost of all neighbourhoods grows with the square of the number of rows. Above a budget only some rows, drawn at
random from both samples, have their neighbourhood looked at, in the whole pool: the *searched* rows. Within these and
outside of them the labels are as exchangeable as before, so the verdict remains exact. The other rows are scored by
their neighbours among the searched ones (see `full_space.score.score_others`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class SearchedRows:
    """The rows whose neighbourhoods are looked at.

    Attributes
    ----------
    rows : (m,) intp
        Pool positions, increasing.
    n_rows : int
        Rows of the pool.
    """

    rows: NDArray[np.intp]
    n_rows: int

    @property
    def whole(self) -> bool:
        """Whether all rows are searched."""
        return self.rows.size == self.n_rows

    @property
    def others(self) -> NDArray[np.intp]:
        """Pool positions of the other rows."""
        outside = np.ones(self.n_rows, dtype=np.bool_)
        outside[self.rows] = False
        return np.flatnonzero(outside)

    @property
    def order(self) -> NDArray[np.intp]:
        """(n,) pool positions, the searched ones first."""
        return np.concatenate([self.rows, self.others])

    def within(self, pool: NDArray[np.intp]) -> SearchedRows:
        """The searched rows of a part of the pool, given by increasing pool positions."""
        return SearchedRows(np.flatnonzero(np.isin(pool, self.rows, assume_unique=True)), pool.size)

    def mixed_like_the_pool(self, is_current: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.intp]:
        """As many searched rows as possible in which the samples have the shares that they have in the pool.

        Rows of equal samples are searched in equal numbers, those of unequal ones are not in proportion: rows of the
        sample that is searched too often are left out at random. What is left is held against the null of the pool.
        """
        own = is_current[self.rows]
        sizes = np.array([np.sum(~is_current), np.sum(is_current)])
        searched = np.array([np.sum(~own), np.sum(own)])
        wanted = np.rint(np.min(searched / sizes) * sizes).astype(np.intp)
        parts = []
        for side, count in enumerate(wanted):
            rows = self.rows[own == bool(side)]
            parts.append(rows if rows.size <= count else rng.choice(rows, count, replace=False))
        return np.sort(np.concatenate(parts))


def draw_searched_rows(n_reference: int, n_current: int, most: int, random_state: int) -> SearchedRows:
    """All rows if they are no more than `most`, else as many of both samples as possible, chosen at random.

    Equal numbers tell most about a difference; a sample with fewer rows than its half takes part as a whole.
    """
    n = n_reference + n_current
    if n <= most:
        return SearchedRows(np.arange(n), n)
    rng = np.random.default_rng([random_state, most])
    few_current = min(n_current, max(most // 2, most - n_reference))
    reference = rng.choice(n_reference, most - few_current, replace=False)
    current = n_reference + rng.choice(n_current, few_current, replace=False)
    return SearchedRows(np.sort(np.concatenate([reference, current])), n)
