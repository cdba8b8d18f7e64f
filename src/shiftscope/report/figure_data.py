"""The numbers behind the figures: samples of rows, histograms and curves, small for any size of data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shiftscope.findings import Equalisation, Findings, Mode, ScanResult, ScoreNull, Side, columns_of
from shiftscope.messages import readable
from shiftscope.report.axes import Axis, Drawn, Floats, bin_edges, drawn

POINTS_SHOWN = 1500  # rows drawn per sample
MARKS_SHOWN = 400  # rows marked per mode
FEATURES_SHOWN = 4  # strongest features of a mode whose distributions are drawn
COLUMNS_SHOWN = 8  # columns to choose the axes of a scatter plot from
TOP_ROWS = 10  # rows of a mode shown with their values ...
TOP_FEATURES = 8  # ... in this many of its features
MAP_DECIMALS = 3
MAP_FEATURES = 24  # features on each side of the scan's map
BINS = 40
SCORE_POINTS = 48  # scores at which observed and null shares are compared
SMALLEST_SHARE = 1e-6  # the null is drawn down to this share
TRACE_POINTS = 300
STEPS_SHOWN = 10_000  # steps into which a drawn range is divided: nothing finer can be seen


@dataclass(frozen=True)
class Histogram:
    """One feature: shares per bin, of all rows of either sample, of the mode's rows and of the rows kept.

    Values outside the drawn range are counted in the outer bins; each level of a category and missing values have a
    bin of their own.
    """

    axis: Axis
    edges: Floats
    reference: Floats
    current: Floats
    mode: Floats
    kept_reference: Floats
    kept_current: Floats


@dataclass(frozen=True)
class Points:
    """Some rows of a sample: their positions (p,), increasing, and their places (p, f) on the gallery's axes."""

    rows: NDArray[np.intp]
    values: Floats


@dataclass(frozen=True)
class Gallery:
    """What scatter plots show of both samples.

    Attributes
    ----------
    columns : tuple of f Axis
        The modes' features, strongest first, filled up with other columns.
    reference, current : Points
        A random choice of rows, up to the same number of either sample.
    """

    columns: tuple[Axis, ...]
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
    """A row near the middle of a mode: position, score in the space of all columns, the features' values as text."""

    row: int
    score: float
    values: tuple[str, ...]


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


def gallery(result: Findings) -> Gallery:
    """Sample the rows of both samples in the columns worth looking at; empty without modes."""
    columns = [drawn(result, position) for position in _columns_shown(result)]
    rng = np.random.default_rng(result.random_state)
    n = result.encoded.n_reference
    samples = (np.arange(n), np.arange(n, len(result.encoded.points)))
    reference, current = (_chosen(rows, POINTS_SHOWN if columns else 0, rng) for rows in samples)
    return Gallery(
        columns=tuple(column.axis for column in columns),
        reference=Points(result.positions("reference", reference), _drawn_rows(columns, reference)),
        current=Points(result.positions("current", current - n), _drawn_rows(columns, current)),
    )


def picture(result: Findings, mode: Mode, shown: Gallery) -> Picture:
    """Sample and count the rows of one mode in the columns of the gallery and in its own strongest features."""
    names = [column.name for column in shown.columns]
    current = mode.side == "current"
    marked = _chosen(mode.rows, MARKS_SHOWN, np.random.default_rng(result.random_state))
    columns = [drawn(result, result.names.index(name)) for name in names]
    own = [drawn(result, result.names.index(feature)) for feature in mode.features[:FEATURES_SHOWN]]
    return Picture(
        axes=tuple(names.index(feature) for feature in mode.features if feature in names),
        marked=Points(
            result.positions(mode.side, marked),
            _drawn_rows(columns, result.encoded.in_pool(marked, current=current)),
        ),
        histograms=tuple(_histogram(result, column, result.in_pool(mode)) for column in own),
    )


def top_rows(result: Findings, mode: Mode) -> tuple[TopRow, ...]:
    """The rows nearest to the mode's middle (its median), in standard deviations of its features."""
    encoded = result.encoded
    rows = result.in_pool(mode)
    positions = [encoded.names.index(feature) for feature in mode.features]
    points = encoded.points[rows][:, columns_of(encoded.groups, positions)]
    distance = np.square(points - np.median(points, axis=0)).sum(axis=1)
    nearest = np.argsort(distance, kind="stable")[:TOP_ROWS]
    scores = result.scores.current if mode.side == "current" else result.scores.reference
    columns = [encoded.texts(position, rows[nearest]) for position in positions[:TOP_FEATURES]]
    positions_given = result.positions(mode.side, mode.rows)
    return tuple(
        TopRow(int(positions_given[at]), float(scores[mode.rows[at]]), tuple(readable(column[k]) for column in columns))
        for k, at in enumerate(nearest)
    )


def feature_map(scan: ScanResult, names: tuple[str, ...]) -> FeatureMap:
    """The part of the scan's pairs that holds the strongest features."""
    names = names if scan.paired is None else tuple(names[feature] for feature in scan.paired)
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


def _columns_shown(result: Findings) -> list[int]:
    """Positions of the modes' features, the strongest of every mode first, then of other columns."""
    if not result.modes:
        return []
    most = max(len(mode.features) for mode in result.modes)
    ranked = [mode.features[rank] for rank in range(most) for mode in result.modes if rank < len(mode.features)]
    return [result.names.index(name) for name in list(dict.fromkeys([*ranked, *result.names]))[:COLUMNS_SHOWN]]


def _chosen(rows: NDArray[np.intp], count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """All rows, or a random choice of as many as are drawn."""
    return rows if rows.size <= count else np.sort(rng.choice(rows, count, replace=False))


def _histogram(result: Findings, column: Drawn, rows: NDArray[np.intp]) -> Histogram:
    """Shares of all groups in the bins of the axis."""
    n, places = result.encoded.n_reference, column.in_view()
    edges = bin_edges(column.axis, BINS)
    groups = (
        places[:n],
        places[n:],
        places[rows],
        places[result.kept_reference],
        places[n + result.kept_current],
    )
    return Histogram(column.axis, edges, *(_shares(group, edges) for group in groups))


def _shares(places: Floats, edges: Floats) -> Floats:
    counts, _ = np.histogram(places, bins=edges)
    return _short(counts / max(1, places.size))


def _drawn_rows(columns: list[Drawn], rows: NDArray[np.intp]) -> Floats:
    """(len(rows), f) places, rounded to what can be seen: files stay small."""
    places = np.empty((rows.size, len(columns)))
    for at, column in enumerate(columns):
        step = (column.axis.high - column.axis.low) / STEPS_SHOWN
        places[:, at] = np.round(column.spread(rows, at), -int(np.floor(np.log10(step))))
    return places


def _short(values: Floats) -> Floats:
    """Values to six significant digits."""
    return np.array([float(f"{value:.6g}") for value in values])
