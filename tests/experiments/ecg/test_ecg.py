from __future__ import annotations

import inspect
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy.stats import hypergeom
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from experiments import pages
from experiments.ecg import (
    attribution,
    check,
    cohorts,
    comparison,
    controls,
    downstream,
    elastic_net,
    encoding,
    page,
    resume,
    study,
    waves,
)
from experiments.ecg.__main__ import main
from experiments.ecg.cohorts import CASES, draw_cohorts
from experiments.ecg.data import read
from shiftscope.errors import InputError

REAL = Path(__file__).resolve().parents[2] / "shared" / "data" / "ptbxl"
SPELLED = ("AT-6 C 5.5", "CS-12   E", "CS-12")
NAMES = [f"{wave}_Amp_{lead}" for wave in ("P", "R", "ST", "T") for lead in waves.LEADS[:4]] + ["QT_Int_Global"]


def write_recordings(folder: Path, layout: str, per_device: int = 130, seed: int = 0) -> None:
    """Small files of either layout: device 3 has higher T waves, diseased recordings higher ST levels."""
    rng = np.random.default_rng(seed)
    rows, values = [], []
    for device, name in enumerate(SPELLED):
        for k in range(per_device + 60):
            diseased = k >= per_device
            codes = {downstream.TASKS[k % 5]: 100.0} if diseased else {"NORM": 50.0 if k % 20 == 19 else 100.0}
            patient = device * 1000 + (k - 1 if k == 1 else k)  # the first two recordings are of one patient
            age = [300.0, None, 12.0][k % 3] if 2 <= k < 8 else float(40 + k % 7)
            rows.append((len(rows) + 1, patient, age, k % 2, 70.0, name, str(codes)))
            measured = rng.standard_normal(len(NAMES))
            measured[12:16] += 2.0 * (device == 2)
            measured[8:12] += 1.5 * diseased
            values.append(measured)
    columns = ["ecg_id", "patient_id", "age", "sex", "weight", "device", "scp_codes"]
    recordings = pl.DataFrame(rows, schema=columns, orient="row")
    features = pl.DataFrame(np.array(values), schema=NAMES).insert_column(0, recordings["ecg_id"])
    if layout == "measured":
        recordings.write_parquet(folder / "recordings.parquet")
        features.write_parquet(folder / "features.parquet")
        return
    (folder / "features").mkdir()
    gap = pl.when(pl.col("ecg_id") == 5).then(None).otherwise(pl.col("P_Amp_I")).alias("P_Amp_I")
    shuffled = features.with_columns(gap, pl.lit(1.0).alias("Constant_Global")).sample(fraction=1, shuffle=True, seed=1)
    shuffled.write_csv(folder / "features" / "12sl_features.csv")
    other = recordings.head(1).with_columns(ecg_id=pl.lit(99_999, pl.Int64), device=pl.lit("CS100    3"))
    pl.concat([recordings, other]).with_columns(report=pl.lit("sinus rhythm")).write_csv(folder / "ptbxl_database.csv")


