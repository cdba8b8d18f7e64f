"""A group of queries as seen from a block of points: how far it is, and which points are near enough."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shiftscope.kernels.compiling import njit
from shiftscope.kernels.knn_estimates import (
    STRIP,
    TILE,
    estimate_strip,
    lowest_bit,
    rounding_margin,
)


class View(NamedTuple):
    """What changes from block to block, for `p` queries (whole tiles) and blocks of `s` strips.

    Attributes
    ----------
    nearest : (p,) float64
        Squared distance of each query from the box of the block. Rounding is monotonous and the features are summed
        in the same order, so it never exceeds an exact distance.
    shifted : (d, p) float32
        -2 (query - centre) * scale.
    norm : (p,) float64
        Squared norm of (query - centre) * scale.
    margin : (p,) float64
        How far norm + estimate may be from the squared distance (scaled).
    limit : (p,) float32
        The largest estimate worth a look; not a number if none is.
    tile : (d, TILE) float32
        A tile of `shifted`.
    estimates : (s, TILE, STRIP) float32, within : (s, TILE) uint32
        Its points (see `estimate_strip`).
    hits : (s * STRIP,) int64
        Points within the limit of one query, as positions in the block.
    """

    nearest: NDArray[np.float64]
    shifted: NDArray[np.float32]
    norm: NDArray[np.float64]
    margin: NDArray[np.float64]
    limit: NDArray[np.float32]
    tile: NDArray[np.float32]
    estimates: NDArray[np.float32]
    within: NDArray[np.uint32]
    hits: NDArray[np.int64]


@njit(nogil=True, cache=True)
def no_view(d: int, p: int, strips: int) -> View:
    """Room for `p` queries of `d` features and blocks of so many strips."""
    return View(
        np.empty(p),
        np.empty((d, p), np.float32),
        np.empty(p),
        np.empty(p),
        np.empty(p, np.float32),
        np.empty((d, TILE), np.float32),
        np.empty((strips, TILE, STRIP), np.float32),
        np.empty((strips, TILE), np.uint32),
        np.empty(strips * STRIP, np.int64),
    )


@njit(nogil=True, cache=True)
def box_distances(columns: Any, low: Any, high: Any, nearest: Any) -> None:
    """Fill `View.nearest` for the queries `columns` (d, p) and the box `low`, `high` (d,) of a block."""
    nearest[:] = 0.0
    for f in range(len(low)):
        least, greatest = low[f], high[f]
        for i in range(len(nearest)):
            gap = max(least - columns[f, i], columns[f, i] - greatest, 0.0)
            nearest[i] += gap * gap


@njit(nogil=True, cache=True)
def shift(columns: Any, centre: Any, scale: float, radius: float, shifted: Any, norm: Any, margin: Any) -> None:
    """Fill `shifted`, `norm` and `margin` of a view for the queries `columns` (d, p) and a block."""
    norm[:] = 0.0
    for f in range(len(centre)):
        middle = centre[f]
        for i in range(len(norm)):
            value = np.float32((columns[f, i] - middle) * scale)
            shifted[f, i] = np.float32(-2.0) * value
            norm[i] += np.float64(value) * np.float64(value)
    for i in range(len(norm)):
        margin[i] = rounding_margin(norm[i], radius, len(centre))


@njit(nogil=True, cache=True)
def look(table: Any, strip: int, shifted: Any, limit: Any, first: int, tile: Any, estimates: Any, within: Any) -> None:
    """Fill `estimates` and `within` for the tile from query `first` and the block from `strip` of the table."""
    for f in range(len(tile)):
        for j in range(TILE):
            tile[f, j] = shifted[f, first + j]
    for s in range(len(within)):
        estimate_strip(table, strip + s, tile, limit, first, s, estimates, within)


@njit(nogil=True, cache=True)
def list_hits(within: Any, j: int, hits: Any) -> int:
    """Write the points within the limit of query `j` of a tile to `hits` and count them."""
    found = 0
    for s in range(len(within)):
        bits = np.uint64(within[s, j])
        while bits != 0:
            hits[found] = s * STRIP + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            found += 1
    return found
