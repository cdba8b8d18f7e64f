"""Bidirectional tail equalisation: prune the excess of both samples until neither tail shows any (paper 2.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.encode import Encoded, encode
from shiftscope.encoding.sample_order import Side, canonical, other_side
from shiftscope.errors import given
from shiftscope.full_space.calibrate import Calibration, calibrate
from shiftscope.full_space.null import Null, SimulatedNull
from shiftscope.full_space.score import Nulls
from shiftscope.full_space.shrinking_graph import ShrinkingGraph
from shiftscope.full_space.tail_test import Tail, tail_test
from shiftscope.params import EqualiseParams
from shiftscope.progress import Progress
from shiftscope.samples import ChosenColumns, ChosenEngine, Samples, open_samples, turned
from shiftscope.tables.column_choice import Columns, as_columns
from shiftscope.tables.table import Table

REFERENCE, CURRENT = 0, 1  # labels of the two samples in the pool
STEP_SHARE = 0.01  # of the surplus tail points, taken in one step
MIN_SAMPLE = 2  # pruning never leaves fewer rows than this in a sample


@dataclass(frozen=True)
class TailState:
    """One side's tail at one moment and the p-value of its test."""

    tail: Tail
    p_value: float


@dataclass(frozen=True)
class Step:
    """One pruning step: `rows` of the sample `side` were removed around `point`; `before` is that side's tail then."""

    round: int
    side: Side
    point: int
    rows: NDArray[np.intp]
    before: TailState


@dataclass(frozen=True)
class Equalisation:
    """Subsets of both samples without detectable excess, and what was pruned to reach them.

    Attributes
    ----------
    kept_reference, kept_current : intp arrays
        Row positions of the equalised subsets, ascending.
    removed_reference, removed_current : intp arrays
        Row positions of the pruned representative sets, in order of removal.
    trace : tuple of Step
        Every pruning step.
    before, after : (TailState, TailState)
        Reference and current tails of the input and of the equalised subsets (after global recomputation).
    rounds : int
        Global recomputations done.
    converged : bool
        False if `max_rounds` ended the procedure with a test still rejecting.
    """

    kept_reference: NDArray[np.intp]
    kept_current: NDArray[np.intp]
    removed_reference: NDArray[np.intp]
    removed_current: NDArray[np.intp]
    trace: tuple[Step, ...]
    before: tuple[TailState, TailState]
    after: tuple[TailState, TailState]
    rounds: int
    converged: bool

    def swapped(self) -> Equalisation:
        """The same with the two samples exchanged."""
        return replace(
            self,
            kept_reference=self.kept_current,
            kept_current=self.kept_reference,
            removed_reference=self.removed_current,
            removed_current=self.removed_reference,
            trace=tuple(replace(step, side=other_side(step.side)) for step in self.trace),
            before=self.before[::-1],
            after=self.after[::-1],
        )


def equalise(
    reference: object,
    current: object,
    k_max: int | None = None,
    *,
    columns: ChosenColumns = None,
    params: EqualiseParams | None = None,
    random_state: int = 0,
    engine: ChosenEngine = None,
    progress: Progress | None = None,
) -> Equalisation:
    """Prune both samples until neither shows a tail of excess scores (paper Algorithm 1).

    Pruning moves the pooled mean and spread a little, so the survivors are standardised anew and equalised again until
    a pass removes nothing: equalising an equalised pair removes nothing.

    Parameters
    ----------
    reference, current : array, data frame or path
    k_max : int, optional
        Largest neighbourhood; by default that of `params`.
    columns : Columns or sequence of str, optional
        Which columns take part, and as what.
    params : EqualiseParams, optional
    random_state : int
        Seed of labellings and simulated nulls.
    engine : Engine or str, optional
        As for `compare`.
    progress : callable(stage, fraction), optional
    """
    params = given(params, EqualiseParams)
    params = params if k_max is None else replace(params, k_max=k_max)
    with open_samples(
        reference, current, columns=columns, engine=engine, random_state=random_state, progress=progress
    ) as samples:
        samples.need_all_rows("equalise")
        return _in_passes(samples, params, as_columns(columns))


