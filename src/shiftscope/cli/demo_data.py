"""The built-in example: sensor readings of a machine, with a small group of rows that is new in the second month."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shiftscope.messages import percent
from shiftscope.params import CompareParams, LocaliseParams
from shiftscope.results import ShiftResult

NAMES = ("temperature", "pressure", "vibration", "flow", "voltage")
CENTRE = np.array([65.0, 2.4, 4.5, 120.0, 231.0])
SPREAD = np.array([6.0, 0.3, 1.1, 15.0, 4.0])
N_ROWS = 3000  # per sample
N_INJECTED = 150  # of the current sample
INJECTED_FEATURES = ("pressure", "vibration", "flow")
INJECTED_CENTRE = np.array([1.0, -0.7, 0.5])  # in standard deviations: well inside the usual range
INJECTED_SPREAD = 0.15

# Five columns need no scan of small feature sets, and settle sooner than hundreds: the first run compiles less.
PARAMS = CompareParams(scan=None, localise=LocaliseParams(epochs=1000))


@dataclass(frozen=True)
class Example:
    """Two samples with known truth.

    Attributes
    ----------
    reference, current : DataFrame
        `N_ROWS` readings each.
    injected : (N_INJECTED,) intp
        Positions of the rows of `current` that come from elsewhere.
    """

    reference: pl.DataFrame
    current: pl.DataFrame
    injected: NDArray[np.intp]

    def story(self) -> str:
        """What was done to the data, before anything is found."""
        return (
            f"Built-in example: {N_ROWS:,} + {N_ROWS:,} readings of {len(NAMES)} sensors. "
            f"{N_INJECTED} rows ({percent(N_INJECTED / N_ROWS)}) of the current sample were replaced by a compact "
            f"group in {', '.join(INJECTED_FEATURES)}, inside the usual range of each."
        )

    def outcome(self, result: ShiftResult) -> str:
        """What was found of what had been hidden."""
        rows = {int(row) for mode in result.modes if mode.side == "current" for row in mode.rows}
        hits = len(rows.intersection(self.injected.tolist()))
        exact = [set(mode.features) for mode in result.modes] == [set(INJECTED_FEATURES)]
        return (
            f"The truth: {hits} of the {N_INJECTED} injected rows are among the {len(rows)} rows found; "
            f"the features named are {'' if exact else 'not '}exactly the three of the injection."
        )


def example(seed: int = 0) -> Example:
    """Draw the two samples; `seed` chooses the draw."""
    rng = np.random.default_rng(seed)
    reference, current = rng.standard_normal((2, N_ROWS, len(NAMES)))
    injected = np.sort(rng.choice(N_ROWS, N_INJECTED, replace=False))
    columns = np.array([NAMES.index(name) for name in INJECTED_FEATURES])
    group = INJECTED_CENTRE + INJECTED_SPREAD * rng.standard_normal((N_INJECTED, columns.size))
    current[np.ix_(injected, columns)] = group
    return Example(_frame(reference), _frame(current), injected)


def _frame(rows: NDArray[np.float64]) -> pl.DataFrame:
    return pl.DataFrame(CENTRE + SPREAD * rows, schema=list(NAMES))
