from __future__ import annotations

import struct

import numpy as np
import pytest

from shiftscope.kernels.ordered_keys import chosen_keys, key_of, tally_keys, values_of

SPECIAL = [0.0, 5e-324, -5e-324, 1.0, np.nextafter(1.0, 2.0), -1.0, 1e308, -1e308, 1e-300, np.inf]


def slow_key(value: float) -> int:
    """Two's rule for the bits of an IEEE number: invert all of a negative one, set the sign of the others."""
    (bits,) = struct.unpack(">Q", struct.pack(">d", value or 0.0))  # -0.0 is 0.0
    return 2**64 - 1 - bits if bits >> 63 else bits + 2**63


def mixed(seed: int) -> np.ndarray:
    """Smooth numbers, a point mass, gaps, and numbers that only their last bits tell apart."""
    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal(300)
    numbers[rng.random(300) < 0.3] = 0.0
    numbers[rng.random(300) < 0.2] = -np.inf
    close = 1.0 + 2.0**-52 * rng.integers(0, 50, 60)
    return rng.permutation(np.concatenate([numbers, close, SPECIAL, [-0.0], np.full(5, 7.0)]))


def test_keys_are_those_of_the_bytes_order_numbers_and_lead_back_to_them() -> None:
    values = np.unique(np.concatenate([SPECIAL, mixed(4)]))
    keys = np.array([key_of(value) for value in values], dtype=np.uint64)
    assert keys.tolist() == [slow_key(value) for value in values.tolist()]
    assert (keys[1:] > keys[:-1]).all()
    np.testing.assert_array_equal(values_of(keys), values)
    assert key_of(-0.0) == key_of(0.0)


@pytest.mark.parametrize(("known", "bits"), [(0, 3), (4, 6), (60, 4)])
def test_tallies_and_chosen_keys_against_a_loop(known: int, bits: int) -> None:
    values = mixed(5)
    keys = [slow_key(value) for value in values.tolist() if value != -np.inf]
    prefixes = sorted({key >> (64 - known) for key in keys})[::2]
    chosen = [key for key in keys if key >> (64 - known) in prefixes]
    buckets: dict[int, list[int]] = {}
    for key in sorted(chosen):
        buckets.setdefault(key >> (64 - known - bits), []).append(key)
    expected = ([f(inside) for inside in buckets.values()] for f in (len, min, max))
    asked = np.array(prefixes, np.uint64)
    for found, wanted in zip(tally_keys(values, asked, known, bits), expected, strict=True):
        assert found.tolist() == wanted
    assert max(map(len, buckets.values())) > 1
    if known:
        assert len(chosen) < len(keys)
        assert chosen_keys(values, asked, known).tolist() == chosen