def _in_passes(samples: Samples, params: EqualiseParams, columns: Columns) -> Equalisation:
    """Pass after pass, each of what the last one left, until a pass removes nothing."""
    pair, flipped, tables = samples.encoded, samples.pool.flipped, samples.tables()
    total: Equalisation | None = None
    while True:
        graph = ShrinkingGraph(
            pair.points, pair.is_current, params.k_max, samples.engine, progress=samples.stage("neighbours")
        )
        part = equalise_graph(graph, params, random_state=samples.random_state, progress=samples.stage("equalise"))
        last = not part.trace or not part.converged or _identical(pair, part)
        part = turned(part, flipped)
        total = part if total is None else _join(total, part)
        if last:
            return total
        pair, flipped = canonical(encode(*_survivors(tables, total), columns))


def equalise_graph(
    graph: ShrinkingGraph,
    params: EqualiseParams,
    *,
    random_state: int = 0,
    calibration: Calibration | None = None,
    progress: Callable[[float], None] | None = None,
) -> Equalisation:
    """Algorithm 1 on the neighbour graph of a pool in its fixed metric; points are taken out of `graph`.

    `calibration`, if given, is that of the untouched graph. A calibration serves round after round, since the law of
    the scaled statistics hardly moves as rows go; what passes it must pass a fresh one of the rows that are left.
    """
    trace: list[Step] = []
    states: list[tuple[TailState, TailState]] = []
    for round_ in range(1, params.max_rounds + 2):  # the last one only looks at what the others left
        scores = graph.all_scores()
        judge = _Judge(graph, scores, params, random_state, calibration)
        if trace and judge.calibration is calibration is not None and not judge.rejects(judge.states(scores)):
            judge = _Judge(graph, scores, params, random_state, None)
        calibration = judge.calibration
        tails = judge.tails(scores)
        states.append(judge.states(scores))
        if not judge.rejects(states[-1]) or graph.exhausted(MIN_SAMPLE) or round_ > params.max_rounds:
            break
        steps_before = len(trace)
        _prune(graph, judge, tails, round_, params, trace)
        if len(trace) == steps_before:  # the next step would empty a sample
            break
        if progress is not None:
            progress(min(0.99, 1.0 - 0.5**round_))
    if progress is not None:
        progress(1.0)
    return _collect(graph, trace, states, converged=not judge.rejects(states[-1]))


