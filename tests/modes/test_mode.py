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


def test_wording_of_directions():
    nan = float("nan")
    level = Direction("device", nan, nan, nan, nan, "category", "B", share=1.0, other_share=0.04, own_share=0.31)
    assert str(level) == "device = B: 4 % -> 31 %"
    paired = Direction("device", nan, nan, nan, nan, "category", "B", share=0.9, other_share=0.3, own_share=0.3)
    assert str(paired) == "device = B: 90 % of these rows against 30 %"
    noise = Direction("device", nan, nan, nan, nan, "category", "B", 0.65, 0.46, 0.51, marginal=False)
    assert str(noise) == "device = B: 65 % of these rows against 46 %"
    rare = Direction("device", nan, nan, nan, nan, "category", "new", share=1.0, other_share=0.0, own_share=0.04)
    assert str(rare) == "device = new: 0 % -> 4 %"
    gap = Direction("age", nan, nan, nan, nan, "number", "missing", 1.0, 0.004, 0.2, gap=True)
    assert str(gap) == "age missing: 0.4 % -> 20 %"
    assert str(Direction("age", 61.0, 52.0, 0.9, 1.0)) == "age higher: median 61 against 52"
    assert str(Direction("age", 52.0, 52.1, -0.01, 1.1)) == "age much the same: median 52 against 52.1"
    date = Direction("seen", 86400.0 * 366, 0.0, 1.0, 1.0, "date")
    assert str(date) == "seen later: median 1971-01-02 against 1970-01-01"
