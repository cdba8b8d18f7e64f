"""Which features tell some rows from others that are like them in the rest?

A search that stops when rows stand out completely may stop short of further features in which they differ, and one
that follows a few rows may pick up a feature in which only these few agree. Matching settles both: each suspected row
is put beside the nearest other rows in the features so far, and one feature at a time is compared between the two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ks_2samp

from shiftscope.encoding.encode import Encoded
from shiftscope.encoding.features import columns_of
from shiftscope.engines.base import Engine
from shiftscope.full_space.neighbours import neighbours

MATCHES = 4  # other rows put beside each suspected one
MATCHED_ROWS = 200  # suspected rows that are matched; more make the lists of neighbours long and tell nothing new
STAYS = 0.05  # p-value above which a feature that was found is dropped again
# Of the largest gap: less is a by-product. A group that lies apart in one feature has a gap of nearly 1 there, one that
# is narrow in the middle of another has 0.5; if only some of the rows belong to the group, both shrink alike.
LEAST_GAP = 0.4


def telling_features(
    encoded: Encoded, labels: NDArray[np.bool_], features: tuple[int, ...], alpha: float, engine: Engine | None = None
) -> tuple[int, ...]:
    """Keep, add or drop each feature by whether suspected rows differ in it from their nearest other rows.

    The rows nearest in the *other* features found so far are compared by a Kolmogorov-Smirnov test. A feature joins at
    level alpha / d and stays at `STAYS`, and either only if its distance is at least `LEAST_GAP` times the largest one.
    These levels guide the description; the p-value of the explanation does not rest on them.

    Parameters
    ----------
    encoded : Encoded
    labels : (n,) bool
        The suspected rows, by pool position.
    features : tuple of int
        The features so far, returned unchanged if none would be left.
    alpha : float
    engine : Engine, optional
        Where neighbours are searched.
    """
    d = len(encoded.names)
    suspected = np.flatnonzero(labels)
    suspected = suspected[:: -(-suspected.size // MATCHED_ROWS)]
    matched = _matched(encoded, labels, suspected, features, engine)
    gap, p_value = np.zeros(d), np.ones(d)
    for feature in range(d):
        others = tuple(f for f in features if f != feature)
        beside = _matched(encoded, labels, suspected, others, engine) if feature in features else matched
        values = encoded.ranked[:, feature]
        test = ks_2samp(values[suspected], values[beside], method="asymp")
        gap[feature], p_value[feature] = test.statistic, test.pvalue
    level = np.full(d, alpha / d)
    level[list(features)] = STAYS
    telling = np.flatnonzero((p_value <= level) & (gap >= LEAST_GAP * gap.max()))
    return tuple(telling.tolist()) or features


def _matched(
    encoded: Encoded,
    labels: NDArray[np.bool_],
    suspected: NDArray[np.intp],
    features: tuple[int, ...],
    engine: Engine | None,
) -> NDArray[np.intp]:
    """Pool positions of other rows: each suspected row in turn takes the `MATCHES` nearest that are still free.

    No row is taken twice: a few rows repeated many times would look like strong evidence. Without features all other
    rows are alike, and all are taken.
    """
    if not features:
        return np.flatnonzero(~labels)
    points = np.ascontiguousarray(encoded.points[:, columns_of(encoded.groups, features)])
    length = min(len(points) - 1, int(labels.sum()) + MATCHES * suspected.size)
    lists = neighbours(points, length, queries=suspected, engine=engine).index
    free = ~labels
    taken = []
    for near in lists:
        mine = near[free[near]][:MATCHES]
        free[mine] = False
        taken.append(mine)
    return np.concatenate(taken).astype(np.intp)
