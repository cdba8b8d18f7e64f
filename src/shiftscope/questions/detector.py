"""ShiftDetector: a reference read once and compared with many currents, in the manner of scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from shiftscope._compare import checked_settings, compare
from shiftscope.errors import InputError
from shiftscope.params import CompareParams
from shiftscope.progress import Progress
from shiftscope.questions.detector_file import SavedDetector, read_detector, write_detector
from shiftscope.results import ShiftResult
from shiftscope.samples import ChosenColumns, ChosenEngine, check_engine
from shiftscope.tables.column_choice import as_columns
from shiftscope.tables.column_kinds import Column, Unusable
from shiftscope.tables.table import Table, read_table


class ShiftDetector(BaseEstimator):  # type: ignore[misc]
    """A reference sample, to be compared with many current ones.

    `ShiftDetector(...).fit(reference).compare(current)` is `compare(reference, current, ...)` to the last bit. The
    reference is read, coerced and checked once. Nothing else can be kept without changing results: scales, bins and
    neighbours are those of the *pool* of both samples, which every current sample moves.

    Parameters
    ----------
    alpha, columns, params, random_state, engine
        As for `compare`. They are stored untouched and checked by `fit` and by `compare`.

    Attributes
    ----------
    table_ : Table
        The reference, coerced, in memory of its own.
    n_features_in_ : int
    feature_names_in_ : (n_features_in_,) array of str
        Only if the reference had names of its own.
    """

    def __init__(
        self,
        *,
        alpha: float | None = None,
        columns: ChosenColumns = None,
        params: CompareParams | None = None,
        random_state: int = 0,
        engine: ChosenEngine = None,
    ) -> None:
        self.alpha = alpha
        self.columns = columns
        self.params = params
        self.random_state = random_state
        self.engine = engine

    def fit(self, X: object, y: object = None) -> ShiftDetector:
        """Read the reference sample: an array, a data frame or a path. `y` is there by convention and not used."""
        checked_settings(self.alpha, self.params, self.random_state)
        as_columns(self.columns)
        check_engine(self.engine)
        _refuse_what_scikit_learn_refuses(X)
        return self._remember(own_copy(read_table(X, "reference")))

    def compare(self, current: object, *, progress: Progress | None = None) -> ShiftResult:
        """Compare a current sample with the reference; the result is that of `shiftscope.compare`."""
        return compare(
            self.reference_table(),
            current,
            alpha=self.alpha,
            columns=self.columns,
            random_state=self.random_state,
            params=self.params,
            engine=self.engine,
            progress=progress,
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted detector to one file, whole or not at all; the engine stays behind."""
        saved = SavedDetector(self.alpha, self.columns, self.params, self.random_state, self.reference_table())
        write_detector(saved, path)

    @classmethod
    def load(cls, path: str | PathLike[str], *, engine: ChosenEngine = None) -> ShiftDetector:
        """Read a saved detector.

        Raises
        ------
        InputError
            If the file is missing, damaged, of another kind or of a newer version.
        """
        saved = read_detector(path)
        detector = cls(
            alpha=saved.alpha,
            columns=saved.columns,
            params=saved.params,
            random_state=saved.random_state,
            engine=engine,
        )
        return detector._remember(saved.table)

    def reference_table(self) -> Table:
        """The reference that `fit` has read."""
        if not hasattr(self, "table_"):
            raise NotFittedError("this ShiftDetector is not fitted yet; call fit(reference) first")
        return self.table_

    def settings(self) -> CompareParams:
        """All settings of the comparison, `alpha` included."""
        return checked_settings(self.alpha, self.params, self.random_state)

    def _remember(self, table: Table) -> ShiftDetector:
        self.table_ = table
        self.n_features_in_ = len(table.names)
        if table.positional:
            self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        else:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "table_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # missing values are values here
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def own_copy(table: Table) -> Table:
    """The table in read-only memory of its own: later changes of the user's data must not reach it."""
    columns: list[Column | Unusable] = []
    for column in table.columns:
        if isinstance(column, Unusable):
            columns.append(column)
            continue
        values = column.values.copy()
        values.flags.writeable = False
        columns.append(replace(column, values=values))
    return replace(table, columns=tuple(columns))


def _refuse_what_scikit_learn_refuses(data: object) -> None:
    """Errors that callers of any estimator rely on, in the words that scikit-learn's own checks look for."""
    if issparse(data):
        raise TypeError("reference: sparse data were passed, but dense data are required; use .toarray()")
    if not isinstance(data, np.ndarray):
        return
    if data.ndim == 1:
        raise InputError("reference: expected a 2D array, got a 1D array; Reshape your data with .reshape(-1, 1)")
    if data.dtype.kind == "c":
        raise InputError("reference: Complex data not supported; split real and imaginary parts into columns")
    if data.ndim == 2 and data.shape[1] == 0:
        raise InputError(f"reference: 0 feature(s) (shape={data.shape}) while a minimum of 1 is required; add columns")
    if data.ndim == 2 and len(data) == 1:
        raise InputError(f"reference: 1 sample (shape={data.shape}) while a minimum of 2 is required; add rows")