class _Judge:
    """The two tail tests of one round: thresholds tau and critical values fixed at its start."""

    def __init__(
        self,
        graph: ShrinkingGraph,
        scores: NDArray[np.float64],
        params: EqualiseParams,
        random_state: int,
        calibration: Calibration | None,
    ) -> None:
        self.alpha = params.alpha
        self.nulls = graph.nulls()
        self.tests = tuple(tail_test(null, params.q_tail) for null in _tail_nulls(self.nulls, params, random_state))
        self.calibration: Calibration | None = None
        if params.threshold == "calibrated":
            self.calibration = calibration or calibrate(
                graph.compact(),
                graph.living_labels(),
                scores[graph.living()],
                q_tail=params.q_tail,
                n_permutations=params.n_permutations,
                random_state=random_state,
            )
        self.label = graph.is_current

    def tails(self, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        """Pool positions of the candidates of both sides: scores (0 for the dead) at or above their side's tau."""
        taus = np.array([test.tau for test in self.tests])
        return np.flatnonzero(scores >= taus[self.label.astype(np.intp)])

    def states(self, scores: NDArray[np.float64], rows: NDArray[np.intp] | None = None) -> tuple[TailState, TailState]:
        """Both tails as they stand; `scores` belong to `rows` (default: the whole pool)."""
        label = self.label if rows is None else self.label[rows]
        return self._state(REFERENCE, scores[~label]), self._state(CURRENT, scores[label])

    def _state(self, side: int, scores: NDArray[np.float64]) -> TailState:
        tail = self.tests[side].compare(scores)
        if self.calibration is None:
            return TailState(tail, self.tests[side].formula_p_value(tail.distance, tail.count))
        return TailState(tail, self.calibration.shape_p_value(tail, current=side == CURRENT))

    def active(self, state: TailState) -> bool:
        return state.tail.count > 0 and state.p_value <= self.alpha

    def rejects(self, states: tuple[TailState, TailState]) -> bool:
        return any(self.active(state) for state in states)


def _tail_nulls(nulls: Nulls, params: EqualiseParams, random_state: int) -> tuple[Null, Null]:
    if params.null == "exact":
        return nulls.reference, nulls.current
    return (
        SimulatedNull(nulls.reference.k_max, nulls.reference.p, random_state=random_state),
        SimulatedNull(nulls.current.k_max, nulls.current.p, random_state=random_state),
    )


def _prune(
    graph: ShrinkingGraph,
    judge: _Judge,
    candidates: NDArray[np.intp],
    round_: int,
    params: EqualiseParams,
    trace: list[Step],
) -> None:
    """The inner loop of Algorithm 1: prune and rescore the tail candidates only, until their tests pass."""
    scores = graph.scores(candidates, judge.nulls)
    states = judge.states(scores, candidates)
    while judge.rejects(states):
        for side in (CURRENT, REFERENCE):
            if not judge.active(states[side]):
                continue
            mine = candidates[(judge.label[candidates] == side) & graph.alive[candidates]]
            order = np.argsort(-scores[np.searchsorted(candidates, mine)], kind="stable")
            tail = states[side].tail
            step = params.step or max(1, round(STEP_SHARE * tail.distance * tail.count))
            for point in mine[order[:step]]:
                room = graph.size(side) - MIN_SAMPLE
                if room < 1:
                    return
                if graph.alive[point]:
                    rows = graph.excess_neighbourhood(int(point))[:room]
                    graph.remove(rows)
                    trace.append(_step(graph, round_, side, int(point), rows, states[side]))
        keep = graph.alive[candidates]
        candidates = candidates[keep]
        scores = graph.scores(candidates, judge.nulls)
        states = judge.states(scores, candidates)


def _step(graph: ShrinkingGraph, round_: int, side: int, point: int, rows: NDArray[np.intp], before: TailState) -> Step:
    own = graph.own_position
    return Step(round_, "current" if side == CURRENT else "reference", int(own[point]), own[rows], before)


def _collect(
    graph: ShrinkingGraph, trace: list[Step], states: list[tuple[TailState, TailState]], *, converged: bool
) -> Equalisation:
    living = np.flatnonzero(graph.alive)
    own = graph.own_position
    removed = [
        np.concatenate([np.empty(0, np.intp), *(step.rows for step in trace if step.side == side)])
        for side in ("reference", "current")
    ]
    return Equalisation(
        kept_reference=np.sort(own[living[~graph.is_current[living]]]),
        kept_current=np.sort(own[living[graph.is_current[living]]]),
        removed_reference=removed[0],
        removed_current=removed[1],
        trace=tuple(trace),
        before=states[0],
        after=states[-1],
        rounds=len(states),
        converged=converged,
    )


def _survivors(tables: tuple[Table, Table], done: Equalisation) -> tuple[Table, Table]:
    return tables[0].rows(done.kept_reference), tables[1].rows(done.kept_current)


def _identical(pair: Encoded, part: Equalisation) -> bool:
    """Whether all surviving rows of a pass are the same: there is nothing left to compare."""
    kept = np.concatenate([part.kept_reference, pair.in_pool(part.kept_current, current=True)])
    return bool(np.all(np.ptp(pair.points[kept], axis=0) == 0))


def _join(first: Equalisation, second: Equalisation) -> Equalisation:
    """Two passes as one: the second's positions refer to what the first kept."""
    kept = {"reference": first.kept_reference, "current": first.kept_current}
    steps = tuple(
        replace(
            step,
            round=step.round + first.rounds,
            point=int(kept[step.side][step.point]),
            rows=kept[step.side][step.rows],
        )
        for step in second.trace
    )
    return Equalisation(
        kept_reference=kept["reference"][second.kept_reference],
        kept_current=kept["current"][second.kept_current],
        removed_reference=np.concatenate([first.removed_reference, kept["reference"][second.removed_reference]]),
        removed_current=np.concatenate([first.removed_current, kept["current"][second.removed_current]]),
        trace=first.trace + steps,
        before=first.before,
        after=second.after,
        rounds=first.rounds + second.rounds,
        converged=second.converged,
    )
