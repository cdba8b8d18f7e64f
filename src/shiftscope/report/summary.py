"""A result as the reports need it: computed once, then written as text, JSON and HTML.

The JSON result is this tree of frozen dataclasses, field by field; so whatever a report shows can be shown again from
a saved file.
"""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass
from importlib.metadata import version as installed_version
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from shiftscope._version import __version__
from shiftscope.findings import (
    ColumnOverview,
    Columns,
    Curve,
    Detectable,
    Direction,
    FeatureSet,
    Findings,
    Kind,
    LeftOut,
    Look,
    Mode,
    Side,
    Tail,
    critical_value,
    smallest_groups,
)
from shiftscope.json_data import plain
from shiftscope.output_files import write_text
from shiftscope.params import CompareParams
from shiftscope.report.column_words import box_in_words, box_range, place_in_words, value_range
from shiftscope.report.figure_data import (
    FeatureMap,
    Gallery,
    Picture,
    ScoreTail,
    TopRow,
    TraceLine,
    feature_map,
    gallery,
    picture,
    score_tail,
    top_rows,
    trace_line,
)

SCHEMA = 1
SCORE_DECIMALS = 3  # of the scores written: files stay small
LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "polars", "matplotlib")


@dataclass(frozen=True)
class ScoreLists:
    """One score per row of either sample."""

    reference: NDArray[np.float64]
    current: NDArray[np.float64]


@dataclass(frozen=True)
class Weights:
    """What chose a mode's features: one weight per column of `names`, and the curve of subset sizes."""

    weights: NDArray[np.float64]
    curve: Curve


@dataclass(frozen=True)
class ModeSummary:
    """The fields of `Mode`, the sentences of its directions (`changes`), and what is shown of it."""

    side: Side
    features: tuple[str, ...]
    rows: NDArray[np.intp]
    excess: float
    excess_interval: tuple[float, float]
    p_value: float
    purity: float
    directions: tuple[Direction, ...]
    changes: tuple[str, ...]
    settled: bool
    origin: str
    localisation: Weights | None
    top: tuple[TopRow, ...]
    picture: Picture


@dataclass(frozen=True)
class Evidence:
    """What the verdict rests on.

    Attributes
    ----------
    reference, current : Tail
        Tail statistics of the data.
    p_reference, p_current : float
        Calibrated p-value of either side alone.
    scores_reference, scores_current : ScoreTail
        Share of rows at or above a score, and what the exact null expects.
    """

    reference: Tail
    current: Tail
    p_reference: float
    p_current: float
    scores_reference: ScoreTail
    scores_current: ScoreTail


@dataclass(frozen=True)
class SetSummary:
    """A feature set of the scan.

    Attributes
    ----------
    names : tuple of str
    statistic : {"localised", "broad"}
    side : {"reference", "current"}
        The sample with the excess in the box.
    value, p_value : float
        Evidence and its family-wise p-value.
    box : tuple of (float, float)
        Range of the values in the box along each feature, in the user's units (times in seconds); infinite for a
        category and where all are missing.
    where : tuple of str
        The same in words: "20 to 35", "= B", "missing".
    count_reference, count_current : int
        Rows of either sample in the box, all of them wherever they are.
    """

    names: tuple[str, ...]
    statistic: str
    side: Side
    value: float
    p_value: float
    box: tuple[tuple[float, float], ...]
    where: tuple[str, ...]
    count_reference: int
    count_current: int


@dataclass(frozen=True)
class ScanSummary:
    """The scan of small feature sets.

    Attributes
    ----------
    p_value : float
    n_permutations : int
    critical : float
        What the value of a set must exceed for the verdict.
    sets : tuple of SetSummary
        The strongest sets, significant or not.
    pairs : FeatureMap
        Evidence of the strongest features and their pairs.
    smallest : tuple of Detectable
        What could have been found.
    """

    p_value: float
    n_permutations: int
    critical: float
    sets: tuple[SetSummary, ...]
    pairs: FeatureMap
    smallest: tuple[Detectable, ...]


@dataclass(frozen=True)
class Pruning:
    """How the equalisation in the full space went."""

    rounds: int
    converged: bool
    removed_reference: NDArray[np.intp]
    removed_current: NDArray[np.intp]
    trace_reference: TraceLine
    trace_current: TraceLine


@dataclass(frozen=True)
class Choice:
    """What the user asked of the columns: see `Columns`."""

    include: tuple[str, ...] | None
    exclude: tuple[str, ...]
    kinds: tuple[tuple[str, Kind], ...]


@dataclass(frozen=True)
class GatheredRows:
    """Positions in either sample of the rows gathered from a cluster: scores are of these, in this order."""

    reference: NDArray[np.intp]
    current: NDArray[np.intp]


@dataclass(frozen=True)
class Summary:
    """Everything a report shows; names as in `Findings`. Positions of rows are those in the samples."""

    schema: int
    version: str
    detected: bool
    p_value: float
    p_compared: float
    alpha: float
    n_reference: int
    n_current: int
    names: tuple[str, ...]
    columns: tuple[ColumnOverview, ...]
    left_out: tuple[LeftOut, ...]
    choice: Choice
    modes: tuple[ModeSummary, ...]
    kept_reference: NDArray[np.intp]
    kept_current: NDArray[np.intp]
    scores: ScoreLists
    calibration: Evidence
    scan: ScanSummary | None
    equalisation: Pruning | None
    gallery: Gallery
    random_state: int
    params: CompareParams
    notes: tuple[str, ...]
    timings: tuple[tuple[str, float], ...]
    environment: tuple[tuple[str, str], ...]
    gathered: GatheredRows | None = None
    reading: Look | None = None
    kept_p_value: float | None = None

    @property
    def differs(self) -> bool:
        """Whether the columns compared differ, apart from any that were set aside."""
        return self.p_compared <= self.alpha


