"""What `explain_rows` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from shiftscope.findings import Direction
from shiftscope.messages import listed
from shiftscope.plain_data import write_fields
from shiftscope.subspaces.scan import ScanResult

SCHEMA = 1


@dataclass(frozen=True)
class Inside:
    """Rows in the region of an explanation: suspected ones, other ones of current, ones of the reference."""

    suspected: int
    other_current: int
    reference: int


@dataclass(frozen=True)
class RowsExplanation:
    """The answer of `explain_rows`.

    Attributes
    ----------
    explained : bool
        p_value <= alpha: the suspected rows stand out.
    p_value, alpha : float
        How often the whole search finds as much in random rows of current, and the level it is held against.
    features : tuple of str
        Where they stand out, strongest first; empty if they do not.
    rows : intp array
        The suspected rows that stand out there, as positions in current.
    suspected : intp array
        All suspected rows.
    directions : tuple of Direction
        How `rows` differ from the reference along each feature.
    inside : Inside or None
        What lies in the smallest box around `rows` along the features; None if nothing is explained.
    n_reference, n_current : int
    scan : ScanResult
        The search; its "current" sample are the suspected rows, its "reference" all the others.
    """

    explained: bool
    p_value: float
    alpha: float
    features: tuple[str, ...]
    rows: NDArray[np.intp]
    suspected: NDArray[np.intp]
    directions: tuple[Direction, ...]
    inside: Inside | None
    n_reference: int
    n_current: int
    scan: ScanResult = field(repr=False)

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """All but the scan as JSON text, also written to `path` if given."""
        return write_fields(self, SCHEMA, path, without="scan")

    def __str__(self) -> str:
        count = self.suspected.size
        named = f"the {count:,} suspected rows" if count > 1 else "the suspected row"
        if self.inside is None:
            return (
                f"Not explained (p = {self.p_value:.2g}, alpha = {self.alpha:g}): no small set of columns tells "
                f"{named} from random rows of current."
            )
        others = self.n_current - count
        lines = [
            f"Explained (p = {self.p_value:.2g}, alpha = {self.alpha:g}): {self.rows.size:,} of {named} stand out in "
            f"{listed(self.features) if len(self.features) > 8 else ', '.join(self.features)}.",
            *(f"  {direction}" for direction in self.directions),
            f"Around them lie {self.inside.suspected:,} of {count:,} suspected rows, {self.inside.other_current:,} of "
            f"{others:,} other rows of current and {self.inside.reference:,} of {self.n_reference:,} of the reference.",
        ]
        return "\n".join(lines)
