"""The study's tables, as CSV files and as text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from experiments.ecg.attribution import (
    chance_cell_overlap,
    chance_jaccard,
    cliffs_delta,
    jaccard,
    matched_triples,
    wave_shares,
)
from experiments.ecg.cohorts import CASES, healthy
from experiments.ecg.controls import ALPHAS, rate
from experiments.ecg.downstream import CLASSIFIERS, change
from experiments.ecg.study import ENCODING, PRUNING_DRAWS, Study, X, Y
from experiments.ecg.waves import parse
from experiments.runner import write_whole

STRONGEST = 12  # features listed per case
DIGITS = 4  # of the numbers in the files
SIDES = ((X, "X"), (Y, "Y"))
VERDICTS = {"p_full": "full space", "p_scan": "scan of single features", "p_value": "both together"}


def write_tables(study: Study, out: Path) -> dict[str, pl.DataFrame]:
    """Write every table to `out` as CSV."""
    tables = {name: pl.DataFrame(make(study)) for name, make in TABLES.items()}
    for name, table in tables.items():
        write_whole(out / f"{name}.csv", table.with_columns(pl.selectors.float().round_sig_figs(DIGITS)).write_csv())
    return tables


def balance_table(study: Study) -> list[dict]:
    """Sizes, age and sex of the cohorts, the largest imbalance over draws, and weight, which is not matched."""
    rows = []
    for case in study.cases:
        found = study.balance(case)
        every = [study.balance(case, draw) for draw in study.draws(case)]
        rows.append(
            {
                "case": case,
                "n_per_side": found.n,
                "age_X": found.age[0],
                "age_Y": found.age[1],
                "female_X": found.female[0],
                "female_Y": found.female[1],
                "age_smd_largest": max(abs(one.age_smd) for one in every),
                "sex_smd_largest": max(abs(one.female_smd) for one in every),
                "weight_known_X": found.weight_known[0],
                "weight_known_Y": found.weight_known[1],
                "weight_smd": found.weight_smd,
            }
        )
    return rows


def removed_table(study: Study) -> list[dict]:
    """Devices in the cohorts and in the removed sets, per case and side, first draw and over draws."""
    rows = []
    for case in study.cases:
        for side, label in SIDES:
            every = [study.composition(case, study.compared[case, draw], side, draw) for draw in study.draws(case)]
            first = every[0]
            rates = study.removal_rates(case, side, study.draws(case))
            later = study.draws(case)[PRUNING_DRAWS:]
            rows.append(
                {
                    "case": case,
                    "side": label,
                    "p_verdict": study.compared[case, 0]["p_value"],
                    "p_verdict_largest": max(study.compared[case, draw]["p_value"] for draw in study.draws(case)),
                    "specific_device": (CASES[case].x, CASES[case].y)[side],
                    **{f"cohort_device_{k + 1}": first.cohort[k] for k in range(3)},
                    **{f"removed_device_{k + 1}": first.removed[k] for k in range(3)},
                    "removed_of_cohort": sum(first.removed) / sum(first.cohort),
                    "specific_share": first.share,
                    "specific_share_removed": first.removed_share,
                    "enrichment": first.enrichment,
                    "fisher_p": first.p_value,
                    "draws": len(every),
                    "enrichment_median": float(np.median([one.enrichment for one in every])),
                    "fisher_p_median": float(np.median([one.p_value for one in every])),
                    "fisher_p_largest": max(one.p_value for one in every),
                    "draws_below_0.001": sum(one.p_value < 0.001 for one in every),
                    "draws_below_0.05": sum(one.p_value < 0.05 for one in every),
                    "rate_specific": rates.specific,
                    "rate_others": rates.others,
                    "rates_p": rates.p_value,
                    "later_draws": len(later),
                    "later_below_0.001": sum(one.p_value < 0.001 for one in every[PRUNING_DRAWS:]),
                }
            )
    return rows


def settings_table(study: Study) -> list[dict]:
    """What every encoding removes, in supports and in the full space: the study's in all draws, others in two."""
    tried = [(ENCODING, case, draw, unit) for (case, draw), unit in study.compared.items()]
    tried += [(kind, case, draw, unit) for (case, draw, kind), unit in study.pruned.items()]
    return [
        {
            "setting": f"{kind}, {where}",
            "case": case,
            "draw": draw,
            "side": label,
            "removed": sum(found.removed),
            "specific_share": found.share,
            "specific_share_removed": found.removed_share,
            "fisher_p": found.p_value,
            **unit["tails"],
        }
        for kind, case, draw, unit in tried
        for where, key in (("supports", "removed"), ("full space", "pruned"))
        for side, label in SIDES
        for found in [study.composition(case, unit, side, draw, key)]
    ]


