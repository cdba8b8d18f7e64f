"""All that a comparison has found, as data: what the stages give, and what it means for rows.

The reports read this and nothing else; `results.ShiftResult` is the same with ways to read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.encode import Encoded
from shiftscope.encoding.features import Feature, columns_of
from shiftscope.encoding.sample_order import Side, other_side, swapped
from shiftscope.engines.base import Gathered
from shiftscope.errors import ParameterError, is_number, is_one_of, is_whole
from shiftscope.full_space.calibrate import Calibration
from shiftscope.full_space.equalise import Equalisation
from shiftscope.full_space.null import ScoreNull
from shiftscope.full_space.score import Scores
from shiftscope.full_space.tail_test import Tail
from shiftscope.labellings.p_values import ROUNDING, critical_value
from shiftscope.modes.feature_count import Curve
from shiftscope.modes.mode import Direction, Mode
from shiftscope.overview.column_overview import ColumnOverview, ColumnSide, Flag
from shiftscope.params import CompareParams
from shiftscope.subspaces.detectable import Detectable, smallest_groups
from shiftscope.subspaces.scan_result import FeatureSet, ScanResult
from shiftscope.tables.column_choice import Columns, LeftOut
from shiftscope.tables.column_kinds import Kind
from shiftscope.tables.dates import DAY, time_text
from shiftscope.tables.file_readings import Look

__all__ = [  # what findings consist of: the reports take all of it from here
    "DAY",
    "Calibration",
    "ColumnOverview",
    "ColumnSide",
    "Columns",
    "CompareParams",
    "Curve",
    "Detectable",
    "Direction",
    "Encoded",
    "Equalisation",
    "Feature",
    "FeatureSet",
    "Findings",
    "Flag",
    "Kind",
    "LeftOut",
    "Look",
    "Mode",
    "ScanResult",
    "ScoreNull",
    "Scores",
    "Side",
    "Subset",
    "Tail",
    "check_conditions",
    "columns_of",
    "critical_value",
    "other_side",
    "smallest_groups",
    "time_text",
]


@dataclass(frozen=True)
class Findings:
    """All that a comparison has found.

    Attributes
    ----------
    detected : bool
        p_value <= alpha.
    p_value, alpha : float
        Calibrated p-value of the whole comparison, and the level it is held against.
    p_compared : float
        The same of the columns compared: different only if columns were set aside that tell the samples apart.
    overview : tuple of ColumnOverview
        Every column compared by itself, strongest first.
    modes : tuple of Mode
        Strongest first; empty when nothing was detected.
    scores : Scores
        One local score per row of either sample, in the full space.
    kept_reference, kept_current : intp arrays
        Row positions of the equalised subsets.
    kept_p_value : float or None
        p-value of a comparison of these rows alone, by the same searches; None if it was not made, because it was
        switched off (`params.test_kept`) or a sample has too few rows left. The rows were chosen by their labels, so
        it describes what is left and decides nothing.
    names : tuple of str
        The columns compared; `encoded.left_out` lists those left out.
    calibration : Calibration
        Observed and permuted tail statistics of the full space.
    scan : ScanResult or None
        Small feature sets with their calibrated p-values; None if the scan was switched off.
    equalisation : Equalisation or None
        Full-space equalisation, after the modes of the scan were taken away, with its trace; None when nothing was
        detected.
    random_state : int
    params : CompareParams
    searched_reference, searched_current : int
        Rows of either sample whose neighbourhoods in the full space were looked at: all, unless they are more than
        `params.full_space_rows` together.
    timings : tuple of (stage, seconds)
    encoded : Encoded
        The pooled matrix all of this refers to.
    gathered : Gathered or None
        Of samples too large to be gathered from a cluster: the rows at hand, which all but the scan is about. Row
        positions in the result are then positions in `gathered.reference` and `gathered.current`, which hold those in
        the samples (see `positions`); reports have those in the samples.
    reading : Look or None
        What was understood of files and columns; None of samples that a cluster has read.
    """

    detected: bool
    p_value: float
    p_compared: float
    alpha: float
    overview: tuple[ColumnOverview, ...] = field(repr=False)
    modes: tuple[Mode, ...]
    scores: Scores = field(repr=False)
    kept_reference: NDArray[np.intp] = field(repr=False)
    kept_current: NDArray[np.intp] = field(repr=False)
    calibration: Calibration = field(repr=False)
    scan: ScanResult | None = field(repr=False)
    equalisation: Equalisation | None = field(repr=False)
    random_state: int
    params: CompareParams = field(repr=False)
    searched_reference: int
    searched_current: int
    timings: tuple[tuple[str, float], ...] = field(repr=False)
    encoded: Encoded = field(repr=False)
    gathered: Gathered | None = field(repr=False, default=None)
    reading: Look | None = field(repr=False, default=None)
    kept_p_value: float | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns compared."""
        return self.encoded.names

    @property
    def n_reference(self) -> int:
        """Rows of the reference sample, wherever they are."""
        return (self.gathered or self.encoded).n_reference

    @property
    def n_current(self) -> int:
        """Rows of the current sample, wherever they are."""
        return (self.gathered or self.encoded).n_current

    @property
    def set_aside(self) -> tuple[LeftOut, ...]:
        """Columns that tell the samples apart by themselves; all else is about the others."""
        return tuple(left for left in self.encoded.left_out if left.apart)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader has to know about how the result was reached; often nothing."""
        doubts = () if self.reading is None else self.reading.doubts
        told = self._gathered_note(), self._searched_note(), self._paired_note(), *doubts
        return tuple(note for note in told if note)

    def _gathered_note(self) -> str:
        if self.gathered is None:
            return ""
        return (
            f"The scan has counted all {self.n_reference:,} reference and {self.n_current:,} current rows on the "
            f"cluster. Scores, modes and the rows kept are among the {self.encoded.n_reference:,} and "
            f"{self.encoded.n_current:,} of them that were drawn at random and gathered (result.gathered); excess, "
            "medians, shares of levels and pictures are estimates from these."
        )

    def _searched_note(self) -> str:
        searched, n = self.searched_reference + self.searched_current, len(self.encoded.points)
        if searched == n:
            return ""
        others = f"{n - searched:,} {'gathered ' if self.gathered else ''}rows"
        return (
            f"In the full space, the neighbourhoods of {self.searched_reference:,} reference and "
            f"{self.searched_current:,} current rows drawn at random were looked at (full_space_rows = {searched:,}); "
            f"the other {others} are scored by their neighbours among these. The p-value is exact."
        )

    def _paired_note(self) -> str:
        if self.scan is None or self.scan.paired is None:
            return ""
        return (
            f"Of the {len(self.names):,} columns, each was counted by itself, and pairs among the "
            f"{len(self.scan.paired):,} that stand out most by themselves, under the observed labels or under any "
            "random ones (max_pairs). The p-value is exact."
        )

    def in_pool(self, mode: Mode) -> NDArray[np.intp]:
        """Pool positions of a mode's rows."""
        return self.encoded.in_pool(mode.rows, current=mode.side == "current")

    def positions(self, side: Side, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Row positions in the user's sample of row positions in this result; the same unless rows were gathered."""
        if self.gathered is None:
            return rows
        return (self.gathered.current if side == "current" else self.gathered.reference)[rows]

    def swapped(self) -> Self:
        """The same answer with the roles of the two samples exchanged."""
        return replace(
            self,
            overview=tuple(column.swapped() for column in self.overview),
            modes=tuple(mode.swapped() for mode in self.modes),
            scores=self.scores.swapped(),
            kept_reference=self.kept_current,
            kept_current=self.kept_reference,
            calibration=self.calibration.swapped(),
            scan=None if self.scan is None else self.scan.swapped(),
            equalisation=None if self.equalisation is None else self.equalisation.swapped(),
            searched_reference=self.searched_current,
            searched_current=self.searched_reference,
            encoded=swapped(self.encoded),
            gathered=None if self.gathered is None else self.gathered.swapped(),
            reading=None if self.reading is None else self.reading.swapped(),
        )

    def equalised(
        self, *, keep: Side | None = None, max_share: float | None = None, modes: Sequence[int] | None = None
    ) -> Subset:
        """Equalised subsets with less removed than `kept_reference` and `kept_current` lack.

        Parameters
        ----------
        keep : {"reference", "current"}, optional
            Sample of which no row is removed.
        max_share : float, optional
            Largest share removed of either sample; the strongest evidence goes first.
        modes : sequence of int, optional
            Positions in `modes`: only rows of these are removed, and nothing of the full space.
        """
        return chosen_subset(self, keep, max_share, modes)


@dataclass(frozen=True)
class Subset:
    """Rows kept of both samples.

    Attributes
    ----------
    kept_reference, kept_current : intp arrays
        Row positions, increasing.
    n_reference, n_current : int
        Rows of the samples, as far as they are at hand.
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
    findings: Findings, keep: Side | None, max_share: float | None, modes: Sequence[int] | None
) -> Subset:
    """Remove what the result removes, as far as the conditions allow (see `Findings.equalised`)."""
    check_conditions(keep, max_share)
    if not isinstance(modes, Sequence | np.ndarray | None) or isinstance(modes, str):
        raise ParameterError(f"modes must be a sequence of positions, got {modes!r}")
    modes = None if modes is None else list(modes)
    if modes and not findings.modes:
        raise ParameterError("modes: the result has none; leave modes out")
    for mode in modes or ():
        if not is_whole(mode, 0) or mode >= len(findings.modes):
            raise ParameterError(f"modes must be positions from 0 to {len(findings.modes) - 1}, got {mode!r}")
    kept = []
    sizes = findings.encoded.n_reference, findings.encoded.n_current
    for side, n_rows in zip(("reference", "current"), sizes, strict=True):
        removed = np.empty(0, np.intp) if side == keep else _removal(findings, side, modes)
        if max_share is not None:
            removed = removed[: int(max_share * n_rows + ROUNDING)]
        kept.append(np.setdiff1d(np.arange(n_rows), removed))
    return Subset(kept[0], kept[1], *sizes)


def check_conditions(keep: object, max_share: object) -> None:
    """Refuse conditions that no result could meet."""
    if keep is not None and not is_one_of(keep, "reference", "current"):
        raise ParameterError(f"keep must be 'reference', 'current' or None, got {keep!r}")
    if max_share is not None and not (is_number(max_share) and 0.0 <= max_share <= 1.0):
        raise ParameterError(f"max_share must lie between 0 and 1, got {max_share!r}")


def _removal(findings: Findings, side: str, modes: Sequence[int] | None) -> NDArray[np.intp]:
    """Rows of one sample in the order of removal: mode by mode, then the rest, each by falling score."""
    scores, kept = getattr(findings.scores, side), getattr(findings, f"kept_{side}")
    chosen = range(len(findings.modes)) if modes is None else modes
    groups = [findings.modes[at].rows for at in chosen if findings.modes[at].side == side]
    if modes is None:
        groups.append(np.setdiff1d(np.arange(scores.size), kept))
    ordered = [rows[np.argsort(-scores[rows], kind="stable")] for rows in groups]
    joined = np.concatenate([np.empty(0, np.intp), *ordered])
    _, first = np.unique(joined, return_index=True)
    return joined[np.sort(first)]
