"""Equalised subsets under conditions: one sample untouched, a cap on what is removed, or chosen modes only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shiftscope.errors import ParameterError, is_number, is_whole

if TYPE_CHECKING:
    from shiftscope.findings import ShiftResult, Side


ROUNDING = 1e-9  # 0.29 of 100 rows are 29


@dataclass(frozen=True)
class Subset:
    """Rows kept of both samples.

    Attributes
    ----------
    kept_reference, kept_current : intp arrays
        Row positions, increasing.
    n_reference, n_current : int
        Rows of the whole samples.
    """

    kept_reference: NDArray[np.intp]
    kept_current: NDArray[np.intp]
    n_reference: int
    n_current: int

    @property
    def removed_reference(self) -> NDArray[np.intp]:
        """Positions of the reference rows that are not kept."""
        return np.setdiff1d(np.arange(self.n_reference), self.kept_reference)

    @property
    def removed_current(self) -> NDArray[np.intp]:
        """Positions of the current rows that are not kept."""
        return np.setdiff1d(np.arange(self.n_current), self.kept_current)


def chosen_subset(
    result: ShiftResult, keep: Side | None, max_share: float | None, modes: Sequence[int] | None
) -> Subset:
    """Remove what the result removes, as far as the conditions allow (see `ShiftResult.equalised`)."""
    check_conditions(keep, max_share)
    if not isinstance(modes, Sequence | np.ndarray | None) or isinstance(modes, str):
        raise ParameterError(f"modes must be a sequence of positions, got {modes!r}")
    modes = None if modes is None else list(modes)
    if modes and not result.modes:
        raise ParameterError("modes: the result has none; leave modes out")
    for mode in modes or ():
        if not is_whole(mode, 0) or mode >= len(result.modes):
            raise ParameterError(f"modes must be positions from 0 to {len(result.modes) - 1}, got {mode!r}")
    kept = []
    for side, n_rows in (("reference", result.n_reference), ("current", result.n_current)):
        removed = np.empty(0, np.intp) if side == keep else _removal(result, side, modes)
        if max_share is not None:
            removed = removed[: int(max_share * n_rows + ROUNDING)]
        kept.append(np.setdiff1d(np.arange(n_rows), removed))
    return Subset(kept[0], kept[1], result.n_reference, result.n_current)


def check_conditions(keep: object, max_share: object) -> None:
    """Refuse conditions that no result could meet."""
    if keep not in (None, "reference", "current"):
        raise ParameterError(f"keep must be 'reference', 'current' or None, got {keep!r}")
    if max_share is not None and not (is_number(max_share) and 0.0 <= max_share <= 1.0):
        raise ParameterError(f"max_share must lie between 0 and 1, got {max_share!r}")


def _removal(result: ShiftResult, side: str, modes: Sequence[int] | None) -> NDArray[np.intp]:
    """Rows of one sample in the order of removal: mode by mode, then the rest, each by falling score."""
    scores, kept = getattr(result.scores, side), getattr(result, f"kept_{side}")
    chosen = range(len(result.modes)) if modes is None else modes
    groups = [result.modes[at].rows for at in chosen if result.modes[at].side == side]
    if modes is None:
        groups.append(np.setdiff1d(np.arange(scores.size), kept))
    ordered = [rows[np.argsort(-scores[rows], kind="stable")] for rows in groups]
    joined = np.concatenate([np.empty(0, np.intp), *ordered])
    _, first = np.unique(joined, return_index=True)
    return joined[np.sort(first)]
