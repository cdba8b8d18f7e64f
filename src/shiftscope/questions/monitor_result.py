"""What `monitor` returns."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

from shiftscope.forked_polars import need_polars
from shiftscope.json_data import write_fields
from shiftscope.messages import percent, writable
from shiftscope.questions.monitor_batch import BatchRow

if TYPE_CHECKING:
    import polars as pl

MONITOR_SCHEMA = 1
NAME_SHOWN = 24  # characters of a batch's name in the printed table


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

        need_polars()

        return pl.DataFrame(
            [
                {
                    "batch": row.number,
                    "name": writable(row.name),
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
        return write_fields(self, MONITOR_SCHEMA, path)

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw p-values, excess and drift over time; the suffix of `path` (.png, .svg, .pdf) chooses the format."""
        from shiftscope.questions.monitor_plot import draw  # matplotlib is slow to load

        draw(self.rows, self.level, path)

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
        amount = f"{percent(row.mode.excess)} more in" if row.mode.excess > 0 else "other rows in"
        mode = f"{amount} {row.mode.side}: {', '.join(row.mode.directions)}"
    mark = "!" if row.alarm else ""
    line = f"{mark:>3s} {name:{NAME_SHOWN}s} {row.n_rows:8,d} {row.p_value:8.2g}  {drift:>7s}  {mode}"
    return line.rstrip()
