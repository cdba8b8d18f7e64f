"""The smallest group that would have been found."""

from __future__ import annotations

import numpy as np
import pytest

from shiftscope.kernels.deviance import half_deviance
from shiftscope.subspaces.detectable import POWER, _power, half_deviances


def test_deviance_is_that_of_the_scan() -> None:
    counted, total = 400, 1000
    counts = np.arange(total + 1.0)
    xlogx = counts * np.log(np.maximum(counts, 1))
    k, inside = np.array([0, 3, 40, 60]), np.array([10, 3, 60, 60])
    expected = [half_deviance(int(hits), int(rows), counted, xlogx) for hits, rows in zip(k, inside, strict=True)]
    np.testing.assert_allclose(half_deviances(k, inside, counted, total), expected, atol=1e-9)


def test_power_is_how_often_a_window_reaches_the_evidence() -> None:
    """Against simulation, within four standard errors."""
    own, other, share, needed, extra, draws = 500, 800, 0.02, 9.0, 22, 4000
    rng = np.random.default_rng(0)
    have = extra + rng.poisson(share * (own - extra), draws)
    counter = rng.poisson(share * other, draws)
    found = half_deviances(have, have + counter, own, own + other) >= needed
    excess = have * (own + other) > (have + counter) * own
    observed = float(np.mean(found & excess))
    assert 0.1 < observed < 0.98
    assert _power(extra, own, other, share, needed) == pytest.approx(observed, abs=4 * 0.5 / np.sqrt(draws))


def test_power_grows_with_the_group() -> None:
    powers = [_power(extra, 600, 600, 0.01, 8.0) for extra in (0, 5, 10, 20, 40)]
    assert powers == sorted(powers)
    assert powers[0] < 0.01
    assert powers[-1] > POWER
