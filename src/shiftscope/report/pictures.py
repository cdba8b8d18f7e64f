"""The numbers behind the figures: samples of rows, histograms and curves, small for any size of data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shiftscope.encode import Encoded
from shiftscope.equalise import Equalisation
from shiftscope.null import ScoreNull
from shiftscope.results import Mode, ShiftResult, Side
from shiftscope.scan import ScanResult

POINTS_SHOWN = 1500  # rows drawn per sample
MARKS_SHOWN = 400  # rows marked per mode
FEATURES_SHOWN = 4  # strongest features of a mode whose distributions are drawn
COLUMNS_SHOWN = 8  # columns to choose the axes of a scatter plot from
TOP_ROWS = 10  # rows of a mode shown with their values ...
TOP_FEATURES = 8  # ... in this many of its features
MAP_DECIMALS = 3
MAP_FEATURES = 24  # features on each side of the scan's map
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

    feature: str
    standardised: bool
    edges: Floats
    reference: Floats
    current: Floats
    mode: Floats
    kept_reference: Floats
    kept_current: Floats


@dataclass(frozen=True)
class Column:
    """A column that can be an axis of a scatter plot.

    Attributes
    ----------
    name : str
    standardised : bool
        Drawn in pooled standard deviations, because the user's units cannot be drawn.
    low, high : float
        Range drawn: the bulk of the pool, and all rows of the modes seen in this column.
    """

    name: str
    standardised: bool
    low: float
    high: float


@dataclass(frozen=True)
class Points:
    """Some rows of a sample: their positions (p,), increasing, and their values (p, f) in the gallery's columns."""

    rows: NDArray[np.intp]
    values: Floats


@dataclass(frozen=True)
class Gallery:
    """What scatter plots show of both samples.

    Attributes
    ----------
    columns : tuple of f Column
        The modes' features, strongest first, filled up with other columns.
    reference, current : Points
        A random choice of rows, up to the same number of either sample.
    """

    columns: tuple[Column, ...]
    reference: Points
    current: Points


@dataclass(frozen=True)
class Picture:
    """What figures show of a mode.

    Attributes
    ----------
    axes : tuple of int
        Its features among the gallery's columns, strongest first.
    marked : Points
        A random choice of its rows.
    histograms : tuple of Histogram
        One for each of its strongest features.
    """

    axes: tuple[int, ...]
    marked: Points
    histograms: tuple[Histogram, ...]


@dataclass(frozen=True)
class TopRow:
    """A row near the middle of a mode: position, score in the space of all columns, values of the mode's features."""

    row: int
    score: float
    values: tuple[float, ...]


@dataclass(frozen=True)
class FeatureMap:
    """The scan's evidence, feature by feature.

    Attributes
    ----------
    names : tuple of m str
        The features with the strongest sets, strongest first.
    values : (m, m) float64
        Largest value (see `FeatureSet.value`) of each pair, of each feature alone on the diagonal.
    """

    names: tuple[str, ...]
    values: Floats


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


def gallery(result: ShiftResult) -> Gallery:
    """Sample the rows of both samples in the columns worth looking at; empty without modes."""
    encoded = result.encoded
    positions = _columns_shown(result)
    columns = tuple(_column(result, position) for position in positions)
    rng = np.random.default_rng(result.random_state)
    samples = (np.arange(result.n_reference), np.arange(result.n_reference, len(encoded.points)))
    reference, current = (_chosen(rows, POINTS_SHOWN if columns else 0, rng) for rows in samples)
    return Gallery(
        columns=columns,
        reference=Points(reference, _drawn_rows(encoded, positions, columns, reference)),
        current=Points(current - result.n_reference, _drawn_rows(encoded, positions, columns, current)),
    )


def picture(result: ShiftResult, mode: Mode, shown: Gallery) -> Picture:
    """Sample and count the rows of one mode in the columns of the gallery and in its own strongest features."""
    encoded = result.encoded
    names = [column.name for column in shown.columns]
    offset = result.n_reference if mode.side == "current" else 0
    marked = _chosen(mode.rows, MARKS_SHOWN, np.random.default_rng(result.random_state))
    positions = [encoded.names.index(name) for name in names]
    own = [encoded.names.index(feature) for feature in mode.features[:FEATURES_SHOWN]]
    return Picture(
        axes=tuple(names.index(feature) for feature in mode.features if feature in names),
        marked=Points(marked, _drawn_rows(encoded, positions, shown.columns, marked + offset)),
        histograms=tuple(_histogram(result, position, mode.rows + offset) for position in own),
    )


