from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from shiftscope.kernels.contrast_sums import TERM_UNIT, add_term_sums, squared_lengths, term_moments
from tests.packing import pack_labels

D = 3
TERMS = np.array([(0, D, D), (2, D, D), (1, 1, D), (0, 2, D), (0, 1, 2)] * 9)  # more than share their labels
RNG = np.random.default_rng(5)


def slow_values(codes: np.ndarray, scores: np.ndarray, term: np.ndarray) -> list[float]:
    """One term, row by row."""
    values = []
    for row in range(codes.shape[1]):
        value = 1.0
        for feature in term:
            value *= 1.0 if feature == D else float(scores[feature, codes[feature, row]])
        values.append(value)
    return values


def test_terms_are_summed_over_the_counted_rows_in_whole_units_however_the_rows_are_cut() -> None:
    n = 301  # neither a multiple of the rows summed at once nor of those summed in 32 bits
    codes, scores = RNG.integers(0, 256, (D, n), dtype=np.uint8), RNG.standard_normal((D, 256)).astype(np.float32)
    scores[:, 0] = 6.2  # as far out as one row of billions
    codes[:, 20:160] = 0
    labels = RNG.integers(0, 2, (70, n), dtype=np.uint8)
    labels[0] = 1
    packed = pack_labels(labels)
    for cuts in ((0, n), (0, 100, 101, n)):
        counted, total = np.zeros((len(TERMS), 64 * len(packed)), np.int64), np.zeros(len(TERMS), np.int64)
        for start, stop in pairwise(cuts):
            add_term_sums(start, stop, codes, scores, packed, TERMS, counted, total)
        for at, term in enumerate(TERMS):
            whole = [round(TERM_UNIT * value) for value in slow_values(codes, scores, term)]
            assert total[at] == sum(whole) == counted[at, 0]
            expected = [sum(v for v, label in zip(whole, line, strict=True) if label) for line in labels]
            assert counted[at, : len(labels)].tolist() == expected


def test_moments_are_the_means_of_terms_and_of_their_products() -> None:
    codes, scores = RNG.integers(0, 256, (D, 50), dtype=np.uint8), RNG.standard_normal((D, 256)).astype(np.float32)
    terms = TERMS[:4].reshape(2, 2, 3)
    means, squares = term_moments(codes, scores, terms)
    for s, i, j in product(range(2), range(2), range(2)):
        one, other = (slow_values(codes, scores, terms[s, at]) for at in (i, j))
        np.testing.assert_allclose(means[s, i], sum(one) / 50, rtol=1e-12)
        np.testing.assert_allclose(
            squares[s, i, j], sum(a * b for a, b in zip(one, other, strict=True)) / 50, rtol=1e-12
        )


def test_squared_lengths_are_those_of_the_whitened_sums() -> None:
    whitening, columns = RNG.standard_normal((2, 3, 3)), np.array([[0, 2, 4], [1, 3, 4]])
    sums = RNG.standard_normal((5, 7)).astype(np.float32)
    found = squared_lengths(whitening, columns, sums)
    for s, labelling in product(range(2), range(7)):
        whitened = [sum(whitening[s, i, j] * float(sums[columns[s, j], labelling]) for j in range(3)) for i in range(3)]
        np.testing.assert_allclose(found[s, labelling], sum(value**2 for value in whitened), rtol=1e-12)
