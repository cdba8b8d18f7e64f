"""The public names, frozen: a change here is a change for every user."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields

import pytest

import shiftscope as ss

PUBLIC = [
    "Certificate",
    "Columns",
    "CompareParams",
    "DaskEngine",
    "EngineError",
    "EqualiseParams",
    "InputError",
    "LocaliseParams",
    "Mode",
    "MonitorResult",
    "ParameterError",
    "RowsExplanation",
    "ScanParams",
    "ScoreNull",
    "ShiftDetector",
    "ShiftResult",
    "ShiftscopeError",
    "SimulatedNull",
    "Subset",
    "certify",
    "compare",
    "equalise",
    "explain_rows",
    "localise",
    "monitor",
    "partition",
    "scan",
    "score",
]
RESULT = [
    "alpha",
    "calibration",
    "detected",
    "encoded",
    "equalisation",
    "gathered",
    "kept_current",
    "kept_reference",
    "modes",
    "p_value",
    "params",
    "random_state",
    "scan",
    "scores",
    "searched_current",
    "searched_reference",
    "timings",
]
MODE = [
    "directions",
    "excess",
    "excess_interval",
    "features",
    "localisation",
    "origin",
    "p_value",
    "purity",
    "rows",
    "settled",
    "side",
]


def test_public_names_are_frozen() -> None:
    assert sorted(ss.__all__) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_can_be_used(name: str) -> None:
    assert callable(getattr(ss, name))
    assert name in dir(ss)


def test_fields_of_the_result_are_frozen() -> None:
    assert sorted(field.name for field in fields(ss.ShiftResult)) == RESULT
    assert {"names", "n_reference", "n_current"} <= {*dir(ss.ShiftResult)}


def test_fields_of_a_mode_are_frozen() -> None:
    assert sorted(field.name for field in fields(ss.Mode)) == MODE


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        ss.nothing  # noqa: B018


def test_functions_stay_in_place_of_modules_of_their_name() -> None:
    """Whatever is imported first, ss.score is the function and not the module shiftscope.full_space.score."""
    code = (
        "import shiftscope.full_space.score, shiftscope.full_space.equalise, shiftscope as ss; from shiftscope import compare, localise; "
        "assert all(map(callable, (ss.score, ss.equalise, ss.localise, ss.compare, compare, localise)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_import_and_version_load_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['shiftscope', '--version']\n"
        "from shiftscope.cli.app import main\n"
        "try: main()\n"
        "except SystemExit as exit: assert not exit.code\n"
        "heavy = {'numpy', 'numba', 'scipy', 'polars', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"shiftscope {ss.__version__}\n"), done.stderr
