"""What `compare` returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.encode import Encoded
from shiftscope.encoding.sample_order import swapped
from shiftscope.full_space.calibrate import Calibration
from shiftscope.full_space.equalise import Equalisation
from shiftscope.full_space.score import Nulls, Scores
from shiftscope.messages import percent, plain
from shiftscope.modes.localise import Localisation
from shiftscope.modes.refine import Origin
from shiftscope.params import CompareParams
from shiftscope.samples import Gathered
from shiftscope.subspaces.scan import ScanResult
from shiftscope.tables.column_kinds import Kind, time_text

if TYPE_CHECKING:
    from shiftscope.equalised_subset import Subset
    from shiftscope.report.summary import Summary

Side = Literal["reference", "current"]
TOLD_SHARE = 0.1  # of the change among a mode's rows: a smaller one of the whole sample does not tell the story ...
TOLD_RATIO = 2.0  # ... unless the level has become so many times as frequent
ALIKE = 0.1  # pooled standard deviations: a median that moved less, with a like spread, is told as much the same


@dataclass(frozen=True)
class Direction:
    """How one feature of a mode's rows differs from the other sample, in the user's units.

    Attributes
    ----------
    feature : str
    median, other_median : float
        Median of the mode's rows, and of all rows of the other sample.
    shift : float
        Their difference in pooled standard deviations.
    spread_ratio : float
        Interquartile range of the mode's rows divided by that of the other sample (infinite if the latter is 0).
    kind : {"number", "date", "time", "duration", "category"}
        What the column holds. Medians of times are in seconds; a category has none (NaN).
    level : str
        Of a category, or of a column whose values are missing in the mode: the level ("missing" if `gap`) that the
        mode's rows have most in excess; else empty.
    share, other_share, own_share : float
        Share of that level among the mode's rows, in the other sample, and in the mode's own sample as a whole.
    gap : bool
        The level is that a value is missing (or, at last, there).
    marginal : bool
        `own_share` exceeds `other_share` by more than the noise of counts.
    side : {"current", "reference"}
        The mode's own sample.
    """

    feature: str
    median: float
    other_median: float
    shift: float
    spread_ratio: float
    kind: Kind = "number"
    level: str = ""
    share: float = float("nan")
    other_share: float = float("nan")
    own_share: float = float("nan")
    gap: bool = False
    marginal: bool = True
    side: Side = "current"

    @property
    def word(self) -> str:
        """The most telling single word: higher, lower, narrower, wider, alike; later, earlier; more (of a level)."""
        if self.level:
            return "more"
        if self.kind == "date" and abs(self.shift) >= 0.25:
            return "later" if self.shift > 0 else "earlier"
        if abs(self.shift) >= 0.25:
            return "higher" if self.shift > 0 else "lower"
        if self.spread_ratio <= 0.75:
            return "narrower"
        if self.spread_ratio >= 1.33:
            return "wider"
        if abs(self.shift) < ALIKE:
            return "alike"
        return "higher" if self.shift > 0 else "lower"

    @property
    def change(self) -> str:
        """What follows the name: "higher: median 61 against 52", "= B: 4 % -> 31 %", "missing: 2 % -> 30 %".

        Shares are those of the reference and of the current sample; where these hardly differ, as for a change in how
        columns go together, that of the mode's rows is held against the other sample's.
        """
        if self.level:
            level = self.level if self.gap else f"= {plain(self.level)}"
            change = self.own_share - self.other_share
            large = (
                change >= TOLD_SHARE * (self.share - self.other_share) or self.own_share > TOLD_RATIO * self.other_share
            )
            if self.marginal and large:
                before, after = self.other_share, self.own_share
                if self.side == "reference":
                    before, after = after, before
                return f"{level}: {percent(before)} -> {percent(after)}"
            return f"{level}: {percent(self.share)} of these rows against {percent(self.other_share)}"
        median, other = (
            f"{value:.4g}" if self.kind == "number" else time_text(self.kind, value)
            for value in (self.median, self.other_median)
        )
        return f"{'much the same' if self.word == 'alike' else self.word}: median {median} against {other}"

    def __str__(self) -> str:
        return f"{self.feature} {self.change}"


@dataclass(frozen=True)
class Mode:
    """One group of rows that one sample has in excess, or that stand for a difference of some features as a whole.

    Attributes
    ----------
    side : {"current", "reference"}
        The sample with the excess.
    features : tuple of str
        Names of the features in which the excess is visible, strongest first.
    rows : intp array
        Row positions in that sample.
    excess : float
        Excess mass as a share of that sample; 0 or less only if the scan found features that differ as a whole.
    excess_interval : (float, float)
        95 % counting interval of `excess`: it knows the noise of counts, not whether the region drawn is right.
    p_value : float
        Calibrated p-value of the evidence behind the mode.
    purity : float
        Estimated share of the rows around the mode that are truly in excess (the rest are background).
    directions : tuple of Direction
        One per feature, same order.
    settled : bool
        The subspace reproduced itself: rows found in it lead back to the same features.
    origin : {"scan", "full space"}
        Where the mode was first seen.
    localisation : Localisation or None
        Weights and subset-size curves behind `features`; None for a mode that the scan found.
    """

    side: Side
    features: tuple[str, ...]
    rows: NDArray[np.intp]
    excess: float
    excess_interval: tuple[float, float]
    p_value: float
    purity: float
    directions: tuple[Direction, ...]
    settled: bool
    origin: Origin
    localisation: Localisation | None = field(repr=False)


@dataclass(frozen=True)
class ShiftResult:
    """The answer of `compare`.

    Attributes
    ----------
    detected : bool
        p_value <= alpha.
    p_value, alpha : float
        Calibrated p-value of the whole comparison, and the level it is held against.
    modes : tuple of Mode
        Strongest first; empty when nothing was detected.
    scores : Scores
        One local score per row of either sample, in the full space.
    kept_reference, kept_current : intp arrays
        Row positions of the equalised subsets.
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
        Of samples too large to be gathered from a cluster: which rows the result is about. Row positions in the result
        are then positions in `gathered.reference` and `gathered.current`, which hold those in the samples.
    """

    detected: bool
    p_value: float
    alpha: float
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

    @property
    def names(self) -> tuple[str, ...]:
        """The columns compared."""
        return self.encoded.names

    @property
    def n_reference(self) -> int:
        """Rows of the reference sample."""
        return self.encoded.n_reference

    @property
    def n_current(self) -> int:
        """Rows of the current sample."""
        return self.encoded.n_current

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader has to know about how the result was reached; often nothing."""
        return tuple(note for note in (self._gathered_note(), self._searched_note()) if note)

    def _gathered_note(self) -> str:
        if self.gathered is None:
            return ""
        whole = self.gathered.n_reference, self.gathered.n_current
        return (
            f"The scan has counted all {whole[0]:,} reference and {whole[1]:,} current rows on the cluster; everything "
            f"else is about the {self.n_reference:,} and {self.n_current:,} of them that were drawn at random and "
            "gathered. Row numbers count these (result.gathered)."
        )

    def _searched_note(self) -> str:
        searched, n = self.searched_reference + self.searched_current, self.n_reference + self.n_current
        if searched == n:
            return ""
        return (
            f"In the full space, the neighbourhoods of {self.searched_reference:,} reference and "
            f"{self.searched_current:,} current rows drawn at random were looked at (full_space_rows = {searched:,}); "
            f"the other {n - searched:,} rows are scored by their neighbours among these. The p-value is exact."
        )

    def positions(self, side: Side, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Row positions in the user's sample of row positions in this result; the same unless rows were gathered."""
        if self.gathered is None:
            return rows
        return (self.gathered.current if side == "current" else self.gathered.reference)[rows]

    def swapped(self) -> ShiftResult:
        """The same answer with the roles of the two samples exchanged."""
        return replace(
            self,
            modes=tuple(_swapped_mode(mode) for mode in self.modes),
            scores=_swapped_scores(self.scores),
            kept_reference=self.kept_current,
            kept_current=self.kept_reference,
            calibration=self.calibration.swapped(),
            scan=None if self.scan is None else _swapped_scan(self.scan),
            equalisation=None if self.equalisation is None else self.equalisation.swapped(),
            searched_reference=self.searched_current,
            searched_current=self.searched_reference,
            encoded=swapped(self.encoded),
            gathered=None if self.gathered is None else self.gathered.swapped(),
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
        from shiftscope.equalised_subset import chosen_subset

        return chosen_subset(self, keep, max_share, modes)

    @cached_property
    def summary(self) -> Summary:
        """What every report of this result shows: small, and the content of its JSON form."""
        from shiftscope.report.summary import summarise

        return summarise(self)

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """The result as JSON text (schema 1), also written to `path` if given."""
        from shiftscope.report.summary import write_json

        return write_json(self.summary, path)

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write the report: one self-contained page."""
        from shiftscope.report.html import write_html

        write_html(self.summary, path)

    def to_markdown(self, path: str | PathLike[str] | None = None) -> str:
        """Verdict and modes as Markdown, also written to `path` if given."""
        from shiftscope.report.markdown import write_markdown

        return write_markdown(self.summary, path)

    def __str__(self) -> str:
        from shiftscope.report.sentences import as_text

        return as_text(self.summary)

    def _repr_html_(self) -> str:
        from shiftscope.report.html import fragment

        return fragment(self.summary)


def other_side(side: Side) -> Side:
    """The other sample."""
    return "reference" if side == "current" else "current"


def _swapped_mode(mode: Mode) -> Mode:
    directions = tuple(replace(direction, side=other_side(direction.side)) for direction in mode.directions)
    return replace(mode, side=other_side(mode.side), directions=directions)


def _swapped_scores(scores: Scores) -> Scores:
    return Scores(
        reference=scores.current,
        current=scores.reference,
        scale_reference=scores.scale_current,
        scale_current=scores.scale_reference,
        nulls=Nulls(scores.nulls.current, scores.nulls.reference),
    )


def _swapped_scan(scan: ScanResult) -> ScanResult:
    sets = tuple(
        replace(
            found,
            side=other_side(found.side),
            rows_reference=found.rows_current,
            rows_current=found.rows_reference,
        )
        for found in scan.sets
    )
    return replace(scan, sets=sets)
