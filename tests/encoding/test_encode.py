from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shiftscope.encoding.encode import Encoded
from shiftscope.errors import InputError
from shiftscope.tables.column_choice import LeftOut
from tests.pairs import encode_pair

RNG = np.random.default_rng(20)
REFERENCE = RNG.normal(size=(30, 4))
CURRENT = RNG.normal(1.0, 2.0, size=(20, 4))


def message_of(reference: object, current: object) -> str:
    with pytest.raises(InputError) as caught:
        encode_pair(reference, current)
    message = str(caught.value)
    assert message.splitlines() == [message]
    return message


def exact_moments(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation in rational arithmetic: the slow, obvious twin."""
    fractions = [Fraction(float(value)) for value in values]
    mean = sum(fractions) / len(fractions)
    variance = sum((value - mean) ** 2 for value in fractions) / len(fractions)
    # A power of four, taken out and put back, keeps the root in range.
    power = (variance.numerator.bit_length() - variance.denominator.bit_length()) // 2
    return float(mean), math.ldexp(math.sqrt(variance / Fraction(4) ** power), power)


def test_pool_of_two_samples():
    encoded = encode_pair(REFERENCE, CURRENT)
    pool = np.vstack([REFERENCE, CURRENT])
    assert encoded.points.shape == (50, 4)
    assert encoded.points.flags.c_contiguous
    assert (encoded.n_reference, encoded.n_current) == (30, 20)
    assert encoded.names == ("x0", "x1", "x2", "x3")
    assert encoded.left_out == ()
    np.testing.assert_allclose(encoded.centre, pool.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(encoded.scale, pool.std(axis=0), rtol=1e-13)
    np.testing.assert_array_equal(encoded.points, (pool - encoded.centre) / encoded.scale)
    np.testing.assert_array_equal(encoded.is_current, np.repeat([False, True], [30, 20]))
    assert np.shares_memory(encoded.reference, encoded.points)
    np.testing.assert_array_equal(np.vstack([encoded.reference, encoded.current]), encoded.points)
    for column in range(4):
        np.testing.assert_allclose(encoded.raw(column), pool[:, column], rtol=1e-12, atol=1e-14)


def test_rows_of_a_list_are_encoded_to_the_last_bit_like_an_array():
    pool = np.vstack([REFERENCE, CURRENT])
    found = encode_pair(REFERENCE.tolist(), CURRENT)
    assert_same_bits(found.points, encode_pair(REFERENCE, CURRENT).points)
    np.testing.assert_allclose(found.points, (pool - pool.mean(axis=0)) / pool.std(axis=0), rtol=1e-12, atol=1e-14)


# Columns are matched by name


def test_columns_are_matched_by_name_in_any_order():
    reference = pl.DataFrame(REFERENCE, schema=["a", "b", "c", "d"])
    current = pd.DataFrame(CURRENT, columns=["a", "b", "c", "d"])
    expected = encode_pair(reference, current)
    shuffled = encode_pair(reference, current[["c", "a", "d", "b"]])
    assert shuffled.names == ("a", "b", "c", "d")
    np.testing.assert_array_equal(shuffled.points, expected.points)


def test_columns_of_one_sample_only_are_left_out():
    reference = pl.DataFrame(REFERENCE, schema=["a", "b", "c", "d"])
    current = pl.DataFrame(CURRENT, schema=["b", "e", "f", "c"])
    encoded = encode_pair(reference, current)
    assert encoded.names == ("b", "c")
    assert encoded.left_out == (
        LeftOut("a", "only in the reference sample"),
        LeftOut("d", "only in the reference sample"),
        LeftOut("e", "only in the current sample"),
        LeftOut("f", "only in the current sample"),
    )


def test_no_common_column():
    message = message_of(pl.DataFrame(REFERENCE, schema=["a", "b", "c", "d\n"]), CURRENT)
    for part in ("no column in common", "'a', 'b', 'c' and 1 more", "'x0', 'x1', 'x2' and 1 more", "rename"):
        assert part in message


def test_plain_arrays_need_the_same_width():
    message = message_of(REFERENCE, CURRENT[:, :3])
    for part in ("reference has 4 columns and current has 3", "matched by position", "data frames"):
        assert part in message
    frame = pd.DataFrame(CURRENT[:, :3], columns=["x0", "x1", "x2"])
    assert encode_pair(REFERENCE, frame).left_out == (LeftOut("x3", "only in the reference sample"),)


def test_faults_name_the_sample():
    broken = CURRENT.copy()
    broken[3:5, 0] = np.inf
    assert message_of(REFERENCE, broken).startswith("current: column 'x0' has 2 infinite values (first in row 3")
    assert message_of(broken, REFERENCE).startswith("reference: ")


# Columns that carry nothing are left out


def test_constant_columns_are_left_out():
    reference, current = REFERENCE.copy(), CURRENT.copy()
    reference[:, 1] = current[:, 1] = 2.5
    reference[:, 2], current[:, 2] = 0.0, 1.0  # constant within each sample: it tells them apart
    reference[:, 3], current[:, 3] = 0.0, -0.0
    encoded = encode_pair(reference, current)
    assert encoded.names == ("x0",)
    assert [(left.name, left.apart) for left in encoded.left_out] == [("x1", False), ("x2", True), ("x3", False)]
    assert encoded.left_out[0].reason == "constant: 2.5 in every row"


def test_exact_duplicates_are_left_out():
    reference = np.column_stack([REFERENCE, REFERENCE[:, 1], REFERENCE[:, 2], REFERENCE[::-1, 1]])
    current = np.column_stack([CURRENT, CURRENT[:, 1], CURRENT[:, 3], CURRENT[::-1, 1]])
    encoded = encode_pair(reference, current)
    assert encoded.names == ("x0", "x1", "x2", "x3", "x5", "x6")
    assert encoded.left_out == (LeftOut("x4", "equal to column 'x1' in every row"),)


def test_nothing_left():
    message = message_of(np.ones((3, 2)), np.ones((4, 2)))
    for part in ("none of the common columns ('x0', 'x1') varies", "at least one column"):
        assert part in message


# Numbers keep their precision


@pytest.mark.parametrize(
    "column",
    [
        1e9 + RNG.normal(size=200) * 1e-3,
        1e9 + RNG.integers(0, 2, size=200) * 2.0**-23,  # two neighbouring doubles
        RNG.normal(size=200) * 1e300,
        RNG.choice([-1.0, 1.0], size=200) * 1.7e308,
        RNG.normal(size=200) * 1e-300,
        RNG.normal(size=200) * 1e-318,
        np.append(RNG.normal(size=199), 1e200),
        np.append(np.ones(199), 1.0 + 2.0**-52),
        RNG.normal(size=200).astype(np.float32),
        RNG.integers(0, 2, size=200).astype(bool),
        RNG.integers(0, 2**63, size=200, dtype=np.uint64),
    ],
)
def test_moments_against_rational_arithmetic(column):
    encoded = encode_pair(column[:120], column[120:])
    mean, deviation = exact_moments(column.astype(np.float64))
    spacing = max(2.0**-52 * float(np.abs(column.astype(np.float64)).max()), 5e-324)
    assert abs(encoded.centre[0] - mean) <= 2 * spacing
    assert abs(encoded.scale[0] - deviation) <= 1e-13 * deviation + 5e-324
    assert np.isfinite(encoded.points).all()
    np.testing.assert_allclose(encoded.points.std(), 1.0, rtol=1e-6)
    np.testing.assert_allclose(encoded.raw(0), column.astype(np.float64), rtol=1e-9, atol=4 * spacing)


def test_float32_is_widened_before_anything_is_computed():
    narrow = (1e4 + RNG.normal(size=(50, 2))).astype(np.float32)
    wide = narrow.astype(np.float64)
    np.testing.assert_array_equal(
        encode_pair(narrow[:20], narrow[20:]).points, encode_pair(wide[:20], wide[20:]).points
    )


# Invariants, to the last bit

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-10, 10),
    st.sampled_from([0.0, -0.0, 1.0, 1e9, 1e9 + 1e-6]),
)
SAMPLES = st.tuples(st.integers(2, 12), st.integers(2, 12), st.integers(1, 3)).flatmap(
    lambda shape: st.tuples(
        arrays(np.float64, (shape[0], shape[2]), elements=NUMBERS),
        arrays(np.float64, (shape[1], shape[2]), elements=NUMBERS),
    )
)


def encoded_or_nothing(reference: np.ndarray, current: np.ndarray) -> Encoded:
    pool = np.vstack([reference, current])
    assume((pool != pool[0]).any())
    try:
        return encode_pair(reference, current)
    except InputError as error:
        assert "varies" in str(error)  # noqa: PT017 - spread below the smallest double
        assume(False)
        raise


def assert_same_bits(one: np.ndarray, other: np.ndarray) -> None:
    assert one.shape == other.shape
    assert np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()


@given(SAMPLES)
def test_swapping_the_samples_swaps_the_rows(samples):
    encoded = encoded_or_nothing(*samples)
    swapped = encode_pair(*samples[::-1])
    assert swapped.names == encoded.names
    assert [left.name for left in swapped.left_out] == [left.name for left in encoded.left_out]
    assert_same_bits(swapped.reference, encoded.current)
    assert_same_bits(swapped.current, encoded.reference)
    assert_same_bits(swapped.centre, encoded.centre)
    assert_same_bits(swapped.scale, encoded.scale)


@given(SAMPLES, st.randoms(use_true_random=False))
def test_permuting_rows_permutes_points(samples, random):
    encoded = encoded_or_nothing(*samples)
    orders = [random.sample(range(len(sample)), len(sample)) for sample in samples]
    permuted = encode_pair(samples[0][orders[0]], samples[1][orders[1]])
    assert_same_bits(permuted.reference, encoded.reference[orders[0]])
    assert_same_bits(permuted.current, encoded.current[orders[1]])


def test_order_does_not_matter_for_many_rows():
    pool = np.concatenate([RNG.normal(size=60_000), RNG.lognormal(sigma=5, size=40_001)])[:, np.newaxis]
    encoded = encode_pair(pool[:30_000], pool[30_000:])
    order = RNG.permutation(len(pool))
    mixed = encode_pair(pool[order[:50_000]], pool[order[50_000:]])
    assert_same_bits(mixed.points, encoded.points[order])


@given(SAMPLES)
def test_equal_rows_have_equal_bits(samples):
    reference, current = samples
    mirrored = np.where(reference[:1] == 0.0, -reference[:1], reference[:1])  # 0.0 and -0.0 are equal
    encoded = encoded_or_nothing(np.vstack([reference, reference[:1]]), np.vstack([current, mirrored]))
    assert_same_bits(encoded.reference[0], encoded.reference[-1])
    assert_same_bits(encoded.reference[0], encoded.current[-1])


@given(SAMPLES)
def test_points_are_finite_and_centred(samples):
    encoded = encoded_or_nothing(*samples)
    assert np.isfinite(encoded.points).all()
    assert np.isfinite(encoded.centre).all()
    assert (encoded.scale > 0).all()
    assert np.abs(encoded.points).max() <= 2 * math.sqrt(len(encoded.points))
