"""The smallest group that would have been found."""

from __future__ import annotations

import numpy as np
import pytest

from shiftscope.subspaces.detectable import POWER, _power, half_deviances


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
