"""shiftscope: do two samples differ, in which rows, in which features, and which subsets agree?

The names below are loaded when they are first used, so that `import shiftscope` and the command line start at once.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shiftscope.certify import Certificate, certify
    from shiftscope.compare import compare
    from shiftscope.detector import ShiftDetector
    from shiftscope.encode import Columns
    from shiftscope.engines.dask import DaskEngine
    from shiftscope.equalise import EqualiseParams, equalise
    from shiftscope.errors import EngineError, InputError, ParameterError, ShiftscopeError
    from shiftscope.explain_rows import explain_rows
    from shiftscope.explanation import RowsExplanation
    from shiftscope.localise import LocaliseParams, localise
    from shiftscope.modes import partition
    from shiftscope.monitor import monitor
    from shiftscope.monitoring import MonitorResult
    from shiftscope.null import ScoreNull, SimulatedNull
    from shiftscope.params import CompareParams
    from shiftscope.results import Mode, ShiftResult
    from shiftscope.scan import ScanParams, scan
    from shiftscope.score import score
    from shiftscope.subset import Subset

__version__ = "0.1.0"

__all__ = [
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

_MODULES = {
    "Certificate": "certify",
    "Columns": "encode",
    "CompareParams": "params",
    "DaskEngine": "engines.dask",
    "EngineError": "errors",
    "EqualiseParams": "equalise",
    "InputError": "errors",
    "LocaliseParams": "localise",
    "Mode": "results",
    "MonitorResult": "monitoring",
    "ParameterError": "errors",
    "RowsExplanation": "explanation",
    "ScanParams": "scan",
    "ScoreNull": "null",
    "ShiftDetector": "detector",
    "ShiftResult": "results",
    "ShiftscopeError": "errors",
    "SimulatedNull": "null",
    "Subset": "subset",
    "certify": "certify",
    "compare": "compare",
    "equalise": "equalise",
    "explain_rows": "explain_rows",
    "localise": "localise",
    "monitor": "monitor",
    "partition": "modes",
    "scan": "scan",
    "score": "score",
}


def __getattr__(name: str) -> object:
    """Load a public name from its module (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module 'shiftscope' has no attribute {name!r}")
    value = getattr(import_module(f"shiftscope.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Keeps functions in place of the modules they share a name with: importing a submodule binds it here."""

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, ModuleType) and _MODULES.get(name) == name:
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