def modes_table(study: Study) -> list[dict]:
    """Modes of `compare` in the first draw."""
    return [
        {
            "case": case,
            "side": mode["side"],
            "rows": len(mode["rows"]),
            "features": len(mode["features"]),
            "excess": mode["excess"],
            "low": mode["interval"][0],
            "high": mode["interval"][1],
            "p_value": mode["p_value"],
            "strongest": " ".join(study.ecg.names[k] for k in mode["features"][:5]),
        }
        for case in study.cases
        for mode in study.compared[case, 0]["modes"]
    ]


def support_table(study: Study) -> list[dict]:
    """Size of each support and its waves."""
    rows = []
    for case in study.cases:
        for side, label in SIDES:
            found = [study.compared[case, draw]["supports"][side] for draw in study.draws(case)]
            validated = [support["validated_size"] for support in found if support]
            agreed = study.consensus(case, side)
            rows.append(
                {
                    "case": case,
                    "side": label,
                    "size": _typical(study.supports(case, side)),
                    "validated_lowest": min(validated, default=0),
                    "validated_median": float(np.median(validated)) if validated else 0.0,
                    "validated_highest": max(validated, default=0),
                    "draws_with_support": len(validated),
                    "in_half_of_draws": len(agreed),
                    **{
                        f"{wave} of {total}": chosen
                        for wave, (chosen, total) in wave_shares(study.ecg.names, agreed).items()
                    },
                }
            )
    return rows


def jaccard_table(study: Study) -> list[dict]:
    """Overlap of supports of each two cases, and what it can be compared with.

    `devices`: of as many features that differ most between the two specific devices, found with the devices known.
    """
    names = study.ecg.names
    different = {case: _most_different(study, case) for case in study.cases}
    rows = []
    for side, label in SIDES:
        for found in study.overlaps(side):
            sizes = [_typical(study.supports(case, side)) for case in (found.one, found.other)]
            rows.append(
                {
                    "side": label,
                    "case_1": found.one,
                    "case_2": found.other,
                    **{key: value for key, value in vars(found).items() if key not in ("one", "other")},
                    "by_chance": chance_jaccard(*sizes, len(names)) if min(sizes) > 0 else float("nan"),
                    "cells_by_chance": chance_cell_overlap(names, *sizes),
                    "devices": jaccard(different[found.one], different[found.other]),
                }
            )
    return rows


def _typical(supports: dict[int, list[int]]) -> int:
    """Median number of features; 0 without supports."""
    return int(np.median([len(support) for support in supports.values()] or [0]))


def _most_different(study: Study, case: str) -> list[int]:
    """As many features as a support of Y has, those with the largest difference between the specific devices."""
    size = _typical(study.supports(case, Y))
    return np.argsort(-np.abs(_device_deltas(study, case)), kind="stable")[:size].tolist()


def _device_deltas(study: Study, case: str) -> np.ndarray:
    """Cliff's delta of each feature, from the device specific to X to that specific to Y, in the first draw."""
    ecg, cohorts = study.ecg, study.cohorts(case)
    own_x = cohorts.x[ecg.device[cohorts.x] == cohorts.case.x]
    own_y = cohorts.y[ecg.device[cohorts.y] == cohorts.case.y]
    return cliffs_delta(ecg.features[own_x], ecg.features[own_y])


def features_table(study: Study) -> list[dict]:
    """The consensus features of Y's side with the largest difference between the devices specific to X and Y."""
    ecg = study.ecg
    triples, medians = _matched_medians(study)
    rows = []
    for case in study.cases:
        cohorts, unit = study.cohorts(case), study.compared[case, 0]
        delta = _device_deltas(study, case)
        gone = cohorts.y[unit["removed"][Y]]
        pruned = np.median(ecg.features[gone], axis=0) if gone.size else np.full(len(ecg.names), np.nan)
        agreed = study.consensus(case, Y)
        often = np.bincount(
            np.concatenate([np.empty(0, int), *study.supports(case, Y).values()]), minlength=len(ecg.names)
        )
        for k in sorted(agreed, key=lambda k: -abs(delta[k]))[:STRONGEST]:
            feature = parse(ecg.names[k])
            rows.append(
                {
                    "case": case,
                    "feature": feature.name,
                    "wave": feature.wave,
                    "lead": feature.lead,
                    "unit": feature.unit if ecg.source == "measured" else "",
                    "in_Y": "higher" if delta[k] > 0 else "lower",
                    "cliffs_delta": float(delta[k]),
                    "draws": int(often[k]),
                    "median_removed_Y": float(pruned[k]),
                    **{f"median_device_{device}": float(medians[device][k]) for device in (1, 2, 3)},
                    "matched_per_device": triples,
                }
            )
    return rows


