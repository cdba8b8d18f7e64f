from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import shiftscope as ss
from shiftscope.modes import from_scan
from shiftscope.modes.from_scan import _without_chance_columns, scan_modes
from shiftscope.params import ScanParams
from shiftscope.subspaces.scan import scan_points
from shiftscope.subspaces.scan_result import FeatureSet, ScanResult
from tests.pairs import job_of

PARAMS = ss.CompareParams(scan=ScanParams(n_permutations=255))


def discovered(reference, current):
    job = job_of(reference, current, PARAMS)
    names = job.encoded.names
    return scan_modes(job, scan_points(job.points, job.encoded.n_reference, names, PARAMS.scan))


def test_a_pruned_core_is_not_a_shift_of_the_other_side():
    rng = np.random.default_rng(3)
    reference, current = rng.standard_normal((2, 8000, 4))
    current[:700, :2] = 0.2 * rng.standard_normal((700, 2))  # among so many others that the rows cannot be told apart
    modes = discovered(reference, current)
    assert [(mode.is_current, mode.features) for mode in modes] == [(True, (0, 1))]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_groups_of_either_side_come_out_as_modes_of_their_own(order):
    rng = np.random.default_rng(8)
    samples = rng.standard_normal((2, 6000, 8))
    samples[order[0], :150, [0, 1, 2]] = 0.5 + 0.1 * rng.standard_normal((3, 150))
    samples[order[0], 200:350, [2, 5, 7]] = -0.7 + 0.1 * rng.standard_normal((3, 150))
    samples[order[1], :150, [3, 4]] = 0.05 * rng.standard_normal((2, 150))
    modes = discovered(*samples)
    own, other = bool(order[0]), bool(order[1])
    assert {(mode.is_current, mode.features) for mode in modes} == {
        (own, (0, 1, 2)), (own, (2, 5, 7)), (other, (3, 4)),
    }  # fmt: skip
    assert all(mode.p_value <= 0.005 for mode in modes)


def test_a_level_out_of_reach_founds_nothing():
    rng = np.random.default_rng(8)
    samples = rng.standard_normal((2, 3000, 5))
    samples[1, :150, :2] = 0.05 * rng.standard_normal((150, 2))
    job = job_of(*samples, replace(PARAMS, alpha=0.006))
    scan = scan_points(job.points, 3000, job.encoded.names, PARAMS.scan)
    assert scan.p_value == 1 / 256
    assert scan_modes(job, scan) == ()  # alpha / 2 is below 1 / 256


def broad(features, deviate, statistic="broad", value=9.0):
    nothing = np.empty(0, np.intp)
    names, box = tuple(f"x{feature}" for feature in features), ((-np.inf, np.inf),) * len(features)
    return FeatureSet(
        features, names, statistic, "current", value=value, evidence=deviate**2 / 2, unit=1.0, p_value=1 / 64, box=box,
        rows_reference=nothing, rows_current=nothing,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ([], (0, 1, 2)),
        ([broad((0, 1), 9.6)], (0, 1)),  # feature 2 adds 0.4 to the deviate
        ([broad((0, 1), 9.4)], (0, 1, 2)),  # 0.6
        ([broad((0, 1), 9.8), broad((1,), 9.6), broad((0,), 9.7)], (0,)),  # the smallest, then the strongest
        ([broad((0, 3), 9.9)], (0, 1, 2)),  # no part of it
        ([broad((0, 1), 9.9, statistic="localised")], (0, 1, 2)),  # another kind of difference
    ],
)
def test_a_broad_set_is_told_without_features_that_add_nothing(parts, told):
    whole = broad((0, 1, 2), 10.0)
    assert _without_chance_columns(whole, [whole, *parts], 0.5).features == told


def test_a_localised_set_keeps_its_features():
    whole = broad((0, 1, 2), 10.0, statistic="localised")
    assert _without_chance_columns(whole, [whole, broad((0, 1), 10.0)], 0.5) is whole


@pytest.mark.parametrize(("sets", "tried"), [
    ((broad((0, 1, 2), 10.0, value=5.5), broad((0, 1), 9.9, value=4.6)), [(0, 1, 2)]),  # the part is not sure by itself
    ((broad((0, 1, 2), 10.0), broad((0, 1, 3), 9.9), broad((0, 1), 9.8)), [(0, 1)]),  # nothing is tried twice
    ((broad((0, 1, 2), 10.0), broad((3, 4), 9.0), broad((5,), 8.0, value=4.6)), [(0, 1, 2), (3, 4)]),
])  # fmt: skip
def test_sets_are_tried_without_chance_columns_while_they_are_sure(monkeypatch, sets, tried):
    rows = np.random.default_rng(0).standard_normal((2, 50, 6))
    job = job_of(*rows, PARAMS)
    seen = []
    real = from_scan._broad_modes

    def watched(job, look, found, p_value):
        seen.append(found.features)
        return real(job, look, found, p_value)

    monkeypatch.setattr(from_scan, "_broad_modes", watched)
    null = np.linspace(0.0, 5.0, 255)
    scan = ScanResult(sets, 1 / 64, null, null, 63, np.zeros((6, 6)), np.zeros(6), null)
    assert scan_modes(job, scan) == ()
    assert seen == tried


@pytest.mark.parametrize("seed", [0, 6, 8, 13])  # at which the strongest set has a third feature
def test_a_change_of_correlation_is_told_in_its_two_features(seed):
    rng = np.random.default_rng(seed)
    reference, current = rng.standard_normal((2, 4000, 10))
    current[:, 7] = 0.15 * current[:, 2] + np.sqrt(1 - 0.15**2) * current[:, 7]
    assert {mode.features for mode in discovered(reference, current)} == {(2, 7)}
