"""Labels packed as the kernels take them, from labels that a test has made."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shiftscope.kernels.labels import PACK


def pack_labels(labels: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """(labellings, n) labels as (packed, n); the last labelling is repeated to fill its pack."""
    n_labellings = len(labels)
    filled = labels[np.minimum(np.arange(-(-n_labellings // PACK) * PACK), n_labellings - 1)]
    packed = np.packbits(filled.reshape(-1, PACK, labels.shape[1]), axis=1, bitorder="little")
    return np.ascontiguousarray(packed.transpose(0, 2, 1)).view("<u8")[..., 0].astype(np.uint64)
