"""Which features make the queries' neighbourhoods rich in targets (paper 2.3, Supp. S1-S5).

One non-negative weight per feature is learned by ascending the soft target mass of the queries'
neighbourhoods; features are then ranked by weight, and `feature_count` says how many to keep.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from shiftscope.encoding.features import Groups, columns_of
from shiftscope.errors import InputError, ParameterError, check_seed, given
from shiftscope.kernels.enrichment import LINES, batch_distances, weighted_spread
from shiftscope.modes.feature_count import Curve, best_size, cross_validate, gap_size
from shiftscope.params import LocaliseParams

NORMALISER = 1e-8  # stabiliser of the weight budget (S2)
SMALLEST_REACH = 1e-30  # distance of the k-th neighbour where k rows coincide
LOWEST_TAU = 1e-6  # guard of the temperature (S3)
ADAM_MEAN, ADAM_SQUARE, ADAM_FLOOR = 0.9, 0.999, 1e-8  # Adam's usual constants (S4)
SECOND_CHANCE = 0.5  # effective weight that a faded feature gets back at the start of the second pass
NEGLIGIBLE = 1e-3  # share of the weights' norm below which a feature adds a millionth to distances


@dataclass(frozen=True)
class Localisation:
    """The features that make the queries' neighbourhoods rich in targets.

    Attributes
    ----------
    weights : (d,) array
        Effective weights; their sum is d.
    features : tuple of int
        Positions of the selected features, strongest first.
    curve : Curve
        Cross-validated enrichment per number of features.
    objective : (epochs,) array
        Mean soft target mass of the queries of each mini-batch.
    """

    weights: NDArray[np.float64]
    features: tuple[int, ...]
    curve: Curve
    objective: NDArray[np.float64]


def localise(
    pool: ArrayLike,
    target: ArrayLike,
    query: ArrayLike | None = None,
    params: LocaliseParams | None = None,
    *,
    batch: Literal["corrected", "paper"] | None = None,
    groups: Groups | None = None,
    random_state: int | np.random.Generator = 0,
) -> Localisation:
    """Find the features in which the neighbours of `query` rows are mostly `target` rows (paper 2.3).

    Two forms. ``batch="paper"`` follows Supp. S1-S5 to the letter. ``batch="corrected"``, the default, mends
    what makes that text fragile and leaves the rest as it is:

    - Squared distances grow with d (about 2 d between standardised rows), so ``exp(-D / tau)`` sees a single
      neighbour. Here the logits are ``-D / (2 tau D_k)`` with ``D_k`` the distance of the k-th neighbour: a
      Gaussian of variance ``tau D_k``. Dividing by ``tau d`` mends the start only: the weights of m features
      grow to d / m, and with hundreds of features the neighbourhood shrinks to single rows again.
    - Half of a batch are queries, which are targets themselves, so the objective starts near one and its
      gradient is noise. Here a batch holds `background` other rows, and column j has the log-weight
      ``log(share of its stratum in the pool / share in the batch)``: the soft neighbourhood estimates the one
      of the whole pool. The k columns themselves are chosen by distance alone; by weighted logits, all of
      them would come from one stratum as soon as the log-weights differ more than the scaled distances do.
    - A weight near zero has no gradient (``D`` is quadratic in it), so a feature that faded in the noise of the
      first epochs never returns. Here the temperature is annealed over the first half of the epochs, then every
      weight below half the mean is lifted to it, and a second pass at the final temperature follows.
    - The best subset size is often a tie. Here, among the sizes whose score is within one standard error of
      the best, the one behind which the weights drop most is taken.

    Parameters
    ----------
    pool : (n, d) array-like
        Rows of both samples, finite. Distances are Euclidean: standardise the columns first.
    target : (n,) bool array-like
        Rows of the sample in excess.
    query : (n,) bool array-like, optional
        Anchors whose neighbourhoods are enriched, usually targets with high evidence; all targets by default.
    params : LocaliseParams, optional
    batch : {"corrected", "paper"}, optional
        Shorthand that overrides ``params.batch``.
    groups : tuple of tuples of int, optional
        Columns of `pool` that form one feature and have one weight; by default every column is a feature.
    random_state : int or Generator
        Draws the mini-batches and the folds; the same seed gives the same result on any number of threads.
    """
    params = given(params, LocaliseParams)
    params = params if batch is None else replace(params, batch=batch)
    points, is_target, is_query = _checked(pool, target, query)
    if not isinstance(random_state, np.random.Generator):
        check_seed(random_state)
    rng = np.random.default_rng(random_state)
    groups = tuple((column,) for column in range(points.shape[1])) if groups is None else groups
    _check_groups(groups, points.shape[1])
    weights, objective = _learn(points, is_target, is_query, params, rng, groups)
    ranking = np.argsort(-weights, kind="stable")
    curve = cross_validate(
        points,
        is_target,
        is_query,
        ranking,
        k=params.k,
        beta=params.beta,
        folds=params.folds,
        rng=rng,
        groups=groups,
    )
    size = best_size(curve) if params.batch == "paper" else gap_size(curve, weights[ranking])
    return Localisation(weights, tuple(int(f) for f in ranking[:size]), curve, objective)


def _checked(
    pool: ArrayLike, target: ArrayLike, query: ArrayLike | None
) -> tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_]]:
    """The pool as a finite (n, d) matrix and both masks, or one line that says what is wrong."""
    try:
        points = np.asarray(pool, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"pool must be numeric ({error}); encode its columns first") from None
    if points.ndim != 2 or 0 in points.shape:
        raise InputError(f"pool must be a matrix of rows and features (got shape {points.shape}); pass a 2-D array")
    if not np.isfinite(points).all():
        row, column = np.argwhere(~np.isfinite(points))[0]
        raise InputError(f"pool must be finite (row {row}, column {column} is not); impute or drop such rows first")
    is_target = _mask("target", target, len(points))
    is_query = is_target if query is None else _mask("query", query, len(points))
    if is_target.all() or not is_target.any():
        raise InputError(
            f"target must mark some rows but not all (got {is_target.sum()} of {len(points)}); "
            "mark the rows of one of the two samples"
        )
    if is_query.sum() < 2:
        raise InputError(f"query must mark at least 2 rows (got {is_query.sum()}); mark more anchors")
    centred = points - points.mean(axis=0)  # single precision is finest around zero
    return centred.astype(np.float32), is_target, is_query


def _check_groups(groups: Any, n_columns: int) -> None:
    """Refuse groups that do not name every column once."""
    try:
        fits = all(groups) and sorted(column for group in groups for column in group) == list(range(n_columns))
    except (TypeError, ValueError):  # not what groups are made of
        fits = False
    if not fits:
        raise ParameterError(
            f"groups must name each of the {n_columns} columns of pool once, such as ((0, 1), (2,)), got {groups!r}"
        )


def _mask(name: str, mask: ArrayLike, n: int) -> NDArray[np.bool_]:
    """`mask` as a boolean vector of length n."""
    values = np.asarray(mask)
    if values.dtype != np.bool_ or values.shape != (n,):
        raise InputError(
            f"{name} must be a boolean mask of shape ({n},), one entry per row of pool "
            f"(got {values.dtype} of shape {values.shape}); compare or index to make one"
        )
    return values


def _learn(
    pool: NDArray[np.float32],
    target: NDArray[np.bool_],
    query: NDArray[np.bool_],
    params: LocaliseParams,
    rng: np.random.Generator,
    groups: Groups,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Effective weights and the objective per epoch: S2-S4, by Adam with an annealed temperature."""
    d = len(groups)
    owner = np.empty(pool.shape[1], dtype=np.intp)  # the feature of each column
    owner[columns_of(groups, range(d))] = np.repeat(np.arange(d), [len(group) for group in groups])
    epochs, learning_rate = params.schedule
    adam = _Adam(np.zeros(d), learning_rate)
    objective = np.empty(epochs)
    temperatures, second_pass = _temperatures(params)
    for epoch, (batch, tau) in enumerate(zip(_batches(query, params, rng), temperatures, strict=False)):
        if epoch == second_pass:
            adam = _Adam(_lifted(adam.latent), learning_rate)
        raw, scale = _raw_weights(adam.latent)
        rows = pool[batch.rows]
        weights = (raw * scale)[owner]
        chosen, distance = batch_neighbours(rows, weights, batch.n_queries, params.k)
        objective[epoch], slope = soft_enrichment(
            rows, target[batch.rows], batch.offset, weights, chosen, distance, _sharpness(distance, tau, params)
        )
        slopes = np.bincount(owner, weights=slope, minlength=d).astype(np.float64)
        adam.descend((params.l1 - slopes * scale) * expit(adam.latent))
    raw, _ = _raw_weights(adam.latent)
    return raw * (d / raw.sum()), objective


