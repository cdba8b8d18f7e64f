"""Small recordings of three devices, of which one stands out, in the files of either layout."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from experiments.ecg import downstream, waves

SPELLED = ("AT-6 C 5.5", "CS-12   E", "CS-12")
NAMES = [f"{wave}_Amp_{lead}" for wave in ("P", "R", "ST", "T") for lead in waves.LEADS[:4]] + ["QT_Int_Global"]
LAYOUTS = ("measured", "PTB-XL+ 12SL")


def write_recordings(folder: Path, layout: str, per_device: int = 130, seed: int = 0) -> None:
    """Small files of either layout: device 3 has higher T waves, diseased recordings higher ST levels."""
    rng = np.random.default_rng(seed)
    rows, values = [], []
    for device, name in enumerate(SPELLED):
        for k in range(per_device + 60):
            diseased = k >= per_device
            codes = {downstream.TASKS[k % 5]: 100.0} if diseased else {"NORM": 50.0 if k % 20 == 19 else 100.0}
            patient = device * 1000 + (k - 1 if k == 1 else k)  # the first two recordings are of one patient
            age = [300.0, None, 12.0][k % 3] if 2 <= k < 8 else float(40 + k % 7)
            rows.append((len(rows) + 1, patient, age, k % 2, 70.0, name, str(codes)))
            measured = rng.standard_normal(len(NAMES))
            measured[12:16] += 2.0 * (device == 2)
            measured[8:12] += 1.5 * diseased
            values.append(measured)
    columns = ["ecg_id", "patient_id", "age", "sex", "weight", "device", "scp_codes"]
    recordings = pl.DataFrame(rows, schema=columns, orient="row")
    features = pl.DataFrame(np.array(values), schema=NAMES).insert_column(0, recordings["ecg_id"])
    if layout == "measured":
        recordings.write_parquet(folder / "recordings.parquet")
        features.write_parquet(folder / "features.parquet")
        return
    (folder / "features").mkdir()
    gap = pl.when(pl.col("ecg_id") == 5).then(None).otherwise(pl.col("P_Amp_I")).alias("P_Amp_I")
    shuffled = features.with_columns(gap, pl.lit(1.0).alias("Constant_Global")).sample(fraction=1, shuffle=True, seed=1)
    shuffled.write_csv(folder / "features" / "12sl_features.csv")
    other = recordings.head(1).with_columns(ecg_id=pl.lit(99_999, pl.Int64), device=pl.lit("CS100    3"))
    pl.concat([recordings, other]).with_columns(report=pl.lit("sinus rhythm")).write_csv(folder / "ptbxl_database.csv")
