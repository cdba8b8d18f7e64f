from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shiftscope.modes.describe import describe, directions
from shiftscope.modes.mode import Settled
from shiftscope.params import CompareParams
from tests.pairs import encode_pair, job_of


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


@pytest.mark.parametrize("of_current", [True, False])
def test_shares_go_from_the_reference_to_the_current_sample(of_current):
    """Whichever sample has the excess of level b, the arrow points from reference to current."""
    rich, poor = np.array(["b"] * 40 + ["a"] * 60), np.array(["a"] * 100)
    reference, current = (poor, rich) if of_current else (rich, poor)
    encoded = encode_pair(pl.DataFrame({"x": reference}), pl.DataFrame({"x": current}))
    rows = np.arange(40) + (100 if of_current else 0)
    told = directions(encoded, of_current, rows, (0,))[0]
    assert told.change == ("= b: 0 % -> 40 %" if of_current else "= b: 40 % -> 0 %")


def settled(rows, origin, p_value=0.01, features=(0, 1), is_current=True):
    return Settled(is_current, features, np.asarray(rows), True, None, p_value, origin)


@pytest.fixture(scope="module")
def job():
    """600 rows each; a compact group of 80 current rows, and a hole in the reference sample's place of (2, 2)."""
    rng = np.random.default_rng(0)
    reference, current = rng.standard_normal((2, 600, 3))
    current[:80, :2] = 1.0 + 0.05 * rng.standard_normal((80, 2))
    reference[:80, :2] = -1.0 + 0.05 * rng.standard_normal((80, 2))
    return job_of(reference, current)


def lacking(job):
    """Current rows around which the reference sample has more."""
    centre = np.median(job.points[:80, :2], axis=0)
    distance = np.sum((job.points[600:, :2] - centre) ** 2, axis=1)
    return 600 + np.argsort(distance)[:30]


def test_a_mode_of_the_full_space_without_excess_is_none(job):
    group, lack = settled(range(600, 680), "full space"), settled(lacking(job), "full space")
    (told,) = describe(job, (lack, group))
    np.testing.assert_array_equal(told.rows, np.arange(80))
    assert told.excess == pytest.approx(80 / 600, abs=0.03)
    assert describe(job, (lack,)) == ()


def test_a_mode_of_the_scan_is_told_whatever_its_excess(job):
    (told,) = describe(job, (settled(lacking(job), "scan"),))
    assert told.excess < 0
    assert told.excess_interval[0] < told.excess < told.excess_interval[1] < 0
    assert (told.side, told.origin, told.features) == ("current", "scan", ("x0", "x1"))


def test_modes_come_strongest_first_and_pay_for_both_searches(job):
    modes = (
        settled(range(600, 630), "scan", p_value=0.004),
        settled(range(600, 680), "scan", p_value=0.004),
        settled(range(80), "full space", p_value=0.7, is_current=False),
        settled(range(600, 660), "full space", p_value=0.001),
    )
    told = describe(job, modes)
    assert [mode.p_value for mode in told] == [0.002, 0.008, 0.008, 1.0]  # the scan and the full space share alpha
    assert told[1].excess >= told[2].excess
    assert told[3].side == "reference"
    np.testing.assert_array_equal(told[3].rows, np.arange(80))
    alone = job_of(*np.random.default_rng(1).standard_normal((2, 50, 3)), CompareParams(scan=None))
    assert describe(alone, (settled(range(50, 70), "scan", p_value=0.004),))[0].p_value == 0.004