def _temperatures(params: LocaliseParams) -> tuple[NDArray[np.float64], int | None]:
    """Temperature of each epoch, and the epoch at which the second pass of the corrected form starts."""
    epochs, _ = params.schedule
    if params.batch == "paper":
        return np.geomspace(params.tau_start, params.tau_end, epochs), None
    first = -(-epochs // 2)
    annealed = np.geomspace(params.tau_start, params.tau_end, first)
    return np.append(annealed, np.full(epochs - first, params.tau_end)), first


def _lifted(latent: NDArray[np.float64]) -> NDArray[np.float64]:
    """Latent weights of a second pass: the effective weights found, those of faded features lifted."""
    raw, scale = _raw_weights(latent)
    lifted: NDArray[np.float64] = np.log(np.expm1(np.log(2.0) * np.maximum(raw * scale, SECOND_CHANCE)))
    return lifted


class _Adam:
    """Adam on the latent weights, with its usual constants (S4)."""

    def __init__(self, latent: NDArray[np.float64], learning_rate: float) -> None:
        self.latent = latent
        self._rate = learning_rate
        self._mean = np.zeros_like(latent)
        self._square = np.zeros_like(latent)
        self._steps = 0

    def descend(self, gradient: NDArray[np.float64]) -> None:
        """One step against `gradient`."""
        self._steps += 1
        self._mean = ADAM_MEAN * self._mean + (1 - ADAM_MEAN) * gradient
        self._square = ADAM_SQUARE * self._square + (1 - ADAM_SQUARE) * gradient**2
        mean = self._mean / (1 - ADAM_MEAN**self._steps)
        square = self._square / (1 - ADAM_SQUARE**self._steps)
        self.latent = self.latent - self._rate * mean / (np.sqrt(square) + ADAM_FLOOR)


def _raw_weights(latent: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Raw weights ``softplus(latent)`` and the factor that makes them effective: their sum becomes d (S2)."""
    raw = np.logaddexp(0.0, latent)
    return raw, latent.size / (raw.sum() + NORMALISER)


@dataclass(frozen=True)
class _Batch:
    """Rows of a mini-batch, queries first, and the log-weight of each as a neighbour."""

    rows: NDArray[np.intp]
    n_queries: int
    offset: NDArray[np.float32]


def _batches(query: NDArray[np.bool_], params: LocaliseParams, rng: np.random.Generator) -> Iterator[_Batch]:
    """Mini-batches without end, stratified by query, without replacement (S4)."""
    queries, others = np.flatnonzero(query), np.flatnonzero(~query)
    n_queries = min(queries.size, max(2, round(params.batch_size * params.query_fraction)))
    wanted = params.background if params.batch == "corrected" else params.batch_size - n_queries
    n_others = min(others.size, wanted)
    offset = np.zeros(n_queries + n_others, np.float32)
    if params.batch == "corrected":
        offset[:n_queries] = np.log(queries.size / n_queries)
        offset[n_queries:] = np.log(max(others.size, 1) / max(n_others, 1))
    while True:
        drawn = [
            rng.choice(queries, n_queries, replace=False, shuffle=False),
            rng.choice(others, n_others, replace=False, shuffle=False),
        ]
        yield _Batch(np.concatenate(drawn), n_queries, offset)


def batch_neighbours(
    rows: NDArray[np.floating], weights: NDArray[np.float64], n_queries: int, k: int
) -> tuple[NDArray[np.intp], NDArray[np.floating]]:
    """The k nearest rows of each query of a batch, itself excluded, and their distances (S3).

    Parameters
    ----------
    rows : (b, d) array
        The batch; its first `n_queries` rows are the queries.
    weights : (d,) array
        Effective weights.

    Returns
    -------
    chosen, distance : (n_queries, k) arrays
        Positions in the batch, in any order, and ``D_ij = sum_f w_f^2 (z_if - z_jf)^2``.
    """
    active = np.flatnonzero(weights > NEGLIGIBLE * np.sqrt(np.sum(weights * weights)))
    scaled = np.zeros((-(-active.size // LINES) * LINES, len(rows)), rows.dtype)
    np.multiply(rows.T[active], weights[active, None].astype(rows.dtype), out=scaled[: active.size])
    distance = batch_distances(scaled, n_queries)
    k = min(k, len(rows) - 1)
    chosen = np.argpartition(distance, k - 1, axis=1)[:, :k]
    return chosen, np.take_along_axis(distance, chosen, axis=1)


def _sharpness(distance: NDArray[np.floating], tau: float, params: LocaliseParams) -> NDArray[np.floating]:
    """Factor between distance and logit, per query: (q, 1)."""
    if params.batch == "paper":
        return np.full((len(distance), 1), 1 / max(LOWEST_TAU, tau), distance.dtype)
    reach = np.maximum(distance.max(axis=1, keepdims=True), SMALLEST_REACH)
    sharpness: NDArray[np.floating] = (1 / (2 * tau * reach)).astype(distance.dtype)
    return sharpness


def soft_enrichment(
    rows: NDArray[np.floating],
    target: NDArray[np.bool_],
    offset: NDArray[np.floating],
    weights: NDArray[np.float64],
    chosen: NDArray[np.intp],
    distance: NDArray[np.floating],
    sharpness: NDArray[np.floating],
) -> tuple[float, NDArray[np.float64]]:
    """Mean soft target mass of a batch and its gradient with respect to the effective weights (S3-S4).

    ``P_ij`` is the softmax of ``offset_j - sharpness_i D_ij`` over the neighbours of query i, and
    ``m_i = sum_j P_ij t_j``. With neighbours and sharpness held fixed, and ``G_ij = P_ij (t_j - m_i)``,

    ``d m_i / d w_f = -2 w_f sharpness_i sum_j G_ij (z_if - z_jf)^2``.

    Parameters
    ----------
    rows : (b, d) array
        The batch, queries first.
    target : (b,) bool array
    offset : (b,) array
        Log-weight of each row as a neighbour.
    weights : (d,) array
        Effective weights.
    chosen, distance : (q, k) arrays
        From `batch_neighbours`.
    sharpness : (q, 1) array
        One over the temperature.
    """
    logit = offset[chosen] - sharpness * distance
    share = np.exp(logit - logit.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    hit = target[chosen]
    mass = (share * hit).sum(axis=1, keepdims=True)
    spread = weighted_spread(rows, chosen, sharpness * share * (hit - mass))
    return float(mass.mean()), -2 / len(chosen) * weights * spread
