"""The tables of docs/results/benchmark.md, from the rows of both studies (see `experiments.markdown`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from experiments.markdown import markdown_table
from experiments.paper.study import Study
from experiments.paper.summaries import Reach, Row, Spread

PROTOCOLS = ("default", "paper")
NONE = "-"


def fragments(found: dict[Study, list[Row]], reach: dict[Study, list[Reach]], names: dict[str, str]) -> dict[str, str]:
    """Every table by name; `names` are those of the methods."""
    made: dict[str, str] = {}
    for study, rows in found.items():
        kind = study.name.partition("_")[0]  # global, local
        made[f"{kind} protocols"] = protocols(rows, study.setting)
        made[f"{kind} detected"] = by_setting(rows, names, lambda row: _of(row.detected, row.seeds))
        made[f"{kind} exact"] = by_setting(rows, names, _exact)
        made[f"{kind} purity"] = by_setting(rows, names, lambda row: _mean(row.purity))
        made[f"{kind} recall"] = by_setting(rows, names, lambda row: _mean(row.recall_400))
        made[f"{kind} time"] = times(rows, names)
    lines = [one for part in reach.values() for one in part]
    return made | {"smallest shift": smallest(lines, names)}


def protocols(rows: Sequence[Row], setting: str) -> str:
    """Both protocols side by side, one line a setting."""
    cells: dict[tuple[str, float], Row] = {(row.method, row.setting): row for row in rows}
    header = [setting]
    for method in PROTOCOLS:
        header += [f"{method}: detected", "exact", "exact, current", "recall", "purity", "pruned"]
    return markdown_table(
        [*header, "paper's rule prunes"],
        [
            [
                f"{value:g}",
                *(cell for method in PROTOCOLS for cell in _protocol(cells.get((method, value)))),
                _rule(cells.get(("paper", value))),
            ]
            for value in sorted({row.setting for row in rows})
        ],
    )


def by_setting(rows: Sequence[Row], names: dict[str, str], cell: Callable[[Row], str]) -> str:
    """One line a method, one column a setting; methods that never answer are left out."""
    values = sorted({row.setting for row in rows})
    told = {(row.method, row.setting): cell(row) for row in rows}
    lines = [
        [names[method], *(told.get((method, value), "") for value in values)]
        for method in dict.fromkeys(row.method for row in rows)
    ]
    answered = [line for line in lines if any(one not in ("", NONE) for one in line[1:])]
    return markdown_table(["method", *(f"{value:g}" for value in values)], answered)


def times(rows: Sequence[Row], names: dict[str, str]) -> str:
    """Median time of a unit by method: the range over the settings."""
    lines = []
    for method in dict.fromkeys(row.method for row in rows):
        mine = [row for row in rows if row.method == method]
        work = [row.cpu_seconds for row in mine if row.cpu_seconds is not None]
        units = sum(row.seeds for row in mine)
        lines.append([names[method], units, _range([row.seconds for row in mine]), _range(work)])
    return markdown_table(["method", "units", "seconds", "CPU seconds"], lines)


def smallest(lines: Sequence[Reach], names: dict[str, str]) -> str:
    """The smallest shift that each method is sure of."""
    return markdown_table(
        [
            "study",
            "method",
            "false alarms at 0",
            "detected from",
            "exact columns from",
            "exact if their number is known",
        ],
        [
            [
                one.study.replace("_", " "),
                names[one.method],
                NONE if one.false_alarms is None else one.false_alarms,
                *(NONE if at is None else f"{at:g}" for at in (one.detected_from, one.exact_from, one.exact_top_from)),
            ]
            for one in lines
        ],
    )


def _protocol(row: Row | None) -> list[str]:
    if row is None:
        return [""] * 6
    counts = (row.detected, row.exact, row.exact_current)
    return [*(_of(count, row.seeds) for count in counts), *map(_mean, (row.recall, row.purity, row.pruned))]


def _rule(row: Row | None) -> str:
    return "" if row is None else _of(row.formula_rejects, row.seeds)


def _exact(row: Row) -> str:
    """By the method's own selection; in brackets if the number of columns were known."""
    own, known = _of(row.exact, row.seeds), _of(row.exact_top, row.seeds)
    return own if known == NONE else f"({known})" if own == NONE else f"{own} ({known})"


def _of(count: int | None, seeds: int) -> str:
    return NONE if count is None else f"{count}/{seeds}"


def _mean(spread: Spread | None) -> str:
    return NONE if spread is None else f"{spread.mean:.3f}"


def _range(values: Sequence[float]) -> str:
    if not values:
        return NONE
    low, high = (f"{value:.3g}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"