def medians_table(study: Study) -> list[dict]:
    """Medians of every feature on each device, in recordings matched triple by triple."""
    triples, medians = _matched_medians(study)
    return [
        {
            "feature": name,
            "unit": parse(name).unit if study.ecg.source == "measured" else "",
            **{f"device_{device}": float(medians[device][k]) for device in (1, 2, 3)},
            "matched_per_device": triples,
        }
        for k, name in enumerate(study.ecg.names)
    ]


def _matched_medians(study: Study) -> tuple[int, dict[int, np.ndarray]]:
    """Recordings per device, and the medians of all features by device."""
    rng = np.random.default_rng(0)
    triples = matched_triples(study.ecg, healthy(study.ecg, rng), rng)
    return triples[1].size, {device: np.median(study.ecg.features[rows], axis=0) for device, rows in triples.items()}


def controls_table(study: Study) -> list[dict]:
    """False alarms per device and in total."""
    rows = []
    for device in sorted({unit["device"] for unit in study.controls}) + [0] * bool(study.controls):
        units = [unit for unit in study.controls if device in (0, unit["device"])]
        for key, label in VERDICTS.items():
            for alpha in ALPHAS:
                found = rate([unit[key] for unit in units], alpha)
                rows.append(
                    {
                        "device": str(device or "all"),
                        "test": label,
                        "alpha": alpha,
                        "splits": found.n,
                        "rejected": found.rejected,
                        "low": found.interval[0],
                        "high": found.interval[1],
                        "expected": f"{found.expected[0]} to {found.expected[1]}",
                    }
                )
    return rows


def downstream_table(study: Study) -> list[dict]:
    """Change of the AUC by equalisation beside that by random removals."""
    rows = []
    for task in study.tasks:
        first = next(unit for unit in study.downstream if unit["task"] == task and unit["draw"] == 0)
        for which in CLASSIFIERS:
            found, learned = (change(study.downstream, task, which, key) for key in ("auc", "auc_all_tested"))
            before, after = (first["conditions"][name][which] for name in ("before", "after"))
            rows.append(
                {
                    "task": task,
                    "classifier": which,
                    "train_healthy": first["sizes"][0],
                    "train_diseased": first["sizes"][1],
                    "test_healthy": first["sizes"][2],
                    "test_diseased": first["sizes"][3],
                    "auc_before": before["auc"],
                    "before_low": before["interval"][0],
                    "before_high": before["interval"][1],
                    "auc_after": after["auc"],
                    "after_low": after["interval"][0],
                    "after_high": after["interval"][1],
                    "change_median": float(np.median(found.changes)),
                    "change_lowest": float(found.changes.min()),
                    "change_highest": float(found.changes.max()),
                    "random_lowest": float(found.random.min()),
                    "random_highest": float(found.random.max()),
                    "draws_outside_random": found.outside,
                    "exceeds_random": found.exceeds,
                    "draws": found.changes.size,
                    "all_tested_change_median": float(np.median(learned.changes)),
                    "all_tested_random_lowest": float(learned.random.min()),
                    "all_tested_random_highest": float(learned.random.max()),
                    "all_tested_exceeds_random": learned.exceeds,
                }
            )
    return rows


def check_table(study: Study) -> list[dict]:
    """AUC of boosted trees for X against Y."""
    return [{key: unit[key] for key in ("case", "before", "after", "random")} for unit in study.checks]


def seeds_table(study: Study) -> list[dict]:
    """Overlap of the supports of two seeds, from the same queries."""
    return [{key: unit[key] for key in ("case", "draw", "X", "Y")} for unit in study.seeds]


def cost_table(study: Study) -> list[dict]:
    """Seconds of the units."""
    groups = {
        "compare": study.compared.values(),
        "other settings": study.pruned.values(),
        "controls": study.controls,
        "downstream": study.downstream,
        "check": study.checks,
        "seeds": study.seeds,
    }
    return [
        {
            "part": part,
            "units": len(units),
            "cpu_seconds": sum(unit["cpu_seconds"] for unit in units),
            "wall_seconds_summed": sum(unit["wall_seconds"] for unit in units),
        }
        for part, units in groups.items()
    ]


TABLES: dict[str, Callable[[Study], list[dict]]] = {
    "balance": balance_table,
    "removed": removed_table,
    "settings": settings_table,
    "modes": modes_table,
    "supports": support_table,
    "jaccard": jaccard_table,
    "features": features_table,
    "controls": controls_table,
    "downstream": downstream_table,
    "check": check_table,
    "seeds": seeds_table,
    "medians": medians_table,
    "cost": cost_table,
}
