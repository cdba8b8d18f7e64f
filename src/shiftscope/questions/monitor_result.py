"""What `monitor` returns."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

from shiftscope.findings import Side
from shiftscope.plain_data import write_fields

if TYPE_CHECKING:
    import polars as pl

SCHEMA = 1
NAME_SHOWN = 24  # characters of a batch's name in the printed table


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


@dataclass(frozen=True)
class MonitorResult:
    """The answer of `monitor`.

    Attributes
    ----------
    rows : tuple of BatchRow
        In the order of time.
    alpha : float
        Chance of any false alarm among `horizon` batches.
    horizon : int
    """

    rows: tuple[BatchRow, ...]
    alpha: float
    horizon: int

    @property
    def level(self) -> float:
        """What each batch may spend of alpha."""
        return self.alpha / self.horizon

    @property
    def alarms(self) -> tuple[BatchRow, ...]:
        """The batches that differ from the reference."""
        return tuple(row for row in self.rows if row.alarm)

    def to_table(self) -> pl.DataFrame:
        """One line per batch as a polars frame."""
        import polars as pl

        return pl.DataFrame(
            [
                {
                    "batch": row.number,
                    "name": row.name,
                    "rows": row.n_rows,
                    "alarm": row.alarm,
                    "p_value": row.p_value,
                    "level": row.level,
                    "side": mode.side if mode else None,
                    "features": " ".join(mode.features) if mode else None,
                    "excess": mode.excess if mode else None,
                    "excess_low": mode.excess_interval[0] if mode else None,
                    "excess_high": mode.excess_interval[1] if mode else None,
                    "drift": row.drift,
                }
                for row in self.rows
                for mode in [row.mode]
            ],
            schema={
                **dict.fromkeys(("batch",), pl.Int64),
                "name": pl.String,
                "rows": pl.Int64,
                "alarm": pl.Boolean,
                **dict.fromkeys(("p_value", "level"), pl.Float64),
                **dict.fromkeys(("side", "features"), pl.String),
                **dict.fromkeys(("excess", "excess_low", "excess_high", "drift"), pl.Float64),
            },
        )

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """The result as JSON text, also written to `path` if given."""
        return write_fields(self, SCHEMA, path)

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw p-values, excess and drift over time; the suffix of `path` (.png, .svg, .pdf) chooses the format."""
        from shiftscope.questions.monitor_plot import draw

        draw(self, path)

    def __str__(self) -> str:
        alarms = self.alarms
        first = f", first at {alarms[0].name!r}" if alarms else ""
        lines = [
            f"{len(alarms)} of {len(self.rows)} batches differ from the reference{first}.",
            f"Chance of a false alarm in {self.horizon} batches: at most {self.alpha:g} (level {self.level:.2g} each).",
            "",
            f"{'':3s} {'batch':{NAME_SHOWN}s} {'rows':>8s} {'p-value':>8s}  {'drift':>7s}  strongest mode",
        ]
        return "\n".join([*lines, *(_line(row) for row in self.rows)])


def _line(row: BatchRow) -> str:
    name = row.name if len(row.name) <= NAME_SHOWN else f"…{row.name[1 - NAME_SHOWN :]}"
    drift = "" if row.drift is None else f"{100 * row.drift:+.1f} %"
    mode = ""
    if row.mode is not None:
        amount = f"{100 * row.mode.excess:.1f} % more in" if row.mode.excess > 0 else "other rows in"
        mode = f"{amount} {row.mode.side}: {', '.join(row.mode.directions)}"
    mark = "!" if row.alarm else ""
    line = f"{mark:>3s} {name:{NAME_SHOWN}s} {row.n_rows:8,d} {row.p_value:8.2g}  {drift:>7s}  {mode}"
    return line.rstrip()
