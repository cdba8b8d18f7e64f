"""The numbers behind the figures: samples of rows, histograms and curves, small for any size of data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shiftscope.encode import Encoded
from shiftscope.equalise import Equalisation
from shiftscope.null import ScoreNull
from shiftscope.results import Mode, ShiftResult, Side

POINTS_SHOWN = 2000  # rows drawn per sample, and at most as many of a mode
FEATURES_SHOWN = 4  # strongest features of a mode that are drawn
BINS = 40
VIEW = (0.002, 0.998)  # pooled quantiles between which features are drawn
SCORE_POINTS = 48  # scores at which observed and null shares are compared
SMALLEST_SHARE = 1e-6  # the null is drawn down to this share
TRACE_POINTS = 300
STEPS_SHOWN = 10_000  # steps into which a drawn range is divided: nothing finer can be seen
DRAWABLE = (1e-100, 1e100)  # spreads outside are drawn standardised, and so are columns ...
RESOLUTION = 1e-10  # ... whose spread is smaller than this share of their mean

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Histogram:
    """One feature: shares per bin, of all rows of either sample, of the mode's rows and of the rows kept.

    Values outside the drawn range are counted in the outer bins.
    """

    edges: Floats
    reference: Floats
    current: Floats
    mode: Floats
    kept_reference: Floats
    kept_current: Floats


@dataclass(frozen=True)
class Picture:
    """A mode in its strongest features.

    Attributes
    ----------
    features : tuple of str
        The first f features of the mode.
    standardised : tuple of bool
        Per feature: drawn in pooled standard deviations, because the user's units cannot be drawn.
    reference, current, mode : (p, f) float64
        Rows of either sample (a random choice of the same size) and of the mode.
    histograms : tuple of Histogram
        One per feature; their edges span the range drawn.
    """

    features: tuple[str, ...]
    standardised: tuple[bool, ...]
    reference: Floats
    current: Floats
    mode: Floats
    histograms: tuple[Histogram, ...]


@dataclass(frozen=True)
class ScoreTail:
    """Share of a sample's rows at or above each score, and the share that the exact null expects."""

    score: Floats
    observed: Floats
    null: Floats


@dataclass(frozen=True)
class TraceLine:
    """One side of the equalisation: rows removed so far, and the tail's KS distance at that moment."""

    removed: Floats
    distance: Floats


def picture(result: ShiftResult, mode: Mode) -> Picture:
    """Sample and count the rows of both samples and of one mode in the mode's strongest features."""
    encoded = result.encoded
    rng = np.random.default_rng(result.random_state)
    rows = mode.rows + (encoded.n_reference if mode.side == "current" else 0)
    reference = _chosen(np.arange(encoded.n_reference), rng)
    current = _chosen(np.arange(encoded.n_reference, len(encoded.points)), rng)
    shown = _chosen(rows, rng)
    features = mode.features[:FEATURES_SHOWN]
    positions = [encoded.names.index(feature) for feature in features]
    columns = [_drawn_column(encoded, position) for position in positions]
    histograms = tuple(_histogram(column, result, rows) for column in columns)
    return Picture(
        features=features,
        standardised=tuple(not _drawable(encoded, position) for position in positions),
        reference=_drawn_rows(columns, histograms, reference),
        current=_drawn_rows(columns, histograms, current),
        mode=_drawn_rows(columns, histograms, shown),
        histograms=histograms,
    )


def score_tail(scores: Floats, null: ScoreNull) -> ScoreTail:
    """Compare observed and expected shares at evenly spaced scores, as far as either goes."""
    top = max(float(scores.max()), min(null.threshold(SMALLEST_SHARE), float(null.values[-1])))
    grid = np.linspace(0.0, top, SCORE_POINTS)
    observed = 1.0 - np.searchsorted(np.sort(scores), grid, side="left") / scores.size
    return ScoreTail(_short(grid), _short(observed), _short(null.sf(grid)))


def trace_line(done: Equalisation, side: Side) -> TraceLine:
    """KS distance of one side's tail against the rows removed from it, from the first to the last moment."""
    steps = [step for step in done.trace if step.side == side]
    last = done.after[1 if side == "current" else 0]
    removed = np.cumsum([0, *(step.rows.size for step in steps)], dtype=np.float64)
    distance = np.array([*(step.before.tail.distance for step in steps), last.tail.distance])
    shown = np.unique(np.linspace(0, len(steps), min(len(steps) + 1, TRACE_POINTS)).round().astype(np.intp))
    return TraceLine(removed[shown], _short(distance[shown]))


def _chosen(rows: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """All rows, or a random choice of as many as are drawn."""
    return rows if rows.size <= POINTS_SHOWN else np.sort(rng.choice(rows, POINTS_SHOWN, replace=False))


def _drawn_column(encoded: Encoded, position: int) -> Floats:
    return encoded.raw(position) if _drawable(encoded, position) else encoded.points[:, position]


def _drawable(encoded: Encoded, position: int) -> bool:
    """Whether a column can be drawn in the user's units: axes fail at extreme spreads and far from zero."""
    scale, centre = float(encoded.scale[position]), float(encoded.centre[position])
    return DRAWABLE[0] < scale < DRAWABLE[1] and scale > RESOLUTION * abs(centre)


def _histogram(column: Floats, result: ShiftResult, rows: NDArray[np.intp]) -> Histogram:
    """Shares of all groups in even bins over the bulk of the pool and all of the mode's rows."""
    n = result.n_reference
    bulk = np.quantile(column, VIEW)
    low, high = min(bulk[0], column[rows].min()), max(bulk[1], column[rows].max())
    edges = np.linspace(low, high, BINS + 1) if high > low else low + np.linspace(-0.5, 0.5, BINS + 1)
    groups = (
        column[:n],
        column[n:],
        column[rows],
        column[result.kept_reference],
        column[n + result.kept_current],
    )
    return Histogram(edges, *(_shares(group, edges) for group in groups))


def _shares(values: Floats, edges: Floats) -> Floats:
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), bins=edges)
    return _short(counts / max(1, values.size))


def _drawn_rows(columns: list[Floats], histograms: tuple[Histogram, ...], rows: NDArray[np.intp]) -> Floats:
    """(len(rows), f) values, rounded to what can be seen: files stay small."""
    rounded = []
    for column, histogram in zip(columns, histograms, strict=True):
        step = (histogram.edges[-1] - histogram.edges[0]) / STEPS_SHOWN
        rounded.append(np.round(column[rows], -int(np.floor(np.log10(step)))))
    return np.stack(rounded, axis=1)


def _short(values: Floats) -> Floats:
    """Values to six significant digits."""
    return np.array([float(f"{value:.6g}") for value in values])
