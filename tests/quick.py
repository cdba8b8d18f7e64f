"""Settings that answer in a second, for tests that look at what becomes of a result."""

from __future__ import annotations

import shiftscope as ss

QUICK = ss.CompareParams(
    alpha=0.05,
    n_permutations=59,
    max_iterations=2,
    scan=ss.ScanParams(n_permutations=63, n_seeds=0, beam=0),
    equalise=ss.EqualiseParams(k_max=40, n_permutations=39),
    localise=ss.LocaliseParams(epochs=10),
)