def top_rows(result: ShiftResult, mode: Mode) -> tuple[TopRow, ...]:
    """The rows nearest to the mode's middle (its median), in standard deviations of its features."""
    encoded = result.encoded
    rows = mode.rows + (result.n_reference if mode.side == "current" else 0)
    positions = [encoded.names.index(feature) for feature in mode.features]
    points = encoded.points[rows][:, positions]
    distance = np.square(points - np.median(points, axis=0)).sum(axis=1)
    nearest = np.argsort(distance, kind="stable")[:TOP_ROWS]
    scores = result.scores.current if mode.side == "current" else result.scores.reference
    columns = [encoded.raw(position)[rows[nearest]] for position in positions[:TOP_FEATURES]]
    return tuple(
        TopRow(int(mode.rows[at]), float(scores[mode.rows[at]]), tuple(float(column[k]) for column in columns))
        for k, at in enumerate(nearest)
    )


def feature_map(scan: ScanResult, names: tuple[str, ...]) -> FeatureMap:
    """The part of the scan's pairs that holds the strongest features."""
    values: Floats = np.where(np.isfinite(scan.pairs), scan.pairs, 0.0)
    strongest = np.argsort(-values.max(axis=1), kind="stable")[:MAP_FEATURES]
    shown: Floats = values[np.ix_(strongest, strongest)].round(MAP_DECIMALS)
    return FeatureMap(tuple(names[feature] for feature in strongest), shown)


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


def _columns_shown(result: ShiftResult) -> list[int]:
    """Positions of the modes' features, the strongest of every mode first, then of other columns."""
    if not result.modes:
        return []
    most = max(len(mode.features) for mode in result.modes)
    ranked = [mode.features[rank] for rank in range(most) for mode in result.modes if rank < len(mode.features)]
    return [result.names.index(name) for name in list(dict.fromkeys([*ranked, *result.names]))[:COLUMNS_SHOWN]]


def _column(result: ShiftResult, position: int) -> Column:
    """A column and the range drawn of it."""
    encoded, name = result.encoded, result.names[position]
    values = _drawn_column(encoded, position)
    rows = [
        mode.rows + (result.n_reference if mode.side == "current" else 0)
        for mode in result.modes
        if name in mode.features
    ]
    low, high = _range(values, np.concatenate(rows) if rows else np.empty(0, np.intp))
    return Column(name, not _drawable(encoded, position), low, high)


def _range(column: Floats, rows: NDArray[np.intp]) -> tuple[float, float]:
    """Where the bulk of the pool lies, and all of `rows`; never empty."""
    seen = np.concatenate([np.quantile(column, VIEW), column[rows]])
    low, high = float(seen.min()), float(seen.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _chosen(rows: NDArray[np.intp], count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """All rows, or a random choice of as many as are drawn."""
    return rows if rows.size <= count else np.sort(rng.choice(rows, count, replace=False))


def _drawn_column(encoded: Encoded, position: int) -> Floats:
    return encoded.raw(position) if _drawable(encoded, position) else encoded.points[:, position]


def _drawable(encoded: Encoded, position: int) -> bool:
    """Whether a column can be drawn in the user's units: axes fail at extreme spreads and far from zero."""
    scale, centre = float(encoded.scale[position]), float(encoded.centre[position])
    return DRAWABLE[0] < scale < DRAWABLE[1] and scale > RESOLUTION * abs(centre)


def _histogram(result: ShiftResult, position: int, rows: NDArray[np.intp]) -> Histogram:
    """Shares of all groups in even bins over the range drawn."""
    n, column = result.n_reference, _drawn_column(result.encoded, position)
    edges = np.linspace(*_range(column, rows), BINS + 1)
    groups = (
        column[:n],
        column[n:],
        column[rows],
        column[result.kept_reference],
        column[n + result.kept_current],
    )
    standardised = not _drawable(result.encoded, position)
    return Histogram(result.names[position], standardised, edges, *(_shares(group, edges) for group in groups))


def _shares(values: Floats, edges: Floats) -> Floats:
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), bins=edges)
    return _short(counts / max(1, values.size))


def _drawn_rows(encoded: Encoded, positions: list[int], columns: tuple[Column, ...], rows: NDArray[np.intp]) -> Floats:
    """(len(rows), f) values, rounded to what can be seen: files stay small."""
    values = np.empty((rows.size, len(columns)))
    for at, (position, column) in enumerate(zip(positions, columns, strict=True)):
        step = (column.high - column.low) / STEPS_SHOWN
        values[:, at] = np.round(_drawn_column(encoded, position)[rows], -int(np.floor(np.log10(step))))
    return values


def _short(values: Floats) -> Floats:
    """Values to six significant digits."""
    return np.array([float(f"{value:.6g}") for value in values])
