"""shiftscope: do two samples differ, in which rows, in which features, and which subsets agree?

The names below are loaded when they are first used, so that `import shiftscope` and the command line start at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from shiftscope._version import __version__ as __version__

if TYPE_CHECKING:
    from shiftscope._compare import compare
    from shiftscope.engines.dask.engine import DaskEngine
    from shiftscope.errors import EngineError, InputError, ParameterError, ShiftscopeError
    from shiftscope.findings import Subset
    from shiftscope.full_space.equalise import equalise
    from shiftscope.full_space.null import ScoreNull, SimulatedNull
    from shiftscope.full_space.score import score
    from shiftscope.modes.density_peaks import partition
    from shiftscope.modes.localise import localise
    from shiftscope.modes.mode import Mode
    from shiftscope.params import CompareParams, EqualiseParams, LocaliseParams, ModeParams, ScanParams
    from shiftscope.questions.certify import Certificate, certify
    from shiftscope.questions.detector import ShiftDetector
    from shiftscope.questions.explain_rows import RowsExplanation, explain_rows
    from shiftscope.questions.monitor import monitor
    from shiftscope.questions.monitor_result import MonitorResult
    from shiftscope.results import ShiftResult
    from shiftscope.subspaces.scan import scan
    from shiftscope.tables.column_choice import Columns
    from shiftscope.tables.file_readings import Look
    from shiftscope.tables.look import look
    from shiftscope.tables.options import TableOptions

_HOMES = {
    "Certificate": "questions.certify",
    "Columns": "tables.column_choice",
    "CompareParams": "params",
    "DaskEngine": "engines.dask.engine",
    "EngineError": "errors",
    "EqualiseParams": "params",
    "InputError": "errors",
    "LocaliseParams": "params",
    "Look": "tables.file_readings",
    "Mode": "modes.mode",
    "ModeParams": "params",
    "MonitorResult": "questions.monitor_result",
    "ParameterError": "errors",
    "RowsExplanation": "questions.explain_rows",
    "ScanParams": "params",
    "ScoreNull": "full_space.null",
    "ShiftDetector": "questions.detector",
    "ShiftResult": "results",
    "ShiftscopeError": "errors",
    "SimulatedNull": "full_space.null",
    "Subset": "findings",
    "TableOptions": "tables.options",
    "certify": "questions.certify",
    "compare": "_compare",
    "equalise": "full_space.equalise",
    "explain_rows": "questions.explain_rows",
    "localise": "modes.localise",
    "look": "tables.look",
    "monitor": "questions.monitor",
    "partition": "modes.density_peaks",
    "scan": "subspaces.scan",
    "score": "full_space.score",
}

__all__ = [
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


def __getattr__(name: str) -> object:
    """Load a public name from its module (PEP 562). No module lies here under the name of a public function."""
    if name not in _HOMES:
        raise AttributeError(f"module 'shiftscope' has no attribute {name!r}")
    value = getattr(import_module(f"shiftscope.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
