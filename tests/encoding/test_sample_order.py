from __future__ import annotations

import numpy as np

from shiftscope.encoding.sample_order import canonical, row_digest, swapped
from tests.pairs import encode_pair


def test_digests_of_parts_add_up_and_know_the_order() -> None:
    rows = np.random.default_rng(0).standard_normal((9000, 3))
    whole = row_digest(rows)
    assert whole == (row_digest(rows[:5000]) + row_digest(rows[5000:], 5000)) % 2**64
    assert len({whole, row_digest(rows[::-1]), row_digest(rows[:, ::-1]), row_digest(rows + 1e-12)}) == 4


def test_the_canonical_order_is_that_of_size_then_content() -> None:
    rng = np.random.default_rng(1)
    large, small, other = rng.standard_normal((9, 2)), rng.standard_normal((6, 2)), rng.standard_normal((9, 2))
    for pair in ((large, small), (large, other), (small, other)):
        one, flipped = canonical(encode_pair(*pair))
        again, back = canonical(encode_pair(*pair[::-1]))
        assert flipped != back
        np.testing.assert_array_equal(one.points, again.points)
        assert one.n_reference == again.n_reference


def test_exchanging_samples_moves_whole_samples_and_twice_is_nothing() -> None:
    rng = np.random.default_rng(2)
    encoded = encode_pair(rng.standard_normal((5, 2)), rng.standard_normal((3, 2)))
    other = swapped(encoded)
    np.testing.assert_array_equal(other.reference, encoded.current)
    np.testing.assert_array_equal(other.current, encoded.reference)
    np.testing.assert_array_equal(swapped(other).points, encoded.points)