@pytest.fixture(scope="module", params=["measured", "PTB-XL+ 12SL"])
def folder(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("ecg")
    write_recordings(path, request.param)
    return path


def test_both_layouts_give_the_same_recordings(tmp_path_factory):
    found = []
    for layout in ("measured", "PTB-XL+ 12SL"):
        path = tmp_path_factory.mktemp("layout")
        write_recordings(path, layout)
        found.append(read(path))
        assert found[-1].source == layout
    ours, release = found
    assert release.names == ours.names == tuple(NAMES)
    assert np.array_equal(release.ecg_id, ours.ecg_id)
    assert np.array_equal(release.device, ours.device)
    assert set(ours.device) == {1, 2, 3}
    assert ours.statements == release.statements
    assert np.array_equal(ours.age, release.age, equal_nan=True)
    assert (ours.filled, release.filled) == (0, 1)
    gap = release.features[4, 0]
    assert gap == np.median(np.delete(release.features[:, 0], 4))
    assert np.allclose(np.delete(ours.features, 4, axis=0), np.delete(release.features, 4, axis=0))


def test_a_folder_without_the_files_is_refused_in_one_line(tmp_path):
    with pytest.raises(
        InputError, match=r"features\.parquet with recordings\.parquet or .*12sl_features\.csv"
    ) as error:
        read(tmp_path)
    assert "\n" not in str(error.value)


def test_healthy_are_adults_of_known_age_called_normal_once_each(folder):
    ecg = read(folder)
    rows = cohorts.healthy(ecg, np.random.default_rng(0))
    assert np.unique(ecg.patient[rows]).size == rows.size
    assert np.all((ecg.age[rows] >= 18) & (ecg.age[rows] <= 89))
    assert all(ecg.statements[row]["NORM"] >= 80 for row in rows)
    assert len({tuple(cohorts.healthy(ecg, np.random.default_rng(seed))) for seed in range(5)}) > 1


@pytest.mark.parametrize("name", CASES)
def test_cohorts_are_matched_and_follow_the_design(folder, name):
    ecg = read(folder)
    pair = draw_cohorts(ecg, CASES[name], 0)
    found = cohorts.balance(ecg, pair.x, pair.y)
    assert found.age_smd == pytest.approx(0, abs=1e-12)
    assert found.female_smd == pytest.approx(0, abs=1e-12)
    assert found.n == pair.y.size > 80
    assert not set(ecg.patient[pair.x]) & set(ecg.patient[pair.y])
    case = CASES[name]
    shared = [np.sum(ecg.device[rows] == case.shared) for rows in (pair.x, pair.y)]
    assert shared[0] == shared[1] > 0
    pairs = np.sum(ecg.device[pair.x] != case.shared)
    assert np.sum(ecg.device[pair.x] == case.y) == np.sum(ecg.device[pair.y] == case.x) == round(case.exchanged * pairs)


def test_d_is_c_with_a_few_pairs_exchanged(folder):
    ecg = read(folder)
    c, d = (draw_cohorts(ecg, CASES[name], 3) for name in "CD")
    assert set(c.x) | set(c.y) == set(d.x) | set(d.y)
    assert 0 < len(set(c.x) - set(d.x)) <= 0.1 * c.x.size


def test_composition_by_hand():
    devices = np.array([1, 1, 1, 1, 1, 1, 2, 2, 2, 2])
    found = attribution.composition(devices, [0, 1, 2, 6], specific=1)
    assert found.cohort == (6, 4, 0)
    assert found.removed == (3, 1, 0)
    assert found.share == 0.6
    assert found.removed_share == 0.75
    assert found.enrichment == pytest.approx(1.25)
    assert found.p_value == pytest.approx(hypergeom.sf(2, 10, 6, 4))  # (20 * 4 + 15) / 210
    assert found.p_value == pytest.approx(95 / 210)
    assert attribution.composition(devices, [], specific=1).p_value == 1.0


def test_removal_rates_count_every_patient_once():
    patient = np.array([1, 1, 2, 3, 3, 4, 5, 6, 6, 7])
    specific = np.array([1, 1, 1, 1, 1, 0, 0, 0, 0, 0], dtype=bool)
    pruned = np.array([1, 0, 1, 0, 0, 1, 0, 0, 0, 0], dtype=bool)
    found = attribution.removal_rates(patient, specific, pruned)
    assert (found.specific, found.others) == (0.5, 0.25)  # of (0.5, 1, 0) and of (1, 0, 0, 0)
    spread = np.sqrt(0.25 / 3 + 0.25 / 4)
    degrees = spread**4 / ((0.25 / 3) ** 2 / 2 + (0.25 / 4) ** 2 / 3)
    assert found.p_value == pytest.approx(student.sf(0.25 / spread, degrees))
    both = attribution.removal_rates(np.where(patient == 4, 3, patient), specific, pruned)
    assert both == found  # patient 3, recorded with two devices, is one of either group
    assert attribution.removal_rates(patient, specific, np.zeros(10, dtype=bool)).p_value == 1.0


def test_overlap_of_supports_by_hand():
    assert attribution.jaccard([1, 2, 3], [3, 2, 5]) == 0.5
    assert np.isnan(attribution.jaccard([], []))
    assert attribution.chance_jaccard(100, 100, 400) == pytest.approx(25 / 175)
    assert attribution.consensus([[1, 2], [2, 3], [2], [3]]) == [2, 3]


@pytest.mark.parametrize("side", [0, 1])
def test_a_support_is_the_heaviest_sixth_of_the_features(monkeypatch, side):
    seen = {}

    def localise(pool, target, query, params, random_state):
        seen.update(target=np.flatnonzero(target), query=np.flatnonzero(query))
        return SimpleNamespace(features=(7,), weights=np.arange(12.0))

    monkeypatch.setattr(comparison.ss, "localise", localise)
    points, rows = np.zeros((600, 12)), np.arange(5, 45)
    found = comparison.support(points, 300, rows, side, draw=0)
    assert (found["features"], found["validated_size"]) == ([11, 10], 1)
    assert np.array_equal(seen["query"], rows + 300 * side)
    assert np.array_equal(seen["target"], np.arange(300) + 300 * side)
    assert comparison.support(points, 300, rows[:5], side, draw=0) is None


def test_the_alternation_ends_in_the_features_of_both_supports(monkeypatch):
    seen = []

    def score(reference, current, k_max):
        seen.append(reference[0].tolist())
        return SimpleNamespace(reference=np.arange(40.0), current=-np.arange(40.0))

    monkeypatch.setattr(comparison.ss, "score", score)
    monkeypatch.setattr(comparison, "support", lambda points, n, rows, side, draw: {"features": [[4, 1], [1, 2]][side]})
    monkeypatch.setattr(comparison, "prune", lambda points, n, draw: (points[0], points[n]))
    found = comparison.refined(np.tile(np.arange(6.0), (80, 1)), 40, "as is", (np.ones(40), np.ones(40)), draw=0)
    assert seen == [[1, 2, 4]]
    assert found.removed[0].tolist() == [1, 2, 4]
    assert [rows.tolist() for rows in found.evident] == [[36, 37, 38, 39], [0, 1, 2, 3]]
    profiles = comparison.refined(
        np.tile(np.arange(6.0), (80, 1)), 40, "directions", (np.ones(40), np.ones(40)), draw=0
    )
    assert seen[1] == pytest.approx(np.array([1, 2, 4]) / np.sqrt(7))  # a mean square of 1 in these three
    assert profiles.removed[0].tolist() == seen[1]
    monkeypatch.setattr(comparison, "support", lambda *_: None)
    nothing = comparison.refined(np.zeros((80, 6)), 40, "as is", (np.ones(40), np.ones(40)), draw=0)
    assert [rows.size for rows in nothing.removed] == [0, 0]


def test_overlap_by_wave_and_lead_forgives_near_duplicates():
    names = ["ST_J20_V2", "ST_J40_V2", "T_Amp_V2", "T_Amp_V3"]
    assert attribution.cell_overlap(names, [0, 2], [1, 2]) == 1.0
    assert attribution.cell_overlap(names, [0, 1], [1, 3]) == pytest.approx(1 / 3)
    assert np.isnan(attribution.cell_overlap(names, [], []))
    assert attribution.chance_cell_overlap(names, 4, 4) == 1.0
    assert 0.2 < attribution.chance_cell_overlap(names, 2, 2) < 0.8


def test_a_page_keeps_its_prose_and_gets_its_numbers():
    text = "In all <!-- sum -->old<!-- / --> rows.\n\n<!-- table -->\n\n| a |\n\n<!-- / -->\n\nProse."
    table = pages.markdown(("a", "b"), [(1, 2)])
    found = {"sum": "3", "table": table, "idle": "9"}
    new = pages.filled(text, found)
    assert new.startswith("In all <!-- sum -->3<!-- / --> rows.")
    assert "\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n" in new
    assert new.endswith("Prose.")
    assert pages.filled(new, found) == new
    with pytest.raises(InputError, match=r"'sum' of the page must be one that the study makes \(sums\)"):
        pages.filled(text, {"table": table, "sums": "9"})


def test_p_values_are_short():
    assert [page.p_text(p) for p in (0.5, 0.0123, 0.0009, 3.2e-12)] == ["0.5", "0.012", "9e-4", "3e-12"]


def test_cliffs_delta_against_all_pairs():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 4, (7, 3)).astype(float), rng.integers(1, 5, (5, 3)).astype(float)
    slow = np.sign(second[None, :, :] - first[:, None, :]).mean(axis=(0, 1))
    assert np.allclose(attribution.cliffs_delta(first, second), slow)


