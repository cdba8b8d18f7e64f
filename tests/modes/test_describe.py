from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shiftscope.modes.describe import directions
from shiftscope.modes.mode import Direction
from tests.pairs import encode_pair


def test_directions_are_in_the_units_of_the_data():
    rng = np.random.default_rng(0)
    reference = rng.normal((100, -5, 3), (10, 1, 1), (500, 3))
    current = rng.normal((100, -5, 3), (10, 1, 1), (500, 3))
    current[:50] = rng.normal((120, -5, 1), (1, 0.1, 1), (50, 3))
    encoded = encode_pair(reference, current)
    found = directions(encoded, True, np.arange(500, 550), (2, 0, 1))
    assert [(one.feature, one.word) for one in found] == [("x2", "lower"), ("x0", "higher"), ("x1", "narrower")]
    assert found[1].median == pytest.approx(np.median(current[:50, 0]))
    assert found[1].other_median == pytest.approx(np.median(reference[:, 0]))
    assert found[1].shift == pytest.approx((found[1].median - found[1].other_median) / encoded.scale[0])
    quartiles = [np.subtract(*np.quantile(rows, (0.75, 0.25))) for rows in (current[:50, 1], reference[:, 1])]
    assert found[2].spread_ratio == pytest.approx(quartiles[0] / quartiles[1])
    assert str(found[1]).startswith("x0 higher: median 120")


def test_directions_of_the_largest_numbers_are_finite():
    reference = pl.DataFrame({"v": [1.7e308, -1.7e308] * 10})
    current = pl.DataFrame({"v": [1.6e308, 1.7e308] * 10})
    encoded = encode_pair(reference, current)
    (found,) = directions(encoded, True, np.arange(20, 40), (0,))
    small = encode_pair(reference / 2.0**900, current / 2.0**900)
    (expected,) = directions(small, True, np.arange(20, 40), (0,))
    assert found.median == expected.median * 2.0**900
    assert found.other_median == expected.other_median * 2.0**900
    assert found.shift == pytest.approx(expected.shift)
    assert found.spread_ratio == pytest.approx(expected.spread_ratio)


def test_a_constant_column_of_the_other_sample_has_no_spread_to_compare():
    reference, current = np.zeros((20, 2)), np.random.default_rng(0).standard_normal((20, 2))
    reference[:, 1] = np.arange(20)
    found = directions(encode_pair(reference, current), True, np.arange(20, 40), (0,))
    assert found[0].spread_ratio == np.inf


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


@pytest.mark.parametrize("of_current", [True, False])
def test_shares_go_from_the_reference_to_the_current_sample(of_current):
    """Whichever sample has the excess of level b, the arrow points from reference to current."""
    rich, poor = np.array(["b"] * 40 + ["a"] * 60), np.array(["a"] * 100)
    reference, current = (poor, rich) if of_current else (rich, poor)
    encoded = encode_pair(pl.DataFrame({"x": reference}), pl.DataFrame({"x": current}))
    rows = np.arange(40) + (100 if of_current else 0)
    told = directions(encoded, of_current, rows, (0,))[0]
    assert told.change == ("= b: 0 % -> 40 %" if of_current else "= b: 40 % -> 0 %")
