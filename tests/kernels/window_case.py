"""Arguments of a small scan, with ties and dependence, for the kernels that count windows."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from shiftscope.kernels.labels import PACK, draw_labels
from shiftscope.kernels.window_counts import MAX_BINS, evidence_bounds
from tests.kernels.twins import slow_xlogx
from tests.packing import pack_labels


def drawn_lanes(n: int, counted: int) -> np.ndarray:
    return draw_labels(n, counted, np.arange(PACK, dtype=np.uint64)).T


def arguments(size: int, finest: int, floor: float, counter: type = np.uint16) -> dict[str, object]:
    rng = np.random.default_rng(size)
    n, d, counted = 150, 4, 60
    codes = rng.integers(0, MAX_BINS, (d, n)).astype(np.uint8)
    codes[1] = codes[1] // 100 * 100  # heavy ties
    codes[2] = codes[0] // 2 + codes[3] // 2  # dependence: crowded and empty cells
    labellings = drawn_lanes(n, counted)
    sets = np.array(list(combinations(range(d), size)), dtype=np.int64)
    levels = int(np.log2(finest)) - 1
    price = np.array([size * np.log((finest >> level) - 1) for level in range(levels)])
    table = slow_xlogx(n)
    return {
        "codes": codes,
        "packed": pack_labels(labellings.T)[0],
        "counter": np.zeros(1, counter),
        "sets": sets,
        "first": np.searchsorted(sets[:, 0], np.arange(d + 1)).astype(np.int64),
        "turns": np.arange(d, dtype=np.int64)[::-1].copy(),
        "shift": int(np.log2(MAX_BINS // finest)),
        "counted": counted,
        "observed": True,
        "floor": floor,
        "price": price,
        "bounds": evidence_bounds(counted, floor + price, table).astype(counter),
        "xlogx": table,
    }