def test_triples_hold_the_same_ages_and_sexes(folder):
    ecg = read(folder)
    rng = np.random.default_rng(0)
    triples = attribution.matched_triples(ecg, cohorts.healthy(ecg, rng), rng)
    kinds = [sorted(zip(ecg.sex[rows], ecg.age[rows], strict=True)) for rows in triples.values()]
    assert kinds[0] == kinds[1] == kinds[2] != []


@pytest.mark.parametrize(
    ("name", "wave", "lead", "unit"),
    [
        ("ST_J20_V2", "ST", "V2", "µV"),
        ("ST_Slope_V2", "ST", "V2", "µV/ms"),
        ("RP_PeakAmpl_aVL", "QRS", "aVL", "µV"),
        ("T_Area_V6", "T", "V6", "µV·s"),
        ("P_Duration_II", "P", "II", "ms"),
        ("TP_Level_V5", "baseline", "V5", "µV"),
        ("TP_Amp_V5", "T", "V5", ""),
        ("QTc_Bazett", "global", "global", "ms"),
        ("R_AxisFrontal_Global", "global", "global", "°"),
    ],
)
def test_names_in_a_clinicians_terms(name, wave, lead, unit):
    assert (waves.parse(name).wave, waves.parse(name).lead, waves.parse(name).unit) == (wave, lead, unit)


