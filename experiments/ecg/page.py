"""The numbers of the results page: tables and figures in sentences (see `experiments.markdown`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

import polars as pl

from experiments.ecg.study import ENCODING, PRUNING_DRAWS
from experiments.markdown import filled, markdown_table
from experiments.runner import write_whole

Row = dict
Tables = dict[str, pl.DataFrame]
STRONGEST = 5  # features shown per case, of those in the file
CASES = "ABCD"
TAILS_OF = "C"  # the case whose heavy tails are quoted
NOT_YET = "(not computed yet)"  # of a study that was stopped


def fill_page(page: Path, tables: Tables) -> None:
    """Renew every fragment of `page`."""
    write_whole(page, filled(page.read_text(encoding="utf-8"), fragments(tables)))


def fragments(tables: Tables) -> dict[str, str]:
    """Every table and every figure in a sentence, by name."""
    rows = {name: table.to_dicts() for name, table in tables.items()}
    made: dict[str, tuple[str, Callable[[Sequence[Row]], str]]] = {
        "balance": ("balance", _balance),
        "removed": ("removed", _removed),
        "settings": ("settings", _settings),
        "supports": ("supports", _supports),
        "overlaps Y": ("jaccard", partial(_overlaps, side="Y")),
        "overlaps X": ("jaccard", partial(_overlaps, side="X")),
        "reasons": ("jaccard", _reasons),
        "features": ("features", _features),
        "controls": ("controls", _controls),
        "downstream": ("downstream", _downstream),
        "check": ("check", _check),
        "cost": ("cost", _cost),
    }
    whole = {name: make(rows[table]) if rows[table] else NOT_YET for name, (table, make) in made.items()}
    return whole | _facts(rows)


def p_text(p: float) -> str:
    """A p-value, short: 0.012, 3e-7."""
    return f"{p:.2g}" if p >= 0.001 else f"{p:.0e}".replace("e-0", "e-")


def percent(share: float, digits: int = 0) -> str:
    """A share in percent."""
    return f"{100 * share:.{digits}f} %"


def _side(row: Row) -> str:
    return f"{row['case']}, {row['side']}"


def _balance(rows: Sequence[Row]) -> str:
    header = (
        "case",
        "rows a side",
        "mean age X, Y",
        "women X, Y",
        "largest SMD age",
        "sex",
        "SMD weight (known in X, Y)",
    )
    return markdown_table(
        header,
        [
            (
                r["case"],
                f"{r['n_per_side']:,}",
                f"{r['age_X']:.1f}, {r['age_Y']:.1f}",
                f"{percent(r['female_X'])}, {percent(r['female_Y'])}",
                f"{r['age_smd_largest']:.3f}",
                f"{r['sex_smd_largest']:.3f}",
                f"{r['weight_smd']:.2f} ({percent(r['weight_known_X'])}, {percent(r['weight_known_Y'])})",
            )
            for r in rows
        ],
    )


def _removed(rows: Sequence[Row]) -> str:
    header = (
        "case, side",
        "device of the side",
        "removed",
        "share in cohort",
        "share in removed",
        "Fisher p",
        "median p",
        "largest p",
        "draws below 0.001",
        "patients removed, of the device : others",
        "p, all draws",
    )
    return markdown_table(
        header,
        [
            (
                _side(r),
                r["specific_device"],
                f"{sum(r[f'removed_device_{k}'] for k in (1, 2, 3))} ({percent(r['removed_of_cohort'], 1)})",
                f"{r['specific_share']:.2f}",
                f"{r['specific_share_removed']:.2f}",
                p_text(r["fisher_p"]),
                p_text(r["fisher_p_median"]),
                p_text(r["fisher_p_largest"]),
                f"{r['draws_below_0.001']} of {r['draws']}",
                f"{percent(r['rate_specific'], 1)} : {percent(r['rate_others'], 1)}",
                p_text(r["rates_p"]),
            )
            for r in rows
        ],
    )


def _settings(rows: Sequence[Row]) -> str:
    header = (
        "setting",
        *(f"{case}, {side}" for case in CASES for side in "XY"),
        "below 0.001, first two draws",
        "later draws",
    )
    lines = []
    for setting in dict.fromkeys(r["setting"] for r in rows):
        mine = [r for r in rows if r["setting"] == setting]
        first = {(r["case"], r["side"]): r for r in mine if r["draw"] == 0}
        cells = [
            f"{r['removed']}: {r['specific_share_removed']:.2f}, {p_text(r['fisher_p'])}" if r else "–"
            for r in (first.get((case, side)) for case in CASES for side in "XY")
        ]
        later = [r for r in mine if r["draw"] >= PRUNING_DRAWS]
        early = [r for r in mine if r["draw"] < PRUNING_DRAWS]
        lines.append((setting, *cells, _below(early), _below(later) if later else "–"))
    return markdown_table(header, lines)


def _below(rows: Sequence[Row]) -> str:
    return f"{sum(r['fisher_p'] < 0.001 for r in rows)} of {len(rows)}"


def _supports(rows: Sequence[Row]) -> str:
    waves = [name for name in rows[0] if " of " in name]
    header = "case, side", "validated size, median", "in half of the draws", *waves
    return markdown_table(
        header,
        [(_side(r), f"{r['validated_median']:.0f}", r["in_half_of_draws"], *(r[name] for name in waves)) for r in rows],
    )


def _overlaps(rows: Sequence[Row], side: str) -> str:
    found = {(r["case_1"], r["case_2"]): r for r in rows if r["side"] == side}
    lines = []
    for one in CASES:
        cells = []
        for other in CASES:
            r = found.get((one, other))
            cells.append("" if r is None else f"{_number(r['same_draw'], one == other)} / {_number(r['across_draws'])}")
        lines.append((one, *cells))
    return markdown_table(("", *CASES), lines)


def _reasons(rows: Sequence[Row]) -> str:
    header = (
        "cases",
        "queries shared",
        "supports",
        "by chance",
        "waves and leads",
        "by chance",
        "rows pruned in the full space shared",
        "supports from these",
        "most different features of the devices",
    )
    return markdown_table(
        header,
        [
            (
                f"{r['case_1']}, {r['case_2']}",
                *(
                    _number(r[key])
                    for key in (
                        "queries_shared",
                        "same_draw",
                        "by_chance",
                        "cells_same_draw",
                        "cells_by_chance",
                        "pruned_shared",
                        "pruned_same_draw",
                        "devices",
                    )
                ),
            )
            for r in rows
            if r["side"] == "Y" and r["case_1"] != r["case_2"]
        ],
    )


def _number(value: float | None, missing: bool = False) -> str:
    return "–" if missing or value is None or value != value else f"{value:.2f}"


def _features(rows: Sequence[Row]) -> str:
    header = (
        "case",
        "feature",
        "in Y's device",
        "Cliff's delta",
        "draws",
        "Device 1",
        "Device 2",
        "Device 3",
        "unit",
    )
    lines = []
    for _, mine in groupby(rows, key=lambda r: r["case"]):
        for r in list(mine)[:STRONGEST]:
            medians = (f"{r[f'median_device_{device}']:.1f}" for device in (1, 2, 3))
            delta = f"{r['cliffs_delta']:+.2f}"
            lines.append((r["case"], f"`{r['feature']}`", r["in_Y"], delta, r["draws"], *medians, r["unit"]))
    return markdown_table(header, lines)


def _controls(rows: Sequence[Row]) -> str:
    keys = [(test, alpha) for test in dict.fromkeys(r["test"] for r in rows) for alpha in (0.01, 0.05)]
    header = "device", "splits", *(f"{test} at {alpha}" for test, alpha in keys), "expected"
    lines = []
    for device, mine in groupby(rows, key=lambda r: r["device"]):
        found = {(r["test"], r["alpha"]): r for r in mine}
        expected = ", ".join(found[keys[0][0], alpha]["expected"] for alpha in (0.01, 0.05))
        lines.append((device, found[keys[0]]["splits"], *(found[key]["rejected"] for key in keys), expected))
    return markdown_table(header, lines)


def _downstream(rows: Sequence[Row]) -> str:
    header = (
        "task",
        "classifier",
        "before",
        "after",
        "change, kept Y: median",
        "random",
        "exceeds",
        "change, all of Y: median",
        "random",
        "exceeds",
    )
    return markdown_table(
        header,
        [
            (
                r["task"],
                r["classifier"],
                *(f"{r[f'auc_{t}']:.3f} [{r[f'{t}_low']:.3f}, {r[f'{t}_high']:.3f}]" for t in ("before", "after")),
                *_change(r, ""),
                *_change(r, "all_tested_"),
            )
            for r in rows
        ],
    )


def _change(row: Row, of: str) -> tuple[str, str, str]:
    median, low, high = (100 * row[of + name] for name in ("change_median", "random_lowest", "random_highest"))
    return f"{median:+.2f}", f"{low:+.2f} to {high:+.2f}", "yes" if row[f"{of}exceeds_random"] else "no"


def _check(rows: Sequence[Row]) -> str:
    header = "case", "all rows", "equalised", "as many random rows removed"
    return markdown_table(
        header, [(r["case"], *(f"{r[key]:.2f}" for key in ("before", "after", "random"))) for r in rows]
    )


def _cost(rows: Sequence[Row]) -> str:
    lines = [(r["part"], r["units"], f"{r['cpu_seconds']:.0f}") for r in rows]
    total = ("all", sum(r["units"] for r in rows), f"{sum(r['cpu_seconds'] for r in rows):.0f}")
    return markdown_table(("part", "units", "CPU seconds"), [*lines, total])


def _facts(rows: dict[str, list[Row]]) -> dict[str, str]:
    """Figures that stand in sentences."""
    removed, overlaps = rows["removed"], rows["jaccard"]
    shares = [r["removed_of_cohort"] for r in removed]
    learned = rows["downstream"]
    facts = {
        "enriched first": f"{sum(r['fisher_p'] < 0.001 for r in removed)} of {len(removed)}",
        "largest first p": p_text(max(r["fisher_p"] for r in removed)),
        "enriched": f"{sum(r['draws_below_0.001'] for r in removed)} of {sum(r['draws'] for r in removed)}",
        "enriched later": f"{sum(r['later_below_0.001'] for r in removed)} of {sum(r['later_draws'] for r in removed)}",
        "largest rates p": p_text(max(r["rates_p"] for r in removed)),
        "removed shares": f"{100 * min(shares):.0f} to {percent(max(shares))}",
        "enriched full space": _below([r for r in rows["settings"] if r["setting"] == f"{ENCODING}, full space"]),
        "largest verdict": p_text(max(r["p_verdict_largest"] for r in removed)),
        "total CPU minutes": f"{sum(r['cpu_seconds'] for r in rows['cost']) / 60:.0f}",
        "exceeds kept": f"{sum(r['exceeds_random'] for r in learned)} of {len(learned)}",
        "exceeds all": f"{sum(r['all_tested_exceeds_random'] for r in learned)} of {len(learned)}",
    }
    for r in rows["settings"]:
        if r["setting"].endswith("full space") and r["draw"] == 0 and r["case"] == TAILS_OF:
            encoding = r["setting"].removesuffix(", full space")
            facts[f"kurtosis {encoding}"] = f"{r['kurtosis']:.0f}"
            facts[f"top rows {encoding}"] = percent(r["top_rows"])
    for r in rows["medians"]:
        facts |= {f"{r['feature']} on {device}": f"{r[f'device_{device}']:.0f}" for device in (1, 2, 3)}
    facts["matched triples"] = f"{rows['medians'][0]['matched_per_device']:,}"
    agreed = [r[side] for r in rows["seeds"] for side in "XY"]
    facts["seeds agree"] = f"{min(agreed):.2f} to {max(agreed):.2f}" if agreed else NOT_YET
    for r in overlaps:
        pair = f"{r['side']} {r['case_1']}{r['case_2']}"
        facts[f"same {pair}"] = _number(r["same_draw"])
        facts[f"later {pair}"] = _number(r["later_draws"])
        facts[f"across {pair}"] = _number(r["across_draws"])
        for key in (
            "cells_same_draw",
            "pruned_same_draw",
            "queries_shared",
            "pruned_shared",
            "by_chance",
            "cells_by_chance",
            "devices",
        ):
            facts[f"{key.replace('_', ' ')} {pair}"] = _number(r[key])
    return facts