def summarise(result: Findings) -> Summary:
    """Collect what reports show of a result; pictures hold a sample of the rows, everything else is complete."""
    shown = gallery(result)
    return Summary(
        schema=SCHEMA,
        version=__version__,
        detected=result.detected,
        p_value=result.p_value,
        p_compared=result.p_compared,
        alpha=result.alpha,
        n_reference=result.n_reference,
        n_current=result.n_current,
        names=result.names,
        columns=result.overview,
        left_out=result.encoded.left_out,
        choice=_choice(result.encoded.choice),
        modes=tuple(_mode(result, mode, shown) for mode in result.modes),
        kept_reference=result.positions("reference", result.kept_reference),
        kept_current=result.positions("current", result.kept_current),
        scores=ScoreLists(_short(result.scores.reference), _short(result.scores.current)),
        calibration=_evidence(result),
        scan=_scan(result),
        equalisation=_pruning(result),
        gallery=shown,
        random_state=result.random_state,
        params=result.params,
        notes=result.notes,
        timings=result.timings,
        environment=_environment(),
        gathered=None if (part := result.gathered) is None else GatheredRows(part.reference, part.current),
        reading=result.reading,
        kept_p_value=result.kept_p_value,
    )


def write_json(summary: Summary, path: str | PathLike[str] | None = None) -> str:
    """The summary as JSON text (finite numbers only, ASCII), also written to `path` if given."""
    text = json.dumps(plain(summary), allow_nan=False, separators=(",", ":")) + "\n"
    if path is not None:
        write_text(path, text)
    return text


def _choice(columns: Columns) -> Choice:
    return Choice(columns.include, columns.exclude, tuple(columns.kinds.items()))


def _short(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores to the decimals that are written."""
    return np.round(scores, SCORE_DECIMALS)


def _mode(result: Findings, mode: Mode, shown: Gallery) -> ModeSummary:
    return ModeSummary(
        side=mode.side,
        features=mode.features,
        rows=result.positions(mode.side, mode.rows),
        excess=mode.excess,
        excess_interval=mode.excess_interval,
        p_value=mode.p_value,
        purity=mode.purity,
        directions=mode.directions,
        changes=tuple(str(direction) for direction in mode.directions),
        settled=mode.settled,
        origin=mode.origin,
        localisation=None if (found := mode.localisation) is None else Weights(found.weights, found.curve),
        top=top_rows(result, mode),
        picture=picture(result, mode, shown),
    )


def _evidence(result: Findings) -> Evidence:
    calibration, scores = result.calibration, result.scores
    return Evidence(
        reference=calibration.reference,
        current=calibration.current,
        p_reference=calibration.p_reference,
        p_current=calibration.p_current,
        scores_reference=score_tail(scores.reference, scores.nulls.reference),
        scores_current=score_tail(scores.current, scores.nulls.current),
    )


def _scan(result: Findings) -> ScanSummary | None:
    scan = result.scan
    if scan is None or result.params.scan is None:
        return None
    return ScanSummary(
        p_value=scan.p_value,
        n_permutations=scan.n_permutations,
        critical=critical_value(scan.null, result.params.level),
        sets=tuple(_set(result, found) for found in scan.sets),
        pairs=feature_map(scan, result.names),
        smallest=smallest_groups(
            scan,
            result.encoded.categories,
            (result.n_reference, result.n_current),
            result.params.scan,
            result.params.level,
        ),
    )


def _set(result: Findings, found: FeatureSet) -> SetSummary:
    box, where = _place(result, found)
    return SetSummary(
        names=found.names,
        statistic=found.statistic,
        side=found.side,
        value=found.value,
        p_value=found.p_value,
        box=box,
        where=where,
        count_reference=found.count_reference,
        count_current=found.count_current,
    )


def _place(result: Findings, found: FeatureSet) -> tuple[tuple[tuple[float, float], ...], tuple[str, ...]]:
    """Where a box lies, in numbers and in words: by all of its rows, or by its ends if they are not at hand."""
    encoded = result.encoded
    if result.gathered is None:
        rows = found.in_pool(encoded.n_reference)
        return (
            tuple(value_range(encoded, feature, rows) for feature in found.features),
            tuple(place_in_words(encoded, feature, rows) for feature in found.features),
        )
    ends = [(feature, *end) for feature, end in zip(found.features, found.box, strict=True)]
    return tuple(box_range(encoded, *end) for end in ends), tuple(box_in_words(encoded, *end) for end in ends)


def _pruning(result: Findings) -> Pruning | None:
    done = result.equalisation
    if done is None:
        return None
    return Pruning(
        rounds=done.rounds,
        converged=done.converged,
        removed_reference=result.positions("reference", done.removed_reference),
        removed_current=result.positions("current", done.removed_current),
        trace_reference=trace_line(done, "reference"),
        trace_current=trace_line(done, "current"),
    )


def _environment() -> tuple[tuple[str, str], ...]:
    """Versions of what computed the result."""
    libraries = tuple((name, installed_version(name)) for name in LIBRARIES)
    return (("python", platform.python_version()), *libraries, ("machine", f"{platform.system()} {platform.machine()}"))
