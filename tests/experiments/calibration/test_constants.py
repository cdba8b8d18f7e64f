"""The study of settings, in small."""

from __future__ import annotations

from dataclasses import replace

import pytest

import shiftscope as ss
from experiments.calibration.constants import (
    CASES,
    FULL_SPACE,
    SEARCHES,
    Setting,
    figures,
    found,
    scaled,
    settings,
    table,
)


@pytest.mark.parametrize(
    ("usual", "factor", "expected"),
    [(10, 0.5, 5), (1, 0.5, 1), (5, 0.5, 2), (0.2, 2.0, 0.4), (0.5, 2.0, 1.0), (0.9, 0.5, 0.8)],
)
def test_a_setting_stays_in_its_range(usual, factor, expected):
    assert scaled(usual, factor) == pytest.approx(expected)


@pytest.mark.parametrize("setting", settings(SEARCHES)[1:], ids=lambda one: f"{one.name} {one.factor}")
def test_a_setting_changes_itself_and_nothing_else(setting):
    usual = ss.CompareParams()
    params = setting.params(usual)
    assert params != usual
    back = {setting.name: getattr(getattr(usual, setting.part) if setting.part else usual, setting.name)}
    inner = replace(getattr(params, setting.part), **back) if setting.part else None
    assert replace(params, **({setting.part: inner} if setting.part else back)) == usual


def test_a_setting_without_part_in_a_case_has_its_usual_outcome(tmp_path):
    setting = Setting("beam", 0.5)
    assert setting.reaching(CASES[FULL_SPACE].params) == Setting()
    units = found(("gaps, small", FULL_SPACE), [100], [Setting(), setting], tmp_path, 400)
    assert sorted(path.stem for path in tmp_path.iterdir()) == [
        "full space, small_100_default_1.0",
        "gaps, small_100_beam_0.5",
        "gaps, small_100_default_1.0",
    ]
    assert units[setting][1] == units[Setting()][1]
    assert "| `beam` = 16 |" in table(units, ss.CompareParams())


def test_figures_are_means_of_what_was_recovered():
    planted = [
        {"exact": True, "recall": 0.5, "purity": 1.0, "excess": 1.2},
        {"exact": False, "recall": None, "purity": None},
    ]
    unit = {"detected": True, "planted": planted, "others": 2}
    assert figures([unit, {**unit, "detected": False}]) == ["1 of 2", "2 of 4", 4, "0.500", "1.000", "1.200"]
