"""One root error and its narrow kinds.

A message is one line that names the parameter or column, the rule, the value found and the remedy.
"""

from __future__ import annotations


class ShiftscopeError(Exception):
    """Root of every error that shiftscope raises on purpose."""


class InputError(ShiftscopeError, ValueError):
    """The data given cannot be compared as it is (the user's mistake)."""


class ParameterError(ShiftscopeError, ValueError):
    """A parameter, or a combination of parameters, is not allowed (the user's mistake)."""


class EngineError(ShiftscopeError, RuntimeError):
    """An engine could not deliver what was asked of it."""