def test_wave_map_averages_the_features_of_a_cell():
    found = attribution.wave_map(["P_Amp_I", "P_Area_I", "T_Amp_V6", "QT_Int_Global"], np.array([1.0, 3.0, 5.0, 9.0]))
    assert (found[0, 0], found[3, 11]) == (2.0, 5.0)
    assert np.isnan(found).sum() == found.size - 2
    shares = attribution.wave_shares(["P_Amp_I", "P_Area_I", "T_Amp_V6", "QT_Int_Global"], [1, 3])
    assert shares == {"P": (1, 2), "T": (0, 1), "global": (1, 1)}


def test_encodings_bound_outliers_and_do_not_know_the_cohorts():
    rng = np.random.default_rng(0)
    pool = rng.standard_normal((400, 3))
    pool[0, 0] = 1e4
    bounded = {kind: encoding.encode(pool, kind) for kind in encoding.KINDS}
    assert np.abs(bounded["as is"]).max() > 15
    assert max(np.abs(bounded[kind]).max() for kind in encoding.KINDS[1:]) < 4
    order = rng.permutation(400)
    for kind in encoding.KINDS:
        assert np.allclose(encoding.encode(pool[order], kind), bounded[kind][order])
        assert kind == "directions" or np.allclose(bounded[kind].std(axis=0), 1)
    assert encoding.tails(bounded["as is"]).top_rows > encoding.tails(bounded["winsorised"]).top_rows


