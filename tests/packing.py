"""Labels packed as the kernels take them, from labels that a test has made."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shiftscope.kernels.labels import WORD


def pack_labels(labels: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """(lanes, n) labels as (words, n); the last lane is repeated to fill its word."""
    n_lanes = len(labels)
    filled = labels[np.minimum(np.arange(-(-n_lanes // WORD) * WORD), n_lanes - 1)]
    packed = np.packbits(filled.reshape(-1, WORD, labels.shape[1]), axis=1, bitorder="little")
    return np.ascontiguousarray(packed.transpose(0, 2, 1)).view("<u8")[..., 0].astype(np.uint64)
