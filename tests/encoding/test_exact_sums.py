from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shiftscope.encoding.exact_sums import exact_mean, exact_sum


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=50), st.integers(0, 50))
@settings(max_examples=50, deadline=None)
def test_sums_are_exact_in_any_order(values: list[float], cut: int) -> None:
    array = np.array(values)
    total = exact_sum(array)
    assert total == exact_sum(array[:cut]) + exact_sum(array[cut:]) == exact_sum(array[::-1])
    assert exact_mean(total, 1) == math.fsum(values)


def test_sums_of_many_values() -> None:
    values = np.random.default_rng(0).standard_normal(200_000)
    assert exact_mean(exact_sum(values), 1) == math.fsum(values)
    assert exact_mean(exact_sum(np.array([5e-324, 1e308, -1e308])), 1) == 5e-324
