"""Suspected rows: in which features, if in any, do the rows that a person names stand out?

The hypothesis is that the suspected rows are a random choice of the current rows. The scan counts them in the cells of
small feature sets, against all other rows of both samples. Every labelling names as many other rows of the current
sample, never of the reference, and goes through the whole search: the p-value is exact after all the searching,
whether or not the current sample as a whole differs from the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.encode import Encoded
from shiftscope.encoding.features import columns_of
from shiftscope.engines.base import Engine
from shiftscope.errors import InputError, ParameterError, alpha_fault, given
from shiftscope.full_space.score import check_k_max
from shiftscope.full_space.shrinking_graph import ShrinkingGraph
from shiftscope.json_data import write_fields
from shiftscope.messages import listed
from shiftscope.modes.best_features import best_features, by_strength
from shiftscope.modes.describe import directions
from shiftscope.modes.from_scan import holds_levels
from shiftscope.modes.level_excess import sharpen
from shiftscope.modes.mode import Direction
from shiftscope.params import DEFAULT_K_MAX, ModeParams, ScanParams
from shiftscope.progress import Progress
from shiftscope.questions.matched_rows import telling_features
from shiftscope.samples import ChosenColumns, ChosenEngine, Samples, open_samples
from shiftscope.subspaces.scan import scan_points
from shiftscope.subspaces.scan_result import FeatureSet, ScanResult

DEFAULT_ALPHA = 0.01
MODES = ModeParams()
ROWS_SCHEMA = 1


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
        return write_fields(self, ROWS_SCHEMA, path, without="scan")

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


def explain_rows(
    reference: object,
    current: object,
    rows: Sequence[int] | NDArray[Any],
    *,
    alpha: float = DEFAULT_ALPHA,
    columns: ChosenColumns = None,
    params: ScanParams | None = None,
    k_max: int = DEFAULT_K_MAX,
    random_state: int = 0,
    engine: ChosenEngine = None,
    progress: Progress | None = None,
) -> RowsExplanation:
    """Find the features in which suspected rows of the current sample are anomalous, or say that there are none.

    Parameters
    ----------
    reference, current : array, data frame or path
        The two samples; columns are matched by name.
    rows : positions or mask
        The suspected rows: positions in `current`, or one bool per row of it. They must have been chosen without
        looking at the columns compared; rows that a search of the same columns returned explain themselves.
    alpha : float
        How often random rows may be "explained".
    columns : Columns or sequence of str, optional
    params : ScanParams, optional
    k_max : int
        Largest neighbourhood behind the scores that settle the features.
    random_state : int
    engine : Engine or str, optional
        As for `compare`.
    progress : callable(stage, fraction), optional

    Returns
    -------
    RowsExplanation
    """
    fault = alpha_fault(alpha)
    if fault is not None:
        raise ParameterError(fault)
    check_k_max(k_max)
    params = replace(given(params, ScanParams), level=alpha)
    with open_samples(
        reference, current, columns=columns, engine=engine, random_state=random_state, progress=progress
    ) as samples:
        samples.need_all_rows("explain_rows")
        return _explained(samples, rows, params, k_max)


def _explained(samples: Samples, rows: Sequence[int] | NDArray[Any], params: ScanParams, k_max: int) -> RowsExplanation:
    """The two samples play different parts here, so they are taken in the user's order."""
    encoded, alpha = samples.as_given, params.level
    suspected = _positions(rows, encoded.n_current)
    pool = _Suspects.of(encoded, suspected)
    scan = scan_points(
        encoded.ranked[pool.order],
        len(pool.order) - suspected.size,
        encoded.names,
        params,
        categories=encoded.categories,
        fixed=encoded.n_reference,
        random_state=samples.random_state,
        progress=samples.progress,
    )
    _check_reachable(scan, alpha)
    explained = scan.p_value <= alpha
    features, outstanding = (
        _settled(pool, scan.sets[0], k_max, alpha, samples.engine) if explained else ((), np.empty(0, np.intp))
    )
    return RowsExplanation(
        explained=explained,
        p_value=scan.p_value,
        alpha=alpha,
        features=tuple(encoded.names[feature] for feature in features),
        rows=encoded.in_samples(np.sort(outstanding))[1],
        suspected=suspected,
        directions=directions(encoded, True, outstanding, features) if explained else (),
        inside=_counted(pool, features, outstanding) if explained else None,
        n_reference=encoded.n_reference,
        n_current=encoded.n_current,
        scan=scan.in_units_of(encoded),
    )