def test_directions_are_profiles_of_one_length_in_any_features():
    pool = np.random.default_rng(1).standard_normal((300, 6)) ** 3
    scores, found = encoding.encode(pool, "normal scores"), encoding.encode(pool, "directions")
    for row, profile in zip(scores[:5], found[:5], strict=True):
        assert profile == pytest.approx(row * np.sqrt(6 / np.sum(row**2)))
    some = encoding.columns(found, [4, 1], "directions")
    assert np.allclose(np.sum(some**2, axis=1), 2)
    assert np.allclose(some, encoding.encode(pool[:, [4, 1]], "directions"))
    assert np.array_equal(encoding.columns(scores, [4, 1], "normal scores"), scores[:, [4, 1]])
    assert np.array_equal(encoding.of_one_length(np.zeros((2, 3))), np.zeros((2, 3)))


def test_trees_on_bins_are_the_trees_on_values():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((600, 3))
    points[:, 2] = np.round(points[:, 2])
    labels = (points[:, 0] > 1).astype(int)
    bins = encoding.quantile_bins(points, points)
    assert [np.unique(column).size <= encoding.BINS for column in bins.T] == [True] * 3
    assert np.array_equal(np.argsort(bins[:, 2], kind="stable"), np.argsort(points[:, 2], kind="stable"))
    with threadpool_limits(1):
        model = downstream.classifier("HGBT", seed=0).set_params(max_iter=20)
        ours, theirs = (model.fit(values, labels).predict_proba(values)[:, 1] for values in (bins, points))
    assert np.mean(np.abs(ours - theirs) < 0.01) > 0.98  # a cut may lie at the other end of a bin


@pytest.mark.parametrize("task", downstream.TASKS)
def test_no_patient_is_learned_from_and_tested_on(folder, task):
    ecg = read(folder)
    pair = draw_cohorts(ecg, CASES["C"], 1)
    split = downstream.task_split(ecg, pair, task, np.random.default_rng(0))
    train = np.concatenate([split.train_healthy, split.train_diseased])
    test = np.concatenate([split.test_healthy, split.test_diseased])
    assert not set(ecg.patient[train]) & set(ecg.patient[test])
    assert split.train_diseased.size > 0
    assert split.test_diseased.size > 0
    assert not np.any(ecg.device[split.train_diseased] == CASES["C"].y)
    assert not np.any(ecg.device[split.test_diseased] == CASES["C"].x)
    assert all(task in ecg.statements[row] for row in (*split.train_diseased, *split.test_diseased))
    fewer = downstream.without(split, split.train_healthy[:5], split.test_healthy[:7])
    assert (fewer.train_healthy.size, fewer.test_healthy.size) == (
        split.train_healthy.size - 5,
        split.test_healthy.size - 7,
    )
    assert np.array_equal(fewer.test_diseased, split.test_diseased)


@pytest.mark.parametrize(
    ("which", "settings"),
    [
        ("LR-L2", {"C": 0.01, "solver": "lbfgs", "max_iter": 2000}),
        ("LR-EN", {"C": 0.01, "l1_ratio": 0.5}),
        (
            "HGBT",
            {
                "max_depth": 3,
                "learning_rate": 0.03,
                "min_samples_leaf": 30,
                "max_iter": 500,
                "validation_fraction": 0.15,
                "n_iter_no_change": 20,
            },
        ),
    ],
)
def test_classifiers_have_the_supplements_settings(which, settings):
    rng = np.random.default_rng(0)
    points, labels = rng.standard_normal((90, 2)), np.arange(90) % 2
    points[labels == 1, 0] += 3
    model = downstream.classifier(which, seed=0)
    assert settings.items() <= model.get_params().items()
    with threadpool_limits(1):
        scores = model.fit(points, labels).predict_proba(points)[:, 1]
    assert downstream.auc(scores[labels == 0], scores[labels == 1]) > 0.9


