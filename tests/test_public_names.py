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
    "Look",
    "Mode",
    "ModeParams",
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
    "TableOptions",
    "certify",
    "compare",
    "equalise",
    "explain_rows",
    "localise",
    "look",
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
    "kept_p_value",
    "kept_reference",
    "modes",
    "overview",
    "p_compared",
    "p_value",
    "params",
    "random_state",
    "reading",
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
    assert getattr(ss, name).__name__ == name
    assert name in dir(ss)


def test_fields_of_the_result_are_frozen() -> None:
    assert sorted(field.name for field in fields(ss.ShiftResult)) == RESULT
    assert {"names", "n_reference", "n_current"} <= {*dir(ss.ShiftResult)}


def test_fields_of_a_mode_are_frozen() -> None:
    assert sorted(field.name for field in fields(ss.Mode)) == MODE


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        ss.nothing  # noqa: B018


def test_no_module_lies_where_a_public_function_is() -> None:
    """Whatever is imported first, ss.score is the function: importing a module never takes its place."""
    code = (
        "import pkgutil, sys, shiftscope as ss\n"
        "modules = [m.name for m in pkgutil.walk_packages(ss.__path__, 'shiftscope.') if '__main__' not in m.name]\n"
        "for name in modules: __import__(name)\n"
        "assert len(modules) > 100, modules\n"
        "wrong = [name for name in ss.__all__ if not callable(getattr(ss, name))]\n"
        "assert not wrong, wrong"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


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
