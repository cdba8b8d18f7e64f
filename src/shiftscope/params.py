"""All settings of `compare`, frozen and validated together."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

from shiftscope.errors import ParameterError, alpha_fault, is_whole, kind_fault
from shiftscope.full_space.equalise import EqualiseParams
from shiftscope.modes.localise import LocaliseParams
from shiftscope.subspaces.scan import ScanParams

LABELLINGS = 499  # a finer p-value than the usual levels need, in a second or two


@dataclass(frozen=True)
class CompareParams:
    """Settings of the whole protocol.

    Attributes
    ----------
    alpha : float
        Level of the verdict.
    n_permutations : int or None
        Labellings behind the full space's p-value, which is at least 1 / (n_permutations + 1); None takes 499, or as
        many as `alpha` needs.
    max_iterations : int
        Most localisations per mode before its subspace is taken as it is.
    max_modes : int
        Most modes looked for, in the scan and on each side of the full space.
    full_space_rows : int
        Most rows whose neighbourhoods in the full space are looked at. Of larger pools they are drawn at random, the
        same number from both samples where possible; the scan always counts all rows.
    scan : ScanParams or None
        The subspace scan; None looks at the full space only, as the paper does.
    equalise : EqualiseParams
    localise : LocaliseParams
    """

    alpha: float = 0.01
    n_permutations: int | None = None
    max_iterations: int = 5
    max_modes: int = 5
    full_space_rows: int = 200_000
    scan: ScanParams | None = field(default_factory=ScanParams)
    equalise: EqualiseParams = field(default_factory=EqualiseParams)
    localise: LocaliseParams = field(default_factory=LocaliseParams)

    def __post_init__(self) -> None:
        faults = [fault for fault in (alpha_fault(self.alpha),) if fault is not None]
        for name, least in (("n_permutations", 1), ("max_iterations", 1), ("max_modes", 1), ("full_space_rows", 100)):
            value = getattr(self, name)
            if not (is_whole(value, least) or (name == "n_permutations" and value is None)):
                faults.append(f"{name} must be a whole number of at least {least}, got {value!r}")
        for name, kind in (("scan", ScanParams), ("equalise", EqualiseParams), ("localise", LocaliseParams)):
            fault = kind_fault(name, getattr(self, name), kind)
            if fault is not None and not (name == "scan" and self.scan is None):
                faults.append(fault)
        if not faults and self.labellings + 1 < self.searches / self.alpha:
            faults.append(
                f"n_permutations = {self.n_permutations} can never give a p-value of alpha = {self.alpha:g} or less: "
                f"take at least {int(self.searches / self.alpha)} permutations or a larger alpha"
            )
        if faults:
            raise ParameterError("; ".join(faults))

    @property
    def searches(self) -> int:
        """Searches behind the verdict: the full space and, unless switched off, the scan."""
        return 1 if self.scan is None else 2

    @property
    def level(self) -> float:
        """What each search is held against: its share of alpha (Bonferroni)."""
        return self.alpha / self.searches

    @property
    def labellings(self) -> int:
        """Permutations behind the full space's p-value."""
        return max(LABELLINGS, ceil(1.0 / self.level)) if self.n_permutations is None else self.n_permutations

    @property
    def k_max(self) -> int:
        """Largest neighbourhood K_M."""
        return self.equalise.k_max
