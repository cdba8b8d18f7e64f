"""The verdict keeps its level: the study of experiments/type_one.py in small."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from experiments.type_one import main, null_pair, p_values, run
from shiftscope._compare import compare
from shiftscope.full_space.score import score
from shiftscope.params import CompareParams, EqualiseParams

PAIRS, N, D, K_MAX = 60, 300, 5, 100
PARAMS = CompareParams(alpha=0.05, n_permutations=99, scan=None, equalise=EqualiseParams(k_max=K_MAX))
CERTAINTY = 0.999


@pytest.fixture(scope="module")
def null_results():
    return [p_values(*null_pair(N, D, seed), PARAMS, random_state=seed) for seed in range(PAIRS)]


@pytest.mark.parametrize("level", [0.05, 0.2, 0.5])
def test_the_verdict_rejects_equal_samples_as_often_as_it_says(null_results, level):
    low, high = binom.interval(CERTAINTY, PAIRS, level)
    assert low <= sum(one.verdict <= level for one in null_results) <= high


@pytest.mark.parametrize("level", [0.05, 0.2])
def test_equalisation_starts_no_more_often_than_twice_its_level(null_results, level):
    """A side is pruned if one of two statistics rejects at `level`."""
    started = sum(p <= level for one in null_results for p in one.shape)
    assert started <= binom.ppf(CERTAINTY, 2 * PAIRS, 2 * level)


def test_scores_taken_as_independent_reject_far_too_often():
    """Negative control: the number of tail scores, were they independent, would be binomial."""
    rejected = 0
    for seed in range(PAIRS):
        found = score(*null_pair(N, D, seed), K_MAX)
        for scores, null in ((found.reference, found.nulls.reference), (found.current, found.nulls.current)):
            tau = null.quantile(0.97)
            rejected += binom.sf(np.sum(scores >= tau) - 1, N, float(null.sf(tau))) <= 0.01
    assert rejected > binom.ppf(CERTAINTY, 2 * PAIRS, 0.01)


def test_a_real_shift_is_rejected():
    """Negative control: half a standard deviation in each feature."""
    found = [
        p_values(reference, current + 0.5, PARAMS) for reference, current in (null_pair(N, D, s) for s in range(5))
    ]
    assert all(one.verdict <= 0.05 for one in found)


def test_the_study_looks_at_the_verdict_of_compare():
    for seed in (0, 1):
        reference, current = null_pair(N, D, seed)
        result = compare(reference, current, alpha=0.05, params=PARAMS, random_state=seed)
        found = p_values(reference, current, PARAMS, random_state=seed)
        assert found.verdict == result.p_value
        assert sorted(found.shape) == sorted(
            result.calibration.shape_p_value(tail, current=side)
            for side, tail in ((False, result.calibration.reference), (True, result.calibration.current))
        )


def test_the_study_continues_where_it_stopped(tmp_path, capsys):
    first = run(2, 40, 3, tmp_path)
    written = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    assert len(written) == 2
    assert run(3, 40, 3, tmp_path)[:2] == first
    assert len(list(tmp_path.iterdir())) == 3
    assert all(file.stat().st_mtime_ns == time for file, time in written.items())
    main(["--pairs", "3", "--n", "40", "--dims", "3", "--out", str(tmp_path)])
    assert "verdict" in capsys.readouterr().out