def test_elastic_net_reaches_the_optimum_of_saga():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((200, 12))
    points[:, 1] += points[:, 0]
    labels = (points[:, 0] + rng.standard_normal(200) > 0.9).astype(int)
    weight = {0: 1.0, 1: 2.5}
    penalty = {"C": 0.05, "l1_ratio": 0.5, "class_weight": weight}
    ours = elastic_net.ElasticNetLogistic(**penalty).fit(points, labels)
    saga = LogisticRegression(**penalty, **saga_penalty(), solver="saga", max_iter=20_000, tol=1e-7).fit(points, labels)
    assert ours.converged_
    assert 0 < np.sum(ours.coef_ == 0) < 12
    assert ours.coef_ == pytest.approx(saga.coef_, abs=1e-4)
    assert ours.predict_proba(points) == pytest.approx(saga.predict_proba(points), abs=1e-4)


def saga_penalty():
    """Newer scikit-learn infers the penalty from l1_ratio and warns if it is given."""
    inferred = inspect.signature(LogisticRegression).parameters["penalty"].default == "deprecated"
    return {} if inferred else {"penalty": "elasticnet"}


def test_auc_curve_and_interval_against_all_pairs():
    rng = np.random.default_rng(0)
    healthy, diseased = rng.integers(0, 9, 60) / 9, rng.integers(2, 12, 40) / 9
    wins = (diseased[:, None] > healthy) + 0.5 * (diseased[:, None] == healthy)
    assert downstream.auc(healthy, diseased) == pytest.approx(wins.mean())
    low, high = downstream.bootstrap_interval(healthy, diseased, seed=0)
    assert low < wins.mean() < high
    curve = downstream.roc(healthy, diseased)
    assert np.all(np.diff(curve) >= 0)
    assert np.trapezoid(curve, downstream.CURVE) == pytest.approx(wins.mean(), abs=0.01)


def test_a_change_is_held_against_all_random_removals():
    def unit(draw, after, *random):
        aucs = {"before": 0.8, "after": after, **{f"random {k}": value for k, value in enumerate(random)}}
        conditions = {name: {"LR-L2": {"auc": value}} for name, value in aucs.items()}
        return {"task": "1AVB", "draw": draw, "conditions": conditions}

    found = downstream.change([unit(0, 0.9, 0.79, 0.81), unit(1, 0.85, 0.8, 0.82)], "1AVB", "LR-L2")
    assert found.changes == pytest.approx([0.1, 0.05])
    assert np.sort(found.random) == pytest.approx([-0.01, 0.0, 0.01, 0.02])
    assert (found.outside, found.exceeds) == (2, True)
    assert not downstream.change([unit(0, 0.8, 0.79, 0.81)], "1AVB", "LR-L2").exceeds


def test_rates_of_controls_by_hand():
    found = controls.rate([0.002, 0.03, 0.2, 0.9], 0.05)
    assert (found.rejected, found.n) == (2, 4)
    assert found.interval[0] < 0.5 < found.interval[1]
    assert controls.rate([0.5] * 20, 0.05).expected == (0, 3)


def test_boosting_sees_a_shift_and_no_shift():
    rng = np.random.default_rng(0)
    points, is_y = rng.standard_normal((400, 3)), np.arange(400) >= 200
    assert abs(check.out_of_fold_auc(points, is_y, 0) - 0.5) < 0.1
    points[is_y, 0] += 2
    assert check.out_of_fold_auc(points, is_y, 0) > 0.85


def _square(number):
    return {"square": number * number}


def test_units_are_not_computed_twice(tmp_path):
    tasks = [resume.Task(f"unit_{k}", _square, (k,)) for k in range(3)]
    assert [unit["square"] for unit in resume.run(tasks, tmp_path).values()] == [0, 1, 4]
    (tmp_path / "unit_1.json").write_text('{"square": -1}')
    (tmp_path / "unit_2.json").unlink()
    assert list(resume.run(tasks, tmp_path, processes=0)) == ["unit_0", "unit_1"]
    assert [unit["square"] for unit in resume.run(tasks, tmp_path).values()] == [0, -1, 4]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["unit_0.json", "unit_1.json", "unit_2.json"]


