"""ECG recordings with measured features, read from either of two folder layouts.

- `features.parquet` beside `recordings.parquet`: measured features with their metadata;
- `features/12sl_features.csv` (PTB-XL+) beside `ptbxl_database.csv` (PTB-XL).
"""

from __future__ import annotations

from ast import literal_eval
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import shiftscope as ss

# Spelled with single spaces; PTB-XL has three in "CS-12   E".
DEVICES = {"AT-6 C 5.5": 1, "CS-12 E": 2, "CS-12": 3}
LAYOUTS = {
    "measured": ("features.parquet", "recordings.parquet"),
    "PTB-XL+ 12SL": ("features/12sl_features.csv", "ptbxl_database.csv"),
}
MOST_MISSING = 0.2  # share of missing values above which a feature is left out


@dataclass(frozen=True)
class Ecg:
    """Recordings of the three devices, one row each, in the order of `ecg_id`.

    Attributes
    ----------
    source : str
        Which layout they came from, a key of `LAYOUTS`.
    names : tuple of d str
        Features.
    features : (n, d) array
    ecg_id, patient : (n,) int arrays
    age : (n,) array
        Years; NaN if unknown, 300 for anyone over 89.
    sex : (n,) array
        0 male, 1 female, NaN if unknown.
    device : (n,) int array
        1, 2 or 3, as in the paper.
    weight : (n,) array
        Kilograms; NaN where it was not recorded.
    statements : tuple of n dict
        Diagnostic statement -> likelihood in percent.
    filled : int
        Missing feature values, replaced by the feature's median.
    """

    source: str
    names: tuple[str, ...]
    features: NDArray[np.float64]
    ecg_id: NDArray[np.int64]
    patient: NDArray[np.int64]
    age: NDArray[np.float64]
    sex: NDArray[np.float64]
    device: NDArray[np.int64]
    weight: NDArray[np.float64]
    statements: tuple[dict[str, float], ...]
    filled: int


@lru_cache(maxsize=1)
def read(folder: Path) -> Ecg:
    """All recordings of the three devices in `folder`."""
    source, features, recordings = _tables(folder)
    recordings = recordings.with_columns(
        pl.col("device").str.split(" ").list.eval(pl.element().filter(pl.element() != ""))
    )
    recordings = recordings.with_columns(pl.col("device").list.join(" ")).filter(pl.col("device").is_in(list(DEVICES)))
    features = features.select("ecg_id", pl.selectors.numeric().exclude("ecg_id")).with_columns(
        pl.col("ecg_id").cast(pl.Int64)
    )
    columns = tuple(name for name in features.columns if name != "ecg_id")
    joined = recordings.join(features, on="ecg_id", how="inner", suffix="_measured").sort("ecg_id")
    if joined.is_empty():
        raise ss.InputError(
            f"{folder}: no recording of {', '.join(DEVICES)} has features; check that the files belong together"
        )
    names, values, filled = _without_gaps(joined.select(columns).to_numpy().astype(np.float64), columns)
    return Ecg(
        source=source,
        names=names,
        features=values,
        ecg_id=joined["ecg_id"].to_numpy(),
        patient=joined["patient_id"].cast(pl.Int64).to_numpy(),
        age=_floats(joined, "age"),
        sex=_floats(joined, "sex"),
        device=np.array([DEVICES[name] for name in joined["device"]]),
        weight=_floats(joined, "weight"),
        statements=tuple(literal_eval(text) for text in joined["scp_codes"]),
        filled=filled,
    )


def _tables(folder: Path) -> tuple[str, pl.DataFrame, pl.DataFrame]:
    """The layout's name, features and metadata."""
    for source, files in LAYOUTS.items():
        paths = [folder / file for file in files]
        if all(path.exists() for path in paths):
            features, recordings = (_table(path) for path in paths)
            recordings = recordings.with_columns(pl.col("ecg_id").cast(pl.Int64))
            wanted = ["ecg_id", "patient_id", "age", "sex", "device", "weight", "scp_codes"]
            missing = [name for name in wanted if name not in recordings.columns and name != "weight"]
            if missing:
                raise ss.InputError(f"{paths[1]}: column {missing[0]!r} is missing; take the file as it was published")
            return source, features, recordings.select(name for name in wanted if name in recordings.columns)
    known = " or ".join(" with ".join(files) for files in LAYOUTS.values())
    raise ss.InputError(f"{folder}: expected {known}, found neither; give the folder that holds them")


def _table(path: Path) -> pl.DataFrame:
    return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema_length=None)


def _floats(table: pl.DataFrame, name: str) -> NDArray[np.float64]:
    if name not in table.columns:
        return np.full(len(table), np.nan)
    return table[name].cast(pl.Float64).fill_null(np.nan).to_numpy()


def _without_gaps(
    values: NDArray[np.float64], names: tuple[str, ...]
) -> tuple[tuple[str, ...], NDArray[np.float64], int]:
    """Features that vary and are mostly there; their gaps hold the median."""
    gaps = ~np.isfinite(values)
    values = np.where(gaps, np.nan, values)
    usable = gaps.mean(axis=0) <= MOST_MISSING
    values, gaps = values[:, usable], gaps[:, usable]
    values = np.where(gaps, np.nanmedian(values, axis=0), values)
    varied = np.ptp(values, axis=0) > 0
    kept = np.array(names)[usable][varied]
    return tuple(str(name) for name in kept), values[:, varied], int(gaps[:, varied].sum())
