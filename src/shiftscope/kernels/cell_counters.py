"""Adding the bits of a word to 64 counters at once.

No compiler turns a loop over the bits of a word into good vector code, so the vector operations are spelled out, in
LLVM's own terms, which exist on every machine (of little-endian order): the bytes of the word are spread so that
labelling l sees byte l // 8, each labelling keeps its own bit, and minus one times the comparison with zero is added.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numpy.typing import NDArray

from shiftscope.kernels.compiling import njit

BITS = 64  # of a word, and counters of a line

_BYTE = ir.IntType(8)


def _bits(builder: Any, word: Any) -> Any:
    """Bit l of `word`, as a truth value, in labelling l."""
    vector = ir.VectorType(_BYTE, BITS)
    held = builder.bitcast(word, ir.VectorType(_BYTE, 8))
    own = ir.Constant(ir.VectorType(ir.IntType(32), BITS), [labelling // 8 for labelling in range(BITS)])
    spread = builder.shuffle_vector(held, held, own)
    mask = ir.Constant(vector, [1 << labelling % 8 for labelling in range(BITS)])
    return builder.icmp_unsigned("!=", builder.and_(spread, mask), ir.Constant(vector, [0] * BITS))


@intrinsic
def _add_word(context: Any, lines: Any, line: Any, word: Any) -> Any:
    """``lines[line, l] += bit l of word``; lines : (cells, 64) C-contiguous counters, line : intp, word : uint64."""
    if lines.layout != "C" or lines.ndim != 2 or word != types.uint64:
        raise TypingError(f"counters must be C-contiguous lines and words uint64, found {lines} and {word}")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        vector = ir.VectorType(array.data.type.pointee, BITS)
        start = builder.mul(arguments[1], ir.Constant(ir.IntType(64), BITS))
        place = builder.bitcast(builder.gep(array.data, [start]), vector.as_pointer())
        minus_bits = builder.sext(_bits(builder, arguments[2]), vector)
        old = builder.load(place, align=lines.dtype.bitwidth // 8)
        builder.store(builder.sub(old, minus_bits), place, align=lines.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(lines, line, word), generate


@njit(cache=True, nogil=True)
def add_words(words: NDArray[np.uint64], cells: NDArray[np.uint16], lines: NDArray[Any]) -> None:
    """Add the bits of each word to the 64 counters of its cell.

    Parameters
    ----------
    words : (n,) uint64
    cells : (n,) uint16
        Below ``len(lines)``: this is not checked.
    lines : (cells, 64) unsigned integers, C-contiguous
    """
    for r in range(cells.shape[0]):
        _add_word(lines, np.intp(cells[r]), words[r])
