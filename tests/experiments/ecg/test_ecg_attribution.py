from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom
from scipy.stats import t as student

from experiments.ecg import attribution, cohorts, waves
from experiments.ecg.recordings import read


def test_composition_by_hand():
    devices = np.array([1, 1, 1, 1, 1, 1, 2, 2, 2, 2])
    found = attribution.composition(devices, [0, 1, 2, 6], specific=1)
    assert found.cohort == (6, 4, 0)
    assert found.removed == (3, 1, 0)
    assert found.share == 0.6
    assert found.removed_share == 0.75
    assert found.enrichment == pytest.approx(1.25)
    assert found.p_value == pytest.approx(hypergeom.sf(2, 10, 6, 4))  # (20 * 4 + 15) / 210
    assert found.p_value == pytest.approx(95 / 210)
    assert attribution.composition(devices, [], specific=1).p_value == 1.0


def test_removal_rates_count_every_patient_once():
    patient = np.array([1, 1, 2, 3, 3, 4, 5, 6, 6, 7])
    specific = np.array([1, 1, 1, 1, 1, 0, 0, 0, 0, 0], dtype=bool)
    pruned = np.array([1, 0, 1, 0, 0, 1, 0, 0, 0, 0], dtype=bool)
    found = attribution.removal_rates(patient, specific, pruned)
    assert (found.specific, found.others) == (0.5, 0.25)  # of (0.5, 1, 0) and of (1, 0, 0, 0)
    spread = np.sqrt(0.25 / 3 + 0.25 / 4)
    degrees = spread**4 / ((0.25 / 3) ** 2 / 2 + (0.25 / 4) ** 2 / 3)
    assert found.p_value == pytest.approx(student.sf(0.25 / spread, degrees))
    both = attribution.removal_rates(np.where(patient == 4, 3, patient), specific, pruned)
    assert both == found  # patient 3, recorded with two devices, is one of either group
    assert attribution.removal_rates(patient, specific, np.zeros(10, dtype=bool)).p_value == 1.0


def test_overlap_of_supports_by_hand():
    assert attribution.jaccard([1, 2, 3], [3, 2, 5]) == 0.5
    assert np.isnan(attribution.jaccard([], []))
    assert attribution.chance_jaccard(100, 100, 400) == pytest.approx(25 / 175)
    assert attribution.consensus([[1, 2], [2, 3], [2], [3]]) == [2, 3]


def test_overlap_by_wave_and_lead_forgives_near_duplicates():
    names = ["ST_J20_V2", "ST_J40_V2", "T_Amp_V2", "T_Amp_V3"]
    assert attribution.cell_overlap(names, [0, 2], [1, 2]) == 1.0
    assert attribution.cell_overlap(names, [0, 1], [1, 3]) == pytest.approx(1 / 3)
    assert np.isnan(attribution.cell_overlap(names, [], []))
    assert attribution.chance_cell_overlap(names, 4, 4) == 1.0
    assert 0.2 < attribution.chance_cell_overlap(names, 2, 2) < 0.8


def test_cliffs_delta_against_all_pairs():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 4, (7, 3)).astype(float), rng.integers(1, 5, (5, 3)).astype(float)
    slow = np.sign(second[None, :, :] - first[:, None, :]).mean(axis=(0, 1))
    assert np.allclose(attribution.cliffs_delta(first, second), slow)


def test_triples_hold_the_same_ages_and_sexes(folder):
    ecg = read(folder)
    rng = np.random.default_rng(0)
    triples = attribution.matched_triples(ecg, cohorts.healthy(ecg, rng), rng)
    kinds = [sorted(zip(ecg.sex[rows], ecg.age[rows], strict=True)) for rows in triples.values()]
    assert kinds[0] == kinds[1] == kinds[2] != []


@pytest.mark.parametrize(
    ("name", "wave", "lead", "unit"),
    [
        ("ST_J20_V2", "ST", "V2", "µV"),
        ("ST_Slope_V2", "ST", "V2", "µV/ms"),
        ("RP_PeakAmpl_aVL", "QRS", "aVL", "µV"),
        ("T_Area_V6", "T", "V6", "µV·s"),
        ("P_Duration_II", "P", "II", "ms"),
        ("TP_Level_V5", "baseline", "V5", "µV"),
        ("TP_Amp_V5", "T", "V5", ""),
        ("QTc_Bazett", "global", "global", "ms"),
        ("R_AxisFrontal_Global", "global", "global", "°"),
    ],
)
def test_names_in_a_clinicians_terms(name, wave, lead, unit):
    assert (waves.parse(name).wave, waves.parse(name).lead, waves.parse(name).unit) == (wave, lead, unit)


def test_wave_map_averages_the_features_of_a_cell():
    found = attribution.wave_map(["P_Amp_I", "P_Area_I", "T_Amp_V6", "QT_Int_Global"], np.array([1.0, 3.0, 5.0, 9.0]))
    assert (found[0, 0], found[3, 11]) == (2.0, 5.0)
    assert np.isnan(found).sum() == found.size - 2
    shares = attribution.wave_shares(["P_Amp_I", "P_Area_I", "T_Amp_V6", "QT_Int_Global"], [1, 3])
    assert shares == {"P": (1, 2), "T": (0, 1), "global": (1, 1)}
