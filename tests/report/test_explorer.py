from __future__ import annotations

import base64

import numpy as np
import pytest

from shiftscope.report.explorer import pack_positions


def unpacked(text: str) -> list[int]:
    """The slow twin of what the script does."""
    rows, value, shift, last = [], 0, 0, 0
    for byte in base64.b64decode(text):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            last += value
            rows.append(last)
            value, shift = 0, 0
    return rows


@pytest.mark.parametrize("rows", [[], [0], [0, 1, 2, 127, 128, 129, 300, 16_384, 16_600, 2**31, 2**40], [5], [2**21]])
def test_positions_survive_packing(rows: list[int]) -> None:
    assert unpacked(pack_positions(np.array(rows, dtype=np.intp))) == rows
