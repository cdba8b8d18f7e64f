from __future__ import annotations

import numpy as np
import pytest

import shiftscope as ss
from experiments.ecg import cohorts
from experiments.ecg.cohorts import CASES, draw_cohorts
from experiments.ecg.recordings import read
from tests.experiments.ecg.small_recordings import LAYOUTS, NAMES, write_recordings


def test_both_layouts_give_the_same_recordings(tmp_path_factory):
    found = []
    for layout in LAYOUTS:
        path = tmp_path_factory.mktemp("layout")
        write_recordings(path, layout)
        found.append(read(path))
        assert found[-1].source == layout
    ours, release = found
    assert release.names == ours.names == tuple(NAMES)
    assert np.array_equal(release.ecg_id, ours.ecg_id)
    assert np.array_equal(release.device, ours.device)
    assert set(ours.device) == {1, 2, 3}
    assert ours.statements == release.statements
    assert np.array_equal(ours.age, release.age, equal_nan=True)
    assert (ours.filled, release.filled) == (0, 1)
    gap = release.features[4, 0]
    assert gap == np.median(np.delete(release.features[:, 0], 4))
    assert np.allclose(np.delete(ours.features, 4, axis=0), np.delete(release.features, 4, axis=0))


def test_a_folder_without_the_files_is_refused_in_one_line(tmp_path):
    with pytest.raises(
        ss.InputError, match=r"features\.parquet with recordings\.parquet or .*12sl_features\.csv"
    ) as error:
        read(tmp_path)
    assert "\n" not in str(error.value)


def test_healthy_are_adults_of_known_age_called_normal_once_each(folder):
    ecg = read(folder)
    rows = cohorts.healthy(ecg, np.random.default_rng(0))
    assert np.unique(ecg.patient[rows]).size == rows.size
    assert np.all((ecg.age[rows] >= 18) & (ecg.age[rows] <= 89))
    assert all(ecg.statements[row]["NORM"] >= 80 for row in rows)
    assert len({tuple(cohorts.healthy(ecg, np.random.default_rng(seed))) for seed in range(5)}) > 1


@pytest.mark.parametrize("name", CASES)
def test_cohorts_are_matched_and_follow_the_design(folder, name):
    ecg = read(folder)
    pair = draw_cohorts(ecg, CASES[name], 0)
    found = cohorts.balance(ecg, pair.x, pair.y)
    assert found.age_smd == pytest.approx(0, abs=1e-12)
    assert found.female_smd == pytest.approx(0, abs=1e-12)
    assert found.n == pair.y.size > 80
    assert not set(ecg.patient[pair.x]) & set(ecg.patient[pair.y])
    case = CASES[name]
    shared = [np.sum(ecg.device[rows] == case.shared) for rows in (pair.x, pair.y)]
    assert shared[0] == shared[1] > 0
    pairs = np.sum(ecg.device[pair.x] != case.shared)
    assert np.sum(ecg.device[pair.x] == case.y) == np.sum(ecg.device[pair.y] == case.x) == round(case.exchanged * pairs)


def test_d_is_c_with_a_few_pairs_exchanged(folder):
    ecg = read(folder)
    c, d = (draw_cohorts(ecg, CASES[name], 3) for name in "CD")
    assert set(c.x) | set(c.y) == set(d.x) | set(d.y)
    assert 0 < len(set(c.x) - set(d.x)) <= 0.1 * c.x.size
