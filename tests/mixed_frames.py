"""Two samples of mixed kinds, which differ in a known way."""

from __future__ import annotations

import numpy as np
import pandas as pd


def frames(kind="none", n=400, seed=0):
    """Two samples of a category, two numbers and one with gaps; `kind` says what differs in the second."""
    rng = np.random.default_rng(seed)

    def sample(shifted):
        shares = [0.25, 0.55, 0.2] if shifted and kind == "level" else [0.5, 0.3, 0.2]
        device = rng.choice(["A", "B", "C"], n, p=shares)
        gap = rng.random(n) < 0.05
        if shifted and kind == "missing":
            gap |= (device == "B") & (rng.random(n) < 0.6)
        x = np.abs(rng.normal(size=n)) * rng.choice([-1, 1], n)
        if kind == "pairing":  # the sign goes with the device, and stays as frequent as it was
            sign = {"A": 1, "B": -1, "C": 1} if shifted else {"A": -1, "B": 1, "C": 1}
            x = np.where(rng.random(n) < 0.8, np.abs(x) * [sign[d] for d in device], x)
        age = np.where(gap, np.nan, rng.normal(50, 10, n))
        return pd.DataFrame({"device": device, "x": x, "age": age, "w": rng.normal(size=n)})

    return sample(False), sample(True)
