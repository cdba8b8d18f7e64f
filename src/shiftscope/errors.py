"""One root error and its narrow kinds.

A message is one line that names the parameter or column, the rule, the value found and the remedy.
"""

from __future__ import annotations

from numbers import Integral


class ShiftscopeError(Exception):
    """Root of every error that shiftscope raises on purpose."""


class InputError(ShiftscopeError, ValueError):
    """The data given cannot be compared as it is (the user's mistake)."""


class ParameterError(ShiftscopeError, ValueError):
    """A parameter, or a combination of parameters, is not allowed (the user's mistake)."""


class EngineError(ShiftscopeError, RuntimeError):
    """An engine could not deliver what was asked of it."""


def is_whole(value: object, least: int) -> bool:
    """Whether a parameter is a whole number of at least `least`."""
    return isinstance(value, Integral) and int(value) >= least


def check_seed(random_state: object) -> None:
    """Refuse a seed that is not a whole number of at least 0: results must be reproducible from it."""
    if not is_whole(random_state, 0):
        raise ParameterError(f"random_state must be a whole number of at least 0, got {random_state!r}")
