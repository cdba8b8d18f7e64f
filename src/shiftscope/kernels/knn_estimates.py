"""Float32 estimates of the distances between a tile of queries and a strip of points.

Queries and points are taken relative to the centre of a block. With shifted = -2 q, the squared distance is
|q|^2 + (|x|^2 + shifted . x): the part in parentheses is the estimate, and `rounding_margin` covers its errors.

The tile is the one place where vectors are written out (as LLVM vectors, which exist on every machine): its sums have
to stay in registers from the first feature to the comparison with the limits, and compiled loops write them back to
memory after every few features, which takes four times as long.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from shiftscope.kernels.compiling import njit

# Numbers in a vector, and queries that share the loads of a strip: two sums for each of them, in registers, of which
# there are 32 with AVX-512 and 16 on most other machines.
FLOATS, TILE = (16, 8) if get_host_cpu_features().get("avx512f", False) else (8, 6)
STRIP = 2 * FLOATS  # points that are looked at together
FLOAT32_ROUNDING = 2.0**-24
FLOAT32_TINY = 2.0**-110  # above what underflow can do to a sum of squares of numbers below 2

FLOAT, INT, LONG = ir.FloatType(), ir.IntType(32), ir.IntType(64)
VECTOR = ir.VectorType(FLOAT, FLOATS)
FUSED = ("contract",)  # a product and a sum may be one operation with one rounding


@njit(nogil=True, cache=True)
def rounding_margin(norm: float, radius: float, d: int) -> float:
    """How far norm + estimate may be from the squared distance (scaled), whatever the order of summation.

    At most 2 d + 2 operations are rounded, on terms whose magnitudes add up to at most (|q| + radius)^2; the other
    10 cover the rounding of the coordinates themselves, float64, and the limit derived from the margin.
    """
    reach = (math.sqrt(norm) + radius) ** 2
    return (2 * d + 12) * FLOAT32_ROUNDING * reach + (d + 1) * FLOAT32_TINY


@njit(nogil=True, cache=True)
def estimate_limit(bound: float, norm: float, margin: float) -> np.float32:
    """The largest estimate worth a look when the (scaled) squared distance may reach `bound`, rounded up."""
    rest = bound - norm
    return np.float32(rest + margin + 4 * FLOAT32_ROUNDING * abs(rest))


@intrinsic
def estimate_strip(
    context: Any, table: Any, number: Any, tile: Any, limit: Any, first: Any, s: Any, estimates: Any, within: Any
) -> Any:
    """Compare the points of a strip with a tile of queries.

    Parameters
    ----------
    table : (., d + 1, STRIP) float32
        Strips of points, feature-major; the last row is the squared norm.
    number : int
        Which strip.
    tile : (d, TILE) float32
        -2 times the queries, feature-major.
    limit : (p,) float32
        The largest estimate worth a look, for each query of the group.
    first : int
        Position of the first query of the tile in the group.
    s : int
        Where the results go.
    estimates : (., TILE, STRIP) float32
        Output, in `estimates[s]`: |x|^2 + shifted . x.
    within : (., TILE) uint32
        Output, in `within[s]`: bit j tells whether point j is within the limit. What is not a number never is.
    """
    return types.void(table, types.int64, tile, limit, types.int64, types.int64, estimates, within), _write_tile


def _write_tile(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the code of `estimate_strip`."""
    table, tile, limit, estimates, within = (
        target.make_array(signature.args[i])(target, builder, arguments[i]) for i in (0, 2, 3, 6, 7)
    )
    number, first, s = arguments[1], arguments[4], arguments[5]
    d = builder.extract_value(tile.shape, 0)
    length = builder.mul(builder.add(d, LONG(1)), LONG(STRIP))
    strip = builder.gep(table.data, [builder.mul(number, length)])
    sums = [[cgutils.alloca_once(builder, VECTOR) for _ in range(2)] for _ in range(TILE)]
    norms = _two_vectors(builder, strip, d)
    for i in range(TILE):
        for half in range(2):
            builder.store(norms[half], sums[i][half])
    with cgutils.for_range(builder, d) as loop:
        points = _two_vectors(builder, strip, loop.index)
        row = builder.mul(loop.index, LONG(TILE))
        for i in range(TILE):
            factor = _repeated(builder, tile.data, builder.add(row, LONG(i)))
            for half in range(2):
                product = builder.fmul(factor, points[half], flags=FUSED)
                builder.store(builder.fadd(builder.load(sums[i][half]), product, flags=FUSED), sums[i][half])
    estimates_here = builder.gep(estimates.data, [builder.mul(s, LONG(TILE * STRIP))])
    within_here = builder.gep(within.data, [builder.mul(s, LONG(TILE))])
    for i in range(TILE):
        bits, largest = INT(0), _repeated(builder, limit.data, builder.add(first, LONG(i)))
        for half in range(2):
            estimate = builder.load(sums[i][half])
            place = builder.gep(estimates_here, [LONG(i * STRIP + half * FLOATS)])
            builder.store(estimate, builder.bitcast(place, VECTOR.as_pointer()), align=4)
            inside = builder.bitcast(builder.fcmp_ordered("<=", estimate, largest), ir.IntType(FLOATS))
            bits = builder.or_(bits, builder.shl(builder.zext(inside, INT), INT(half * FLOATS)))
        builder.store(bits, builder.gep(within_here, [LONG(i)]))
    return target.get_dummy_value()


def _two_vectors(builder: Any, strip: Any, row: Any) -> list[Any]:
    """Load a row of a strip."""
    start = builder.gep(strip, [builder.mul(row, LONG(STRIP))])
    halves = [builder.gep(start, [LONG(half * FLOATS)]) for half in range(2)]
    return [builder.load(builder.bitcast(half, VECTOR.as_pointer()), align=4) for half in halves]


def _repeated(builder: Any, data: Any, offset: Any) -> Any:
    """Load a number into all places of a vector."""
    nothing = ir.Constant(VECTOR, ir.Undefined)
    single = builder.insert_element(nothing, builder.load(builder.gep(data, [offset])), INT(0))
    return builder.shuffle_vector(single, nothing, ir.Constant(ir.VectorType(INT, FLOATS), None))


@intrinsic
def lowest_bit(context: Any, word: Any) -> Any:
    """Position of the lowest bit that is set in a uint64 (which must not be zero)."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(types.uint64), generate