def _positions(rows: Sequence[int] | NDArray[Any], n_current: int) -> NDArray[np.intp]:
    """The suspected rows as distinct, increasing positions."""
    given = np.asarray(rows)
    if given.dtype == np.bool_:
        if given.shape != (n_current,):
            raise InputError(f"rows: a mask of shape {given.shape} was given; it needs one value per row: {n_current}")
        given = np.flatnonzero(given)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise InputError(f"rows must be positions in current, found {given.dtype} of shape {given.shape}")
    if given.size == 0:
        raise InputError("rows: none is given; name at least one suspected row of current")
    if given.min() < 0 or given.max() >= n_current:
        raise InputError(
            f"rows must lie between 0 and {n_current - 1}, the last row of current, found {given.min()} to "
            f"{given.max()}; count from 0"
        )
    positions = np.unique(given).astype(np.intp)
    if positions.size == n_current:
        raise InputError("rows: all rows of current are suspected; compare(reference, current) is the test of that")
    return positions


@dataclass(frozen=True)
class _Suspects:
    """The pooled rows, and which of them are suspected.

    Attributes
    ----------
    encoded : Encoded
    suspected : (n,) bool
        By pool position.
    order : (n,) intp
        Pool positions in the order of the scan: reference, other current rows, suspected rows.
    """

    encoded: Encoded
    suspected: NDArray[np.bool_]
    order: NDArray[np.intp]

    @classmethod
    def of(cls, encoded: Encoded, rows: NDArray[np.intp]) -> _Suspects:
        suspected = np.zeros(len(encoded.points), dtype=np.bool_)
        suspected[encoded.in_pool(rows, current=True)] = True
        return cls(encoded, suspected, np.argsort(suspected, kind="stable"))


def _check_reachable(scan: ScanResult, alpha: float) -> None:
    if (scan.n_permutations + 1) * alpha < 1.0:
        raise ParameterError(
            f"alpha = {alpha:g} is out of reach of {scan.n_permutations} labellings; take a larger alpha or "
            f"params=ScanParams(n_permutations={int(np.ceil(1 / alpha)) - 1}) or more"
        )


def _settled(
    pool: _Suspects, found: FeatureSet, k_max: int, alpha: float, engine: Engine
) -> tuple[tuple[int, ...], NDArray[np.intp]]:
    """From the strongest set to the features in which the suspected rows stand out most, and those rows."""
    encoded, labels = pool.encoded, pool.suspected
    n_others = labels.size - int(labels.sum())
    held = pool.order[found.in_pool(n_others)]
    if all(holds_levels(encoded, found)):
        features, held = sharpen(encoded.ranked, labels, encoded.categories, found.features, held)
        return features, held[labels[held]] if found.side == "current" else np.flatnonzero(labels)
    if found.side == "reference":  # the suspected rows keep out of the box: all of them do
        return found.features, np.flatnonzero(labels)
    surplus = round(labels[held].sum() - held.size * labels.mean())
    features, anchors = best_features(
        encoded.points, labels, found.features, np.flatnonzero(labels), surplus, k_max, encoded.groups, MODES
    )
    features = telling_features(encoded, labels, features, alpha, engine)
    features = by_strength(
        encoded.points, labels, features, anchors[: MODES.climbing_anchors], k_max, encoded.groups, MODES
    )
    return features, _outstanding(encoded, labels, features, anchors, k_max, engine)


def _outstanding(
    encoded: Encoded,
    labels: NDArray[np.bool_],
    features: tuple[int, ...],
    anchors: NDArray[np.intp],
    k_max: int,
    engine: Engine,
) -> NDArray[np.intp]:
    """Suspected rows whose score is larger than chance allows once among so many; at least the anchors that climbed."""
    subspace = np.ascontiguousarray(encoded.points[:, columns_of(encoded.groups, features)])
    graph = ShrinkingGraph(subspace, labels, k_max, engine, rows=np.flatnonzero(labels))
    nulls = graph.nulls()
    scores = graph.scores(graph.rows, nulls)
    return np.union1d(graph.rows[scores >= nulls.current.threshold(1.0 / max(2, graph.rows.size))], anchors)


def _counted(pool: _Suspects, features: tuple[int, ...], rows: NDArray[np.intp]) -> Inside:
    """Rows of each kind in the smallest box, along the features, that holds `rows`."""
    encoded = pool.encoded
    inside = np.ones(len(encoded.points), dtype=np.bool_)
    for feature in features:
        values = encoded.ranked[:, feature]
        if encoded.features[feature].kind == "category":
            inside &= np.isin(values, values[rows])
        else:
            inside &= (values >= values[rows].min()) & (values <= values[rows].max())
    return Inside(
        suspected=int(np.sum(inside & pool.suspected)),
        other_current=int(np.sum(inside & encoded.is_current & ~pool.suspected)),
        reference=int(np.sum(inside & ~encoded.is_current)),
    )
