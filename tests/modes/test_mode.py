from __future__ import annotations

import pytest

from shiftscope.modes.mode import Direction


@pytest.mark.parametrize(
    ("shift", "spread_ratio", "word"),
    [
        (0.3, 0.1, "higher"),
        (-0.3, 9, "lower"),
        (0.1, 0.5, "narrower"),
        (-0.1, 2, "wider"),
        (-0.1, 1, "lower"),
        (0.05, 1, "alike"),
    ],
)
def test_the_most_telling_word(shift, spread_ratio, word):
    assert Direction("x", 1.0, 0.0, shift, spread_ratio).word == word
