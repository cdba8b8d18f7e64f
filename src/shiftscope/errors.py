"""One root error and its narrow kinds.

A message is one line that names the parameter or column, the rule, the value found and the remedy.
"""

from __future__ import annotations

from math import inf
from numbers import Integral, Real
from typing import TypeGuard, TypeVar

T = TypeVar("T")
LONGEST = 1000  # characters of a message: of a longer one, beginning and end
SMALLEST_ALPHA = 1e-7  # tens of millions of labellings: more than anyone can wait for


class ShiftscopeError(Exception):
    """Root of every error that shiftscope raises on purpose: one printable line, whatever values it tells."""

    def __init__(self, message: str = "") -> None:
        super().__init__(_one_line(str(message)))


class InputError(ShiftscopeError, ValueError):
    """The data given cannot be compared as it is (the user's mistake)."""


class ParameterError(ShiftscopeError, ValueError):
    """A parameter, or a combination of parameters, is not allowed (the user's mistake)."""


class EngineError(ShiftscopeError, RuntimeError):
    """An engine could not deliver what was asked of it."""


def _one_line(message: str) -> str:
    """A message without line ends and what cannot be shown, cut in the middle if it is too long."""
    line = "".join(character if character.isprintable() else "?" for character in " ".join(message.split()))
    half = LONGEST // 2
    return line if len(line) <= LONGEST else f"{line[:half]} … {line[-half:]}"


def is_number(value: object) -> TypeGuard[float]:
    """Whether a parameter is a real number; true and false are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object, least: int) -> TypeGuard[int]:
    """Whether a parameter is a whole number of at least `least`; true and false are none."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def is_positive(value: object) -> TypeGuard[float]:
    """Whether a parameter is a finite number above 0."""
    return is_number(value) and 0.0 < value < inf


def is_share(value: object) -> TypeGuard[float]:
    """Whether a parameter is a number strictly between 0 and 1."""
    return is_number(value) and 0.0 < value < 1.0


def is_one_of(value: object, *options: str) -> bool:
    """Whether a parameter is one of some words; arrays and the like are none."""
    return isinstance(value, str) and value in options


def alpha_fault(alpha: object) -> str | None:
    """What is wrong with a level; None if nothing is."""
    if not is_share(alpha):
        return f"alpha must lie strictly between 0 and 1, got {alpha!r}"
    if alpha < SMALLEST_ALPHA:
        return f"alpha must be at least {SMALLEST_ALPHA:g} (it takes 1 / alpha permutations), got {alpha!r}; raise it"
    return None


def kind_fault(name: str, value: object, kind: type) -> str | None:
    """What is wrong with a parameter that must be a `kind`; None if nothing is."""
    return None if isinstance(value, kind) else f"{name} must be of the class {kind.__name__}, got {value!r}"


def check_kind(name: str, value: object, kind: type) -> None:
    """Refuse a parameter that is no `kind`."""
    fault = kind_fault(name, value, kind)
    if fault is not None:
        raise ParameterError(fault)


def given(params: T | None, kind: type[T]) -> T:
    """The settings given, or the usual ones if none are; what is no `kind` is refused."""
    if params is None:
        return kind()
    check_kind("params", params, kind)
    return params


def check_seed(random_state: object) -> None:
    """Refuse a seed that is not a whole number of at least 0: results must be reproducible from it."""
    if not is_whole(random_state, 0):
        raise ParameterError(f"random_state must be a whole number of at least 0, got {random_state!r}")
