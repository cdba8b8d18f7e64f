"""All settings of `compare`, frozen and validated together."""

from __future__ import annotations

from dataclasses import dataclass, field

from shiftscope.equalise import EqualiseParams
from shiftscope.errors import ParameterError, is_whole
from shiftscope.localise import LocaliseParams
from shiftscope.scan import ScanParams


@dataclass(frozen=True)
class CompareParams:
    """Settings of the whole protocol.

    Attributes
    ----------
    alpha : float
        Level of the verdict.
    n_permutations : int
        Labellings behind the verdict; its p-value is at least 1 / (n_permutations + 1).
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
    n_permutations: int = 499
    max_iterations: int = 5
    max_modes: int = 5
    full_space_rows: int = 200_000
    scan: ScanParams | None = field(default_factory=ScanParams)
    equalise: EqualiseParams = field(default_factory=EqualiseParams)
    localise: LocaliseParams = field(default_factory=LocaliseParams)

    def __post_init__(self) -> None:
        faults = []
        if not 0.0 < self.alpha < 1.0:
            faults.append(f"alpha must lie strictly between 0 and 1, got {self.alpha!r}")
        for name, least in (("n_permutations", 1), ("max_iterations", 1), ("max_modes", 1), ("full_space_rows", 100)):
            value = getattr(self, name)
            if not is_whole(value, least):
                faults.append(f"{name} must be a whole number of at least {least}, got {value!r}")
        searches = 1 if self.scan is None else 2  # each is held against its share of alpha
        if not faults and self.n_permutations + 1 < searches / self.alpha:
            faults.append(
                f"n_permutations = {self.n_permutations} can never give a p-value of alpha = {self.alpha:g} or less: "
                f"take at least {int(searches / self.alpha)} permutations or a larger alpha"
            )
        if faults:
            raise ParameterError("; ".join(faults))

    @property
    def k_max(self) -> int:
        """Largest neighbourhood K_M."""
        return self.equalise.k_max