def test_the_command_end_to_end(tmp_path, capsys, monkeypatch):
    quick = downstream.classifier
    monkeypatch.setattr(downstream, "classifier", lambda _, seed: quick("LR-L2", seed))
    monkeypatch.setattr(study, "OTHER_ENCODINGS", ("as is",))
    monkeypatch.setitem(check.TREES, "max_iter", 5)
    monkeypatch.setattr(comparison, "K_MAX", 40)
    monkeypatch.setattr(comparison, "LOCALISE", comparison.ss.LocaliseParams(epochs=60, background=300))
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    write_recordings(data, "PTB-XL+ 12SL")
    command = ["--data", str(data), "--out", str(out), "--draws", "1", "--splits", "1", "--processes", "1"]
    (tmp_path / "page.md").write_text("Enriched: <!-- enriched first --><!-- / -->.\n\n<!-- removed --><!-- / -->\n")
    main([*command, "--page", str(tmp_path / "page.md")])
    renewed = (tmp_path / "page.md").read_text()
    assert " of 8<!-- / -->." in renewed
    assert "| D, Y | 3 |" in renewed
    assert "jaccard" in capsys.readouterr().out
    removed = pl.read_csv(out / "removed.csv").filter(pl.col("case") == "A")
    assert removed["p_verdict"][0] <= 0.01
    assert removed.filter(pl.col("side") == "Y")["specific_share_removed"][0] > 0.7
    figures = sorted(path.stem for path in out.glob("*.png"))
    assert figures == ["changes", "confusion", "controls", "figure3", "roc", "support"]
    stamps = {path: path.stat().st_mtime_ns for path in (out / "units").iterdir()}
    main(command)
    assert stamps == {path: path.stat().st_mtime_ns for path in (out / "units").iterdir()}
    for path in (out / "units").glob("downstream_*"):
        path.unlink()
    main([*command[:-1], "0"])  # shows what is there and computes nothing
    assert not list((out / "units").glob("downstream_*"))


@pytest.mark.outside_data
def test_a_slice_of_the_real_recordings():
    if not REAL.exists():
        reason = f"real recordings are not at {os.path.relpath(REAL)}"
        print(reason)
        pytest.skip(reason)
    ecg = read(REAL)
    assert (len(ecg.ecg_id), len(ecg.names), ecg.filled) == (10_886, 565, 0)
    rows = cohorts.healthy(ecg, np.random.default_rng(0))
    assert 5_000 < rows.size < 5_300
    for name in CASES:
        pair = draw_cohorts(ecg, CASES[name], 0)
        found = cohorts.balance(ecg, pair.x, pair.y)
        assert found.n > 1_500
        assert max(abs(found.age_smd), abs(found.female_smd)) < 0.1
    places = [waves.parse(name) for name in ecg.names]
    assert sum(place.lead == "global" for place in places) == 13
    assert all(sum(place.lead == lead for place in places) == 46 for lead in waves.LEADS)
    pair = draw_cohorts(ecg, CASES["A"], 0)
    chosen = [k for k, place in enumerate(places) if place.lead in ("V2", "V6") and place.wave in ("ST", "T")]
    own, shared = ((pair.x, 1), (pair.y, 3)), 2
    sides = [np.concatenate([rows[ecg.device[rows] == k][:300] for k in (device, shared)]) for rows, device in own]
    points = encoding.encode(ecg.features[np.concatenate(sides)][:, chosen], study.ENCODING)
    result = comparison.ss.compare(points[:600], points[600:], params=comparison.settings())
    assert result.p_value <= 0.01
    scores = result.scores.reference, result.scores.current
    found = comparison.refined(points, 600, study.ENCODING, scores, draw=0)
    removed = attribution.composition(ecg.device[sides[1]], found.removed[1], 3)
    assert removed.removed_share > removed.share
    assert removed.p_value < 0.05
