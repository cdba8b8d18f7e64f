"""Of very many features, those whose pairs are counted.

Every labelling, the observed one and the random ones alike, names the single features that tell most under it, as many
each; all pairs of the features named by any are counted under every labelling. The choice does not change when
labellings change places, so they remain exchangeable, and the p-values exact.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from shiftscope.engines.binned_rows import BinnedRows
from shiftscope.params import ScanParams
from shiftscope.subspaces.windows import Grid, largest, window_task


def paired_features(rows: BinnedRows, more: Iterable[BinnedRows], params: ScanParams) -> NDArray[np.int64]:
    """Features, increasing, whose pairs are counted: all up to `params.max_pairs`, as many at most of more.

    rows, more : the same rows with one block of labellings after another, each led by the observed one
    """
    d = rows.tables.n_features
    if d <= params.max_pairs:
        return np.arange(d)
    deviates = np.hstack([_pooled(rows, params), *(_pooled(others, params)[:, 1:] for others in more)])
    return np.unique(largest(deviates, params.max_pairs // deviates.shape[1]))


def _pooled(rows: BinnedRows, params: ScanParams) -> NDArray[np.float32]:
    """(d, labellings) largest pooled chi-square of every single feature, as a normal deviate."""
    labellings, grid = rows.labellings, Grid.fitting(rows.labellings.n_rows, 1, params.rows_per_cell)
    singles = np.arange(rows.tables.n_features)[:, None]
    task = window_task(rows, grid, singles, np.inf)
    deviates = [rows.scan_windows(task, pack)[2] for pack in range(labellings.n_packs)]
    return np.hstack(deviates)[:, : labellings.n_labellings]
