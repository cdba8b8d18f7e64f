"""Points arranged for searching: the leaves of a kd-tree as feature-major blocks of float32.

Every block holds its points relative to its own centre, so that rounding to float32 costs precision relative
to the extent of the block and to the distance of the query, never to the distance from the origin.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shiftscope.kernels.compiling import njit
from shiftscope.kernels.knn_estimates import STRIP, TILE
from shiftscope.kernels.knn_pairs import select_pairs

SPREAD_SAMPLE = 512  # rows of a node looked at to choose the feature that splits it
MAX_EXPONENT = 500  # the square of the scale must not overflow


class Blocks(NamedTuple):
    """`n` points in `l` blocks of `b` (the last one may be shorter).

    Attributes
    ----------
    ids : (n,) int32
        Position of each point in the caller's table, block after block.
    place : (n,) int32
        The inverse: where each point of the caller's table stands.
    rows : (n, d) float64
        The same points, in the same order: exact distances are taken from these.
    table : (l * s, d + 1, STRIP) float32
        (x - centre) * scale in strips, `s` to a block, feature-major; the last row is the squared norm, which is not
        a number where a strip has no point.
    centre, low, high : (l, d) float64
        Middle, least and greatest coordinates of each block.
    radius : (l,) float64
        Largest norm of (x - centre) * scale in the block.
    first_id : (l,) int32
        Least position in each block.
    size : int
        b.
    scale : float
        Power of two that brings all coordinates into the range of float32.
    """

    ids: NDArray[np.int32]
    place: NDArray[np.int32]
    rows: NDArray[np.float64]
    table: NDArray[np.float32]
    centre: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    radius: NDArray[np.float64]
    first_id: NDArray[np.int32]
    size: int
    scale: float


class Group(NamedTuple):
    """`m` queries searched together.

    Attributes
    ----------
    rows : (m, d) float64
    columns : (d, p) float64
        The same, feature-major; the last query is repeated to fill a tile.
    own : (m,) int32
        Their positions in the caller's table; -1 if they are not in it.
    """

    rows: NDArray[np.float64]
    columns: NDArray[np.float64]
    own: NDArray[np.int32]


def build_blocks(points: NDArray[np.float64], size: int) -> Blocks:
    """Arrange (n, d) `points` in blocks of `size` neighbouring points."""
    n, d = points.shape
    ids = np.arange(n, dtype=np.int32)
    order_nearby(points, size, ids)
    place = np.empty(n, dtype=np.int32)
    place[ids] = np.arange(n, dtype=np.int32)
    rows = points[ids]
    extent = float(np.max(points.max(axis=0) - points.min(axis=0)))
    exponent = np.clip(np.ceil(np.log2(extent)), -MAX_EXPONENT, MAX_EXPONENT) if extent > 0 else 0.0
    count = -(-n // size)
    table = np.zeros((count * -(-size // STRIP), d + 1, STRIP), dtype=np.float32)
    table[:, d] = np.nan
    centre, low, high = (np.empty((count, d)) for _ in range(3))
    radius = np.empty(count)
    first_id = np.empty(count, dtype=np.int32)
    blocks = Blocks(ids, place, rows, table, centre, low, high, radius, first_id, size, float(2.0**-exponent))
    _fill(blocks)
    return blocks


@njit(nogil=True, cache=True)
def order_nearby(points: Any, size: int, ids: Any) -> None:
    """Order `ids` so that every node of the tree is a run; ties by position.

    Nodes split at whole blocks, and blocks at whole strips: points that are near each other are looked at together.
    """
    n, d = points.shape
    keys = np.empty(n)
    spread = np.empty(d)
    stack = np.empty((64, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, n
    depth = 1
    while depth > 0:
        depth -= 1
        start, stop = stack[depth, 0], stack[depth, 1]
        if stop - start <= min(size, STRIP):
            ids[start:stop].sort()
            continue
        feature = _widest(points, ids[start:stop], spread)
        for i in range(start, stop):
            keys[i] = points[ids[i], feature]
        unit = size if stop - start > size else STRIP
        half = ((stop - start + unit - 1) // unit + 1) // 2 * unit
        select_pairs(keys[start:stop], ids[start:stop], stop - start, half)
        stack[depth, 0], stack[depth, 1] = start, start + half
        stack[depth + 1, 0], stack[depth + 1, 1] = start + half, stop
        depth += 2


@njit(nogil=True, cache=True)
def _widest(points: Any, members: Any, spread: Any) -> int:
    """Feature of largest variance among (a sample of) the members of a node."""
    step = max(1, len(members) // SPREAD_SAMPLE)
    for f in range(points.shape[1]):
        origin = points[members[0], f]
        total, squares, count = 0.0, 0.0, 0
        for i in range(0, len(members), step):
            value = points[members[i], f] - origin
            total += value
            squares += value * value
            count += 1
        spread[f] = squares - total * total / count
    return int(np.argmax(spread))


@njit(nogil=True, cache=True)
def _fill(blocks: Any) -> None:
    """Compute everything that hangs on the order of the points."""
    d = blocks.rows.shape[1]
    for b in range(len(blocks.low)):
        start, stop = block_range(blocks, b)
        for f in range(d):
            column = blocks.rows[start:stop, f]
            blocks.low[b, f] = column.min()
            blocks.high[b, f] = column.max()
            # half of each: the sum of two large coordinates may overflow
            blocks.centre[b, f] = 0.5 * blocks.low[b, f] + 0.5 * blocks.high[b, f]
        blocks.first_id[b] = blocks.ids[start:stop].min()
        blocks.radius[b] = 0.0
        for i in range(stop - start):
            strip, j = first_strip(blocks, b) + i // STRIP, i % STRIP
            norm = 0.0
            for f in range(d):
                value = np.float32((blocks.rows[start + i, f] - blocks.centre[b, f]) * blocks.scale)
                blocks.table[strip, f, j] = value
                norm += np.float64(value) ** 2
            blocks.table[strip, d, j] = norm
            blocks.radius[b] = max(blocks.radius[b], np.sqrt(norm))


@njit(nogil=True, cache=True)
def block_range(blocks: Blocks, b: int) -> tuple[int, int]:
    """First place of block `b` and the place after its last."""
    return b * blocks.size, min((b + 1) * blocks.size, len(blocks.rows))


@njit(nogil=True, cache=True)
def first_strip(blocks: Blocks, b: int) -> int:
    """The strip of `blocks.table` that block `b` begins with."""
    return b * (len(blocks.table) // len(blocks.low))


@njit(nogil=True, cache=True)
def take_group(rows: Any, own: Any) -> Group:
    """Queries (m, d) that are searched together, and their positions in the caller's table (-1: not in it)."""
    m, d = rows.shape
    columns = np.empty((d, (m + TILE - 1) // TILE * TILE))
    for i in range(columns.shape[1]):
        columns[:, i] = rows[min(i, m - 1)]
    return Group(rows.copy(), columns, own.copy())
