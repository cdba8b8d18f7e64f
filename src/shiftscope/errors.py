"""One root error and its narrow kinds.

A message is one line that names the parameter or column, the rule, the value found and the remedy.
"""

from __future__ import annotations

from numbers import Integral

SMALLEST_ALPHA = 1e-7  # tens of millions of permutations: more than anyone can wait for


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


def alpha_fault(alpha: float) -> str | None:
    """What is wrong with a level; None if nothing is."""
    if not 0.0 < alpha < 1.0:
        return f"alpha must lie strictly between 0 and 1, got {alpha!r}"
    if alpha < SMALLEST_ALPHA:
        return f"alpha must be at least {SMALLEST_ALPHA:g} (it takes 1 / alpha permutations), got {alpha!r}; raise it"
    return None


def check_seed(random_state: object) -> None:
    """Refuse a seed that is not a whole number of at least 0: results must be reproducible from it."""
    if not is_whole(random_state, 0):
        raise ParameterError(f"random_state must be a whole number of at least 0, got {random_state!r}")
