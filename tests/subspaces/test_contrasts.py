from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from shiftscope.encoding.bins import Bins, bin_features
from shiftscope.engines.binned_rows import LocalRows
from shiftscope.kernels.labels import draw_labels
from shiftscope.labellings.labellings import Labellings
from shiftscope.subspaces.contrasts import contrast_families, log_tail
from tests.packing import pack_labels


def labelled(bins: Bins, labels: np.ndarray) -> LocalRows:
    """Rows with the given labels (labellings, n), the current sample counted."""
    plan = Labellings(
        bins.n_rows, bins.n_rows - int(labels[0].sum()), len(labels), np.zeros(64, np.uint64), np.empty(0)
    )
    return LocalRows(bins, plan, pack_labels(labels))


def test_log_tail_is_that_of_chi_square_and_goes_on_where_it_underflows() -> None:
    x = np.array([0.0, 0.5, 3.0, 40.0, 900.0])
    for degrees in (1, 2, 5, 10):
        np.testing.assert_allclose(log_tail(x, np.full(5, degrees)), -chi2.logsf(x, degrees), rtol=1e-6, atol=1e-9)
        far = log_tail(np.array([1330.0, 1340.0]), np.full(2, degrees))
        assert far[1] - far[0] == pytest.approx(5.0, abs=0.05)  # no step between the two forms
    assert log_tail(np.array([7.0]), np.array([0]))[0] == 0.0


def test_contrasts_are_the_quadratic_form_of_their_terms() -> None:
    rng = np.random.default_rng(3)
    bins = bin_features(rng.standard_normal((400, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.3], [0, 0, 1]]))
    labels = draw_labels(400, 150, np.arange(3, dtype=np.uint64))
    rows = labelled(bins, labels)
    sets = [np.array([[0], [2]]), np.array([[0, 2]]), np.array([[0, 1, 2]])]
    families = contrast_families(rows, sets, rng)
    v = np.take_along_axis(bins.tables.scores, bins.codes.astype(int), axis=1).astype(float)
    a, b, c = v
    terms = {
        0: [a, a**2],
        1: [a, c, a**2, c**2, a * c],
        2: [a, b, c, a**2, b**2, c**2, a * b, a * c, b * c, a * b * c],
    }
    for position, columns in terms.items():
        centred = np.array(columns) - np.mean(columns, axis=1, keepdims=True)
        sums = centred[:, labels[0] == 1].sum(axis=1)
        squared = sums @ np.linalg.solve(np.cov(centred, bias=True), sums) * 399 / (150 * 250)
        assert families[position].observed[0] == pytest.approx(-chi2.logsf(squared, len(columns)), rel=1e-3)
        assert families[position].maxima[0] == pytest.approx(families[position].observed.max(), rel=1e-5)


def test_terms_that_repeat_each_other_are_counted_once() -> None:
    binary = np.repeat([0.0, 1.0], [260, 140])[:, None]
    labels = draw_labels(400, 200, np.arange(8, dtype=np.uint64))
    rows = labelled(bin_features(binary), labels)
    family = contrast_families(rows, [np.array([[0]])], np.random.default_rng(0))[0]
    k = labels[:, 260:].sum(axis=1)
    z = (k - 70.0) ** 2 / (200 * 200 / 399 * 0.35 * 0.65)
    assert np.max(z) > 0.1
    np.testing.assert_allclose(family.maxima, -chi2.logsf(z, 1), rtol=1e-3, atol=1e-5)  # v and v^2 are one term here
