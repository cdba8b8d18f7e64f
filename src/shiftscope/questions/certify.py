"""What remains after equalisation, by tests that had no part in it, beside other ways to remove rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from shiftscope.encoding.encode import Encoded
from shiftscope.errors import InputError, ParameterError, check_kind, check_seed, is_whole
from shiftscope.findings import Subset
from shiftscope.json_data import write_fields
from shiftscope.messages import percent
from shiftscope.progress import Progress, checked_progress
from shiftscope.questions.independent_tests import FOLDS, Check, boosted_scores, independent_checks
from shiftscope.results import ShiftResult

CERTIFICATE_SCHEMA = 1
LEAST_CERTIFIED = 10 * FOLDS  # of either sample: fewer cannot be cut into folds that mean anything

SEEDS = 1 << 32  # different ones that scikit-learn knows


@dataclass(frozen=True)
class CertifiedSubset:
    """One pair of subsets and what the independent tests say of it.

    Attributes
    ----------
    name : {"all rows", "equalised", "random removal", "density ratio"}
    n_reference, n_current : int
        Rows kept.
    removed_reference, removed_current : float
        Shares removed of the samples.
    checks : tuple of Check
    """

    name: str
    n_reference: int
    n_current: int
    removed_reference: float
    removed_current: float
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class Certificate:
    """The answer of `certify`.

    Attributes
    ----------
    subsets : tuple of CertifiedSubset
        All rows first, the equalised ones second, then the alternatives.
    n_permutations, random_state : int
    """

    subsets: tuple[CertifiedSubset, ...]
    n_permutations: int
    random_state: int

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """The certificate as JSON text, also written to `path` if given."""
        return write_fields(self, CERTIFICATE_SCHEMA, path)

    def __str__(self) -> str:
        names = [check.name for check in self.subsets[0].checks]
        widths = [max(len(name), 16) for name in names]
        head = "  ".join(name.rjust(width) for name, width in zip(names, widths, strict=True))
        lines = [f"{'':16s} {'removed (ref, cur)':>18s}  {head}"]
        for subset in self.subsets:
            removed = f"{percent(subset.removed_reference)}, {percent(subset.removed_current)}"
            cells = "  ".join(
                f"{check.statistic:.3g} (p {check.p_value:.2g})".rjust(width)
                for check, width in zip(subset.checks, widths, strict=True)
            )
            lines.append(f"{subset.name:16s} {removed:>18s}  {cells}")
        lines.append(
            f"p: share of {self.n_permutations + 1} labellings, the observed one included, that differ as much. "
            "A large p is no proof of equality."
        )
        return "\n".join(lines)


def certify(
    result: ShiftResult,
    subset: Subset | None = None,
    *,
    n_permutations: int = 199,
    alternatives: bool = True,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Certificate:
    """Test both samples before and after equalisation by means that had no part in it.

    Parameters
    ----------
    result : ShiftResult
        Of `compare`; it holds both samples.
    subset : Subset, optional
        What to certify: by default all that the result keeps, else an answer of `result.equalised(...)`.
    n_permutations : int
        Labellings behind each p-value.
    alternatives : bool
        Also test two other ways: as many rows removed at random from either sample, and rows drawn by an estimated
        density ratio, a current row with probability min(1, p / q) and a reference row with min(1, q / p), p and q the
        densities of reference and current: re-weighting, carried out as a choice of rows.
    random_state : int
    progress : callable(stage, fraction), optional

    Returns
    -------
    Certificate
    """
    check_seed(random_state)
    progress = checked_progress(progress)
    check_kind("result", result, ShiftResult)
    encoded = result.encoded
    if subset is not None:
        check_kind("subset", subset, Subset)
        if (subset.n_reference, subset.n_current) != (encoded.n_reference, encoded.n_current):
            raise ParameterError(
                f"subset is one of {subset.n_reference} and {subset.n_current} rows, the result has "
                f"{encoded.n_reference} and {encoded.n_current}; take result.equalised(...) of the same result"
            )
    if not isinstance(alternatives, bool | np.bool_):
        raise ParameterError(f"alternatives must be True or False, got {alternatives!r}")
    if not is_whole(n_permutations, 19):
        raise ParameterError(f"n_permutations must be a whole number of at least 19, got {n_permutations!r}")
    seed = int(random_state) % SEEDS
    subset = subset or Subset(result.kept_reference, result.kept_current, encoded.n_reference, encoded.n_current)
    pairs = list(_pairs(encoded, subset, alternatives=alternatives, seed=seed))
    checked = []
    for number, (name, rows) in enumerate(pairs):
        progress("certify", number / len(pairs))
        checked.append(_checked(encoded, name, rows, n_permutations, seed))
    progress("certify", 1.0)
    return Certificate(tuple(checked), n_permutations, random_state)


def _pairs(
    encoded: Encoded, subset: Subset, *, alternatives: bool, seed: int
) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """Name and kept pool positions of each pair of subsets; refuses what is too small to be tested."""
    kept = np.concatenate([subset.kept_reference, encoded.in_pool(subset.kept_current, current=True)])
    _check_size("the equalised subsets", encoded, kept)
    yield "all rows", np.arange(len(encoded.points))
    yield "equalised", kept
    if alternatives:
        yield "random removal", _random_rows(encoded, subset, np.random.default_rng(seed))
        drawn = density_ratio_rows(encoded.points, encoded.is_current, seed)
        _check_size("the rows drawn by density ratio", encoded, drawn)
        yield "density ratio", drawn


def _check_size(what: str, encoded: Encoded, rows: NDArray[np.intp]) -> None:
    n_current = int(np.sum(rows >= encoded.n_reference))
    if min(n_current, rows.size - n_current) < LEAST_CERTIFIED:
        small = min(encoded.n_reference, encoded.n_current) < LEAST_CERTIFIED
        raise InputError(
            f"{what} have {rows.size - n_current} reference and {n_current} current rows; tests of what remains need "
            f"{LEAST_CERTIFIED} of each: {'give more rows' if small else 'the samples have too little in common'}"
        )


def _random_rows(encoded: Encoded, subset: Subset, rng: np.random.Generator) -> NDArray[np.intp]:
    """As many rows of either sample as the subset keeps, chosen at random."""
    reference = rng.permutation(encoded.n_reference)[: subset.kept_reference.size]
    current = rng.permutation(encoded.n_current)[: subset.kept_current.size]
    return np.concatenate([np.sort(reference), encoded.in_pool(np.sort(current), current=True)])


def density_ratio_rows(points: NDArray[np.float64], is_current: NDArray[np.bool_], seed: int) -> NDArray[np.intp]:
    """Rows drawn so that both samples follow min(p, q), with q / p from out-of-fold boosting."""
    odds = np.empty(len(points))
    for past, now in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(points, is_current):
        odds[now] = boosted_scores(points[past], is_current[past], points[now], seed)
    n_current = int(is_current.sum())
    log_ratio = odds - np.log(n_current / (is_current.size - n_current))
    chance = np.exp(np.minimum(0.0, np.where(is_current, -log_ratio, log_ratio)))
    return np.flatnonzero(np.random.default_rng(seed).random(is_current.size) < chance)


def _checked(encoded: Encoded, name: str, rows: NDArray[np.intp], n_permutations: int, seed: int) -> CertifiedSubset:
    is_current = encoded.is_current[rows]
    n_current = int(is_current.sum())
    n_reference = rows.size - n_current
    return CertifiedSubset(
        name=name,
        n_reference=n_reference,
        n_current=n_current,
        removed_reference=1.0 - n_reference / encoded.n_reference,
        removed_current=1.0 - n_current / encoded.n_current,
        checks=independent_checks(encoded.points[rows], encoded.ranked[rows], is_current, n_permutations, seed),
    )
