"""Counters of 512 labellings at once: bit b of every counter lies in plane b, one vector of 64-bit words.

Numba's loops over the words of one step do not become vector instructions, because every plane waits for the carry of
the one below; so this one step is written in LLVM's vector types. It runs on any processor LLVM knows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

WORDS = 8  # 64 labellings each: the labels of a row fill one cache line
PLANES = 12  # bits of a counter
MOST = (1 << PLANES) - 2  # counts that can be told apart, and one more that is never reached
FEW, ENOUGH = PLANES, PLANES + 1  # rows of the state behind the planes: labellings that ever were below, at least
ALL_BITS = (1 << 64) - 1

_LONG = ir.IntType(64)
_INDEX = ir.IntType(32)
_VECTOR = ir.VectorType(_LONG, WORDS)


def bound_masks(few: NDArray[np.int64], enough: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Masks of `count_and_compare` for each pair of bounds: (len(few), 2, PLANES), all bits set where a bound's is not.

    A count below few[k], or at least enough[k], is marked; few = 0 and enough = MOST + 1 mark none.
    """
    bounds = np.stack([few, enough], axis=1)
    unset = (bounds[:, :, None] >> np.arange(PLANES)) & 1 == 0
    return np.where(unset, np.uint64(ALL_BITS), np.uint64(0))


@intrinsic
def count_and_compare(
    typing: Any, labels: types.Array, row: types.Integer, masks: types.Array, k: types.Integer, state: types.Array
) -> Any:
    """Add the labels of `row` to the counters, then mark those below and those at least the bounds of masks[k].

    labels is (n, WORDS), masks (bounds, 2, PLANES), state (PLANES + 2, WORDS): the planes, then the marks FEW and
    ENOUGH; all uint64 and contiguous. A counter is compared with a bound from the lowest bit up: where the bound's bit
    is set, the lower bits must agree and the counter's bit be set; elsewhere one of them is enough.
    """

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = [
            context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else None
            for kind, value in zip(signature.args, args, strict=True)
        ]
        carry = builder.load(_row(builder, data[0], args[1]), align=8)
        marks = [ir.Constant(_VECTOR, [ALL_BITS] * WORDS)] * 2
        for plane in range(PLANES):
            place = _row(builder, data[4], _LONG(plane))
            before = builder.load(place, align=8)
            after = builder.xor(before, carry)
            builder.store(after, place, align=8)
            carry = builder.and_(carry, before)
            for which in (0, 1):
                at = builder.add(builder.mul(args[3], _LONG(2 * PLANES)), _LONG(which * PLANES + plane))
                unset = _everywhere(builder, builder.load(builder.gep(data[2], [at])))
                both, either = builder.and_(marks[which], after), builder.or_(marks[which], after)
                marks[which] = builder.or_(both, builder.and_(unset, either))
        for row_of_state, mark in ((FEW, builder.not_(marks[0])), (ENOUGH, marks[1])):
            place = _row(builder, data[4], _LONG(row_of_state))
            builder.store(builder.or_(builder.load(place, align=8), mark), place, align=8)
        return context.get_dummy_value()

    return types.void(labels, types.int64, masks, types.int64, state), emit


def _row(builder: Any, data: Any, row: Any) -> Any:
    """Pointer to a row of WORDS words."""
    return builder.bitcast(builder.gep(data, [builder.mul(row, _LONG(WORDS))]), _VECTOR.as_pointer())


def _everywhere(builder: Any, word: Any) -> Any:
    """Vector with `word` in every place."""
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, word, _INDEX(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(_INDEX, WORDS), [0] * WORDS))
