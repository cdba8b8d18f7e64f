from __future__ import annotations

import numpy as np
import pytest

from experiments.paper import clusters

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


def test_two_workers_say_what_one_machine_says(tmp_path, capsys):
    clusters.main(["--quick", "--injected", "60", "--out", str(tmp_path)])
    modes, _, alone, together = capsys.readouterr().out.splitlines()
    assert "'current'" in modes
    assert alone.split()[:2] == ["none", "1"]
    assert together.split()[:2] == ["2", "3"]
    assert together.split()[3:] == ["same"] * 6


def test_a_difference_is_told():
    one = {"workers": 0, "parts": 1, "seconds": 1.0, "p_value": 0.002, "scores": clusters.digest([np.arange(3.0)])}
    other = {**one, "workers": 2, "scores": clusters.digest([np.arange(3)])}
    assert clusters.table([one, other]).splitlines()[2].split() == ["2", "1", "1.0", "same", "OTHER"]


def test_names_of_units():
    assert clusters.unit_name(2, 3, 400, 60, 0) == "2_3_400_60"
    assert clusters.unit_name(2, 3, 400, 60, 1) == "2_3_400_60_1"
