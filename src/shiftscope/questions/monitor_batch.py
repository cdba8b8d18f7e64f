"""One batch of a monitored sequence: its verdict and, after an alarm, its strongest mode."""

from __future__ import annotations

from dataclasses import dataclass

from shiftscope.encoding.sample_order import Side


@dataclass(frozen=True)
class Region:
    """Where a mode lies, in the user's units, so that other batches can be counted there.

    Attributes
    ----------
    features : tuple of str
    low, high : tuple of float or None
        Range along each feature; None for a category, and where the mode's rows lack the value.
    levels : tuple of tuple of str
        Levels of each category; empty for other kinds.
    """

    features: tuple[str, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    levels: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class StrongestMode:
    """The strongest mode of a batch: the fields of `Mode` that tell it, and its region."""

    side: Side
    features: tuple[str, ...]
    excess: float
    excess_interval: tuple[float, float]
    directions: tuple[str, ...]
    region: Region


@dataclass(frozen=True)
class BatchRow:
    """One batch.

    Attributes
    ----------
    number : int
        From 1, in the order of time.
    name, digest : str
        Name and fingerprint of the batch.
    n_rows : int
    p_value : float
        Valid by itself, whatever the number of labellings it took.
    n_permutations : int
        Largest number of labellings of its searches.
    level : float
        What the batch may spend of alpha.
    alarm : bool
        p_value <= level.
    n_modes : int
        Modes found after an alarm.
    mode : StrongestMode or None
        The strongest of them.
    drift : float or None
        Share of the batch in the region of the first mode ever found, minus the reference's share there; None before.
    """

    number: int
    name: str
    digest: str
    n_rows: int
    p_value: float
    n_permutations: int
    level: float
    alarm: bool
    n_modes: int
    mode: StrongestMode | None
    drift: float | None
