"""What single columns say, in plain words."""

from __future__ import annotations

from math import isfinite

from shiftscope.findings import ColumnOverview
from shiftscope.messages import percent, shown_name
from shiftscope.report.summary import Summary

DIFFERING_TOLD = 10  # columns that differ by themselves which are told in text


def told_columns(summary: Summary) -> list[str]:
    """How the columns that differ by themselves do so, the strongest ones."""
    return [f"{shown_name(column.name)} {column.change}" for column in strongest_columns(summary)]


def strongest_columns(summary: Summary) -> tuple[ColumnOverview, ...]:
    """The columns that differ by themselves, the strongest ones."""
    return _differing(summary)[:DIFFERING_TOLD]


def _differing(summary: Summary) -> tuple[ColumnOverview, ...]:
    return tuple(column for column in summary.columns if column.p_value <= summary.alpha)


def columns_sentence(summary: Summary) -> str:
    """How many columns differ by themselves, before they are listed."""
    found = len(_differing(summary))
    strongest = f"; the {DIFFERING_TOLD} strongest" if found > DIFFERING_TOLD else ""
    return f"{_columns_found(summary)}{f'{strongest} (reference -> current):' if found else '.'}"


def tested(summary: Summary) -> bool:
    """Whether columns were tested by themselves, which is the scan's work."""
    return any(isfinite(column.p_value) for column in summary.columns)


def _columns_found(summary: Summary) -> str:
    if not tested(summary):
        return "Columns by themselves were not tested: the scan was switched off"
    found, n = len(_differing(summary)), len(summary.columns)
    if not found:
        return "No column differs by itself: the difference shows only in columns taken together"
    return (
        "The only column differs"
        if n == 1
        else f"{found:,} of {n:,} columns {'differ by themselves' if found > 1 else 'differs by itself'}"
    )


def effect_text(column: ColumnOverview) -> str:
    """How far a column moved, with its interval."""
    if not isfinite(column.effect):
        return "–"
    low, high = column.effect_interval
    if column.kind == "category":
        return f"{percent(column.effect)} ({percent(low)} to {percent(high)})"
    return f"{column.effect:.2f} sd ({low:.2f} to {high:.2f})"


def overview_sentence(summary: Summary) -> str:
    """What the overview says first."""
    if summary.differs:
        return f"{_columns_found(summary)}."
    return "What each column is like in either sample. No difference was found, so none of these is one."


def overview_note(summary: Summary) -> str:
    """How to read the overview."""
    return (
        "Lines reach from the smallest to the largest value, boxes hold the middle half, marks are medians; bars are "
        "shares of the levels that changed most. How far: the mean distance that values would have to move, in "
        "standard deviations (sd), or the share of rows that would have to change their level, with a 95 % interval. "
        "p: how often chance shows as much in any of the columns."
    )


def other_flags(column: ColumnOverview) -> list[str]:
    """What is odd about a column beyond what its change tells."""
    told = column.change
    return [flag.sentence for flag in column.flags if flag.kind != "missing" and flag.sentence not in told]


def missing_text(column: ColumnOverview) -> str:
    """Shares of missing values."""
    shares = column.reference.missing_share, column.current.missing_share
    return f"{percent(shares[0])} -> {percent(shares[1])}" if any(shares) else "–"


def sortable(value: float) -> float:
    """A number to sort by; what is not known comes last."""
    return value if isfinite(value) else 9.0
