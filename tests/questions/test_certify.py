"""What remains after equalisation, as independent tests tell it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import shiftscope as ss
from shiftscope.questions.certify import density_ratio_rows
from tests.quick import QUICK

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


def test_density_ratio_draws_the_overlap():
    """Of a group that only one sample has little is left, of the rest most; equal samples keep nearly all."""
    rng = np.random.default_rng(7)
    reference, current = rng.standard_normal((2, 1500, 2))
    current[:300] += 6.0
    is_current = np.arange(3000) >= 1500
    kept = density_ratio_rows(np.vstack([reference, current]), is_current, 0)
    assert np.sum((kept >= 1500) & (kept < 1800)) < 30
    assert np.sum(kept < 1500) > 900


def test_a_subset_of_another_result_is_refused():
    rng = np.random.default_rng(0)
    one, other = (ss.compare(*rng.standard_normal((2, n, 2)), params=QUICK) for n in (60, 80))
    with pytest.raises(ss.ParameterError, match="subset is one of 80 and 80 rows, the result has 60 and 60; take"):
        ss.certify(one, other.equalised())
    with pytest.raises(ss.ParameterError, match="subset must be of the class Subset"):
        ss.certify(one, "all")
