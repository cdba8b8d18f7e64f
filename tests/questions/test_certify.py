"""What remains after equalisation: independent tests that are valid, and subsets under conditions."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy.stats import binom, ks_2samp
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import shiftscope as ss
from shiftscope.questions import independent_tests as independent
from shiftscope.questions.certify import density_ratio_rows

PARAMS = ss.CompareParams(
    n_permutations=199,
    scan=ss.ScanParams(n_permutations=199, n_seeds=16, beam=4),
    equalise=ss.EqualiseParams(k_max=60, n_permutations=99),
)
INJECTED = 120


@pytest.fixture(scope="module")
def result() -> ss.ShiftResult:
    """120 of 720 current rows gather in x0 and x1, 80 of 680 reference rows in x1 and x2."""
    rng = np.random.default_rng(2)
    samples = []
    for count, features, place in ((80, [1, 2], 1.2), (INJECTED, [0, 1], -1.2)):
        group = rng.standard_normal((count, 3))
        group[:, features] = place + 0.1 * rng.standard_normal((count, 2))
        samples.append(np.vstack([rng.standard_normal((600, 3)), group]))
    return ss.compare(*samples, params=PARAMS)


@pytest.fixture(scope="module")
def certificate(result: ss.ShiftResult) -> ss.Certificate:
    return ss.certify(result, n_permutations=99)


def test_equalisation_leaves_less_than_random_removal(result: ss.ShiftResult, certificate: ss.Certificate):
    assert {mode.side for mode in result.modes} == {"reference", "current"}
    found = {subset.name: subset for subset in certificate.subsets}
    assert list(found) == ["all rows", "equalised", "random removal", "density ratio"]
    p_values = {name: {check.name: check.p_value for check in one.checks} for name, one in found.items()}
    boosting = "boosting AUC"
    assert p_values["all rows"][boosting] == p_values["random removal"][boosting] == 1 / 100
    assert p_values["equalised"][boosting] > 0.02
    assert found["all rows"].removed_current == 0
    assert found["random removal"].n_current == found["equalised"].n_current == result.kept_current.size
    assert 0.05 < found["equalised"].removed_current < 0.3
    assert found["density ratio"].removed_current > 0


def test_equal_energies_count_as_equal_whatever_the_rounding():
    rng = np.random.default_rng(1)
    points = np.where(rng.random((600, 1)) < 0.3, 2.1837, 0.0)
    is_current = rng.permutation(np.arange(600) < 250)
    rows = np.concatenate([np.flatnonzero(~is_current), np.flatnonzero(is_current)])
    labellings = np.stack([is_current[rows], *(rng.permutation(is_current[rows]) for _ in range(199))])
    gaps = np.abs(
        600 * (labellings @ (points[rows, 0] > 0)) - 250 * int(np.sum(points > 0))
    )  # all that energy depends on
    distances = np.abs(points[rows] - points[rows].T)
    energy = independent.energy_distances(distances, labellings.T)
    assert independent._p_value(energy) == np.mean(gaps >= gaps[0])


def test_the_certificate_in_words_and_as_json(certificate: ss.Certificate):
    lines = str(certificate).splitlines()
    saved = json.loads(certificate.to_json())["subsets"]
    assert [subset["name"] for subset in saved] == ["all rows", "equalised", "random removal", "density ratio"]
    for line, subset, truth in zip(lines[1:5], saved, certificate.subsets, strict=True):
        assert line.startswith(subset["name"])
        told = [float(number) for number in re.findall(r"(?:p |, |\s)([\d.e-]+)(?= %|\)| \(p)", line)]
        shares = [100 * truth.removed_reference, 100 * truth.removed_current]
        checks = [value for check in truth.checks for value in (check.statistic, check.p_value)]
        assert told == pytest.approx([*shares, *checks], rel=0.06, abs=1e-6)
        assert subset["checks"] == [vars(check) for check in truth.checks]
    assert all(check.name in lines[0] for check in certificate.subsets[0].checks)
    assert "100 labellings" in lines[5]


def test_without_alternatives_two_pairs_are_tested(result: ss.ShiftResult):
    kept = result.equalised(keep="reference")
    short = ss.certify(result, kept, n_permutations=19, alternatives=False)
    assert [subset.name for subset in short.subsets] == ["all rows", "equalised"]
    assert short.subsets[1].removed_reference == 0
    large = ss.certify(result, kept, n_permutations=19, alternatives=False, random_state=1 << 40)  # as compare takes it
    assert large.random_state == 1 << 40


def test_too_few_rows_are_refused(result: ss.ShiftResult):
    few = ss.Subset(np.arange(10), np.arange(10), result.n_reference, result.n_current)
    with pytest.raises(ss.InputError, match=r"subsets have 10 reference and 10 current rows.* too little in common$"):
        ss.certify(result, few)
    rows = np.random.default_rng(0).standard_normal((40, 2))
    with pytest.raises(ss.InputError, match=r"subsets have 20 reference and 20 current rows.*: give more rows$"):
        ss.certify(ss.compare(rows[:20], rows[20:], params=PARAMS))
    with pytest.raises(ss.ParameterError, match="n_permutations must be a whole number of at least 19"):
        ss.certify(result, n_permutations=5)


@pytest.mark.parametrize("check", ["boosting", "energy", "marginal"])
def test_independent_tests_keep_their_level(check: str, monkeypatch: pytest.MonkeyPatch):
    """Null samples with ties; the share of p-values of at most 0.2 is binomial."""
    monkeypatch.setattr(independent, "TREES", 3)
    rng = np.random.default_rng(8)
    found = []
    for seed in range(80 if check != "boosting" else 40):
        rows = rng.integers(0, 6, size=(120, 2)).astype(float)
        is_current = np.arange(120) >= 70
        if check == "boosting":
            found.append(independent.boosting_checks(rows, is_current, 29, seed))
        elif check == "energy":
            found.append([independent.energy_check(rows, is_current, 29, seed)])
        else:
            found.append([independent.marginal_check(rows, is_current, 29, seed)])
    for column in zip(*found, strict=True):
        rejected = sum(one.p_value <= 0.2 for one in column)
        assert rejected <= binom.ppf(0.9995, len(column), 0.2)
    moved = np.where(is_current[:, None], rows + 3.0, rows)  # negative control
    shown = {
        "boosting": lambda: independent.boosting_checks(moved, is_current, 29, 0)[0],
        "energy": lambda: independent.energy_check(moved, is_current, 29, 0),
        "marginal": lambda: independent.marginal_check(moved, is_current, 29, 0),
    }
    assert shown[check]().p_value == 1 / 30


def test_statistics_are_the_textbook_ones():
    rng = np.random.default_rng(5)
    rows, is_current = rng.integers(0, 9, size=(200, 3)).astype(float), rng.random(200) < 0.4
    rows[is_current, 1] += 1
    expected = max(ks_2samp(rows[is_current, f], rows[~is_current, f]).statistic for f in range(3))
    assert independent.marginal_check(rows, is_current, 19, 0).statistic == pytest.approx(expected)
    x, y = rows[~is_current], rows[is_current]

    def mean_distance(a, b):
        return np.mean([np.linalg.norm(one - other) for one in a for other in b])

    expected = 2 * mean_distance(x, y) - mean_distance(x, x) - mean_distance(y, y)
    assert independent.energy_check(rows, is_current, 19, 0).statistic == pytest.approx(expected, abs=1e-5)


def test_area_is_that_of_models_of_the_past(monkeypatch: pytest.MonkeyPatch):
    """Against scikit-learn's area on each fold, where scores have no ties."""
    rng = np.random.default_rng(6)
    is_current = rng.random(300) < 0.5
    rows = rng.standard_normal((300, 2)) + is_current[:, None]
    areas, sizes, seen = [], [], []

    def first_column(past, labels, points, _):
        """A model without ties; what it may learn from is remembered."""
        seen.append(past)
        assert not (past[:, None] == points).all(axis=2).any()
        np.testing.assert_array_equal(labels, is_current[[np.flatnonzero(rows[:, 0] == one)[0] for one in past[:, 0]]])
        return points[:, 0]

    monkeypatch.setattr(independent, "boosted_scores", first_column)
    folds = [now for _, now in StratifiedKFold(independent.FOLDS, shuffle=True, random_state=0).split(rows, is_current)]
    for now in folds[1:]:
        areas.append(roc_auc_score(is_current[now], rows[now, 0]))
        sizes.append(now.size)
    found = independent.boosting_checks(rows, is_current, 19, 0)[0].statistic
    assert found == pytest.approx(np.average(areas, weights=sizes))
    assert [len(past) for past in seen] == np.cumsum([fold.size for fold in folds])[:-1].tolist()


def test_density_ratio_draws_the_overlap():
    """Of a group that only one sample has little is left, of the rest most; equal samples keep nearly all."""
    rng = np.random.default_rng(7)
    reference, current = rng.standard_normal((2, 1500, 2))
    current[:300] += 6.0
    is_current = np.arange(3000) >= 1500
    kept = density_ratio_rows(np.vstack([reference, current]), is_current, 0)
    assert np.sum((kept >= 1500) & (kept < 1800)) < 30
    assert np.sum(kept < 1500) > 900
