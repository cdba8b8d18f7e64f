"""What a run of the command line gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


def one_line(outcome: Outcome) -> bool:
    return outcome.err.startswith("shiftscope: ") and outcome.err.count("\n") == 1


def told(outcome: Outcome) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    return outcome.code, outcome.out, outcome.err
