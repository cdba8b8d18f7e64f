"""All targets, and a case of any of them."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.fuzz import calls, commands

TARGETS = [*calls.TARGETS, *commands.TARGETS]
OFTEN = dict.fromkeys((*calls.FUNCTIONS, *commands.TARGETS), 12)  # where most code is behind
SELDOM = {"shiftscope demo": 1}
WEIGHTS = [SELDOM.get(name, OFTEN.get(name, 1)) for name in TARGETS]


def case_of(rng: Random, target: str | None = None) -> dict[str, Any]:
    """A case of a target, or of any."""
    target = target or rng.choices(TARGETS, WEIGHTS)[0]
    make = commands.command_case if target in commands.TARGETS else calls.call_case
    return make(rng, target)
