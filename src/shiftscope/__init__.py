"""shiftscope: do two samples differ, in which rows, in which features, and which subsets agree?"""

from shiftscope.compare import compare
from shiftscope.equalise import EqualiseParams, equalise
from shiftscope.errors import EngineError, InputError, ParameterError, ShiftscopeError
from shiftscope.localise import LocaliseParams, localise
from shiftscope.modes import partition
from shiftscope.null import ScoreNull, SimulatedNull
from shiftscope.params import CompareParams
from shiftscope.results import Mode, ShiftResult
from shiftscope.score import score

__version__ = "0.1.0"

__all__ = [
    "CompareParams",
    "EngineError",
    "EqualiseParams",
    "InputError",
    "LocaliseParams",
    "Mode",
    "ParameterError",
    "ScoreNull",
    "ShiftResult",
    "ShiftscopeError",
    "SimulatedNull",
    "compare",
    "equalise",
    "localise",
    "partition",
    "score",
]
