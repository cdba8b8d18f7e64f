"""Tables of mixed kinds: the encoding, its invariants, and shifts that only categories and missing values show."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from experiments.calibration.false_alarms import mixed
from shiftscope._compare import compare
from shiftscope.encoding.bins import GAP_CODES, bin_features
from shiftscope.encoding.features import METRIC_LEVELS
from shiftscope.errors import InputError, ParameterError
from shiftscope.full_space.score import score
from shiftscope.modes.levels import counterpart
from shiftscope.modes.localise import localise
from shiftscope.modes.mode import Direction
from shiftscope.params import CompareParams, EqualiseParams, LocaliseParams, ScanParams
from shiftscope.tables.column_choice import Columns
from tests.pairs import encode_pair

QUICK = CompareParams(
    alpha=0.05,
    n_permutations=59,
    max_iterations=2,
    equalise=EqualiseParams(k_max=40, n_permutations=39),
    localise=LocaliseParams(epochs=10),
    scan=ScanParams(n_permutations=63),
)


def frames(kind="none", n=400, seed=0):
    """Two samples of a category, two numbers and one with gaps; `kind` says what differs in the second."""
    rng = np.random.default_rng(seed)

    def sample(shifted):
        shares = [0.25, 0.55, 0.2] if shifted and kind == "level" else [0.5, 0.3, 0.2]
        device = rng.choice(["A", "B", "C"], n, p=shares)
        gap = rng.random(n) < 0.05
        if shifted and kind == "missing":
            gap |= (device == "B") & (rng.random(n) < 0.6)
        x = np.abs(rng.normal(size=n)) * rng.choice([-1, 1], n)
        if kind == "pairing":  # the sign goes with the device, and stays as frequent as it was
            sign = {"A": 1, "B": -1, "C": 1} if shifted else {"A": -1, "B": 1, "C": 1}
            x = np.where(rng.random(n) < 0.8, np.abs(x) * [sign[d] for d in device], x)
        age = np.where(gap, np.nan, rng.normal(50, 10, n))
        return pd.DataFrame({"device": device, "x": x, "age": age, "w": rng.normal(size=n)})

    return sample(False), sample(True)


# --- the encoding -------------------------------------------------------------------------------------------


def test_every_user_column_has_variance_one():
    encoded = encode_pair(*frames("level"))
    assert encoded.names == ("age", "device", "w", "x")
    for group in encoded.groups:
        assert encoded.points[:, list(group)].var(axis=0).sum() == pytest.approx(1.0)
    assert sorted(column for group in encoded.groups for column in group) == list(range(encoded.points.shape[1]))


def test_levels_are_equally_far_apart_and_like_a_boolean_if_two():
    reference, current = frames()
    encoded = encode_pair(reference[["device", "w"]], current[["device", "w"]])
    device = encoded.points[:, list(encoded.groups[0])]
    corners = np.unique(device, axis=0)
    distances = [np.sum((corners[i] - corners[j]) ** 2) for i, j in ((0, 1), (0, 2), (1, 2))]
    share = encoded.values(0)[:, None] == np.arange(3)
    assert distances == pytest.approx([2 / (1 - np.sum(share.mean(axis=0) ** 2))] * 3)
    boolean = encode_pair(pd.DataFrame({"b": [True, False, False, False]}), pd.DataFrame({"b": [True] * 2}))
    text = encode_pair(pd.DataFrame({"b": ["y", "n", "n", "n"]}), pd.DataFrame({"b": ["y"] * 2}))
    assert np.ptp(text.points) == pytest.approx(np.ptp(boolean.points))


def test_a_missing_number_stands_at_the_mean_and_apart():
    reference, current = (frame[["age"]] for frame in frames())
    encoded = encode_pair(reference, current)
    ages = np.concatenate([reference["age"], current["age"]])
    missing = np.isnan(ages)
    share = missing.mean()
    np.testing.assert_allclose(encoded.points[~missing, 0], (ages[~missing] - np.nanmean(ages)) / np.nanstd(ages))
    np.testing.assert_array_equal(encoded.points[missing, 0], 0.0)
    np.testing.assert_allclose(encoded.points[:, 1], missing / np.sqrt(1 - share))
    np.testing.assert_allclose(encoded.values(0), ages)
    assert np.isfinite(encoded.raw(0)).all()
    assert encoded.raw(0)[missing].max() < np.nanmin(ages)


def test_rare_levels_share_a_column_of_the_metric_but_not_a_bin():
    names = [f"level{i:02d}" for i in range(40) for _ in range(50 - i)]
    encoded = encode_pair(pd.DataFrame({"a": names}), pd.DataFrame({"a": [*names, None]}))
    assert encoded.points.shape[1] == METRIC_LEVELS
    assert encoded.features[0].levels[:2] == ("level00", "level01")
    codes = bin_features(encoded.ranked, encoded.categories).codes[0]
    assert len(np.unique(codes)) == 41
    assert codes[-1] not in codes[:-1]


@pytest.mark.parametrize("count", [2, 255, 256, 257, 600])
def test_each_level_has_a_bin_as_far_as_there_are_bins(count):
    values = np.repeat(np.arange(float(count)), np.arange(count, 0, -1))
    codes = bin_features(values[:, None], np.array([True])).codes[0]
    assert np.all(np.diff(codes.astype(int)) >= 0)
    assert len(np.unique(codes)) == min(count, 256)
    same = codes[np.searchsorted(values, np.arange(min(count, 256)))]
    assert len(np.unique(same)) == min(count, 256)


def test_missing_numbers_have_a_bin_of_their_own_with_room():
    values = np.append(np.random.default_rng(0).normal(size=999), -np.inf)[:, None]
    bins = bin_features(values)
    assert bins.codes[0, -1] == 0
    assert bins.codes[0, :-1].min() >= GAP_CODES
    assert bins.tables.interval(0, 0, GAP_CODES - 1) == (-np.inf, -np.inf)
    mostly = bin_features(np.where(np.arange(1000)[:, None] < 900, -np.inf, values))
    assert len(np.unique(mostly.codes[0, 900:])) > 20


def test_dates_times_and_spans_keep_their_units():
    when = pl.DataFrame(
        {
            "day": [datetime.date(2024, 1, 1), datetime.date(2024, 3, 1), None],
            "at": [datetime.datetime(2024, 1, 1, 12, 30), None, datetime.datetime(2025, 1, 1)],
            "clock": [datetime.time(1, 2, 3), None, datetime.time(23)],
            "took": [datetime.timedelta(days=3), datetime.timedelta(seconds=5), None],
        }
    )
    encoded = encode_pair(when, when)
    texts = {name: encoded.texts(at, np.arange(3)) for at, name in enumerate(encoded.names)}
    assert texts == {
        "at": ["2024-01-01 12:30", "missing", "2025-01-01"],
        "clock": ["1:02:03", "missing", "23:00:00"],
        "day": ["2024-01-01", "2024-03-01", "missing"],
        "took": ["3 days", "5 s", "missing"],
    }
    for make in (lambda frame: frame.to_pandas(), lambda frame: frame.to_arrow()):
        np.testing.assert_allclose(encode_pair(make(when), when).points, encoded.points)


# --- which columns take part --------------------------------------------------------------------------------


def test_columns_that_name_rows_are_left_out_and_named():
    n = 200
    frame = pd.DataFrame(
        {
            "value": np.random.default_rng(0).normal(size=n),
            "n": np.arange(n),
            "customer_id": np.random.default_rng(1).permutation(10 * n)[:n],
            "code": [f"c{i}" for i in range(n)],
            "note": [f"the customer called {i} times" for i in range(n)],
            "parts": [[i] for i in range(n)],
            "city": ["here", "there"] * (n // 2),
            "unit": ["kg"] * n,
            "void": [None] * n,
        }
    )
    encoded = encode_pair(frame, frame)
    assert encoded.names == ("city", "value")
    reasons = {left.name: left.reason for left in encoded.left_out}
    assert list(reasons) == ["code", "customer_id", "n", "note", "parts", "unit", "void"]
    for name, part in {
        "n": "numbered without a gap",
        "customer_id": "all distinct",
        "code": "identifier-like text",
        "note": "free text",
        "parts": "nested",
        "unit": "constant: kg",
        "void": "constant: missing",
    }.items():
        assert part in reasons[name]
    declared = encode_pair(frame, frame, Columns(kinds={"n": "number", "code": "category"}))
    assert set(declared.names) == {"city", "value", "n", "code"}


def test_identifiers_of_a_csv_are_left_out_too(tmp_path):
    for at, name in enumerate(("a.csv", "b.csv")):
        rows = np.random.default_rng(at).normal(size=60).round(3)
        lines = [f"{1000 * at + number},{value},{number % 7}" for number, value in enumerate(rows)]
        (tmp_path / name).write_text("\n".join(["customer_id,x,day", *lines]))
    encoded = encode_pair(tmp_path / "a.csv", tmp_path / "b.csv")
    assert encoded.names == ("day", "x")
    assert [left.name for left in encoded.left_out] == ["customer_id"]


def test_include_exclude_and_declare():
    reference, current = frames()
    assert encode_pair(reference, current, ["x", "age"]).names == ("age", "x")
    chosen = encode_pair(reference, current, Columns(exclude=("x",)))
    assert chosen.names == ("age", "device", "w")
    assert [(left.name, left.reason) for left in chosen.left_out] == [("x", "left out on request")]
    digits = pd.DataFrame({"zip": [1, 2, 3, 2], "n": ["1,5", "2", None, "3"], "d": ["2024-01-01"] * 3 + ["2025-01-01"]})
    kinds = Columns(kinds={"zip": "category", "n": "number", "d": "date"})
    encoded = encode_pair(digits, digits, kinds)
    assert [feature.kind for feature in encoded.features] == ["date", "number", "category"]
    np.testing.assert_allclose(encoded.values(1)[:4], [1.5, 2, np.nan, 3])
    with pytest.raises(ParameterError, match="neither sample has a column 'y'"):
        encode_pair(reference, current, ["y"])
    with pytest.raises(ParameterError, match="kinds must be one of"):
        Columns(kinds={"x": "colour"})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="current: column 'device' is declared as 'number' but holds 'A'"):
        encode_pair(pd.DataFrame({"device": ["1", "2"]}), current, Columns(kinds={"device": "number"}))


def test_text_beside_another_kind_is_read_as_that_kind():
    first = pd.DataFrame(
        {"a": [1.0, 2.0, 3.5], "b": [True, False, True], "d": pd.to_datetime(["2024-01-01"] * 2 + [None])}
    )
    second = pd.DataFrame(
        {"a": ["1", "2.0", None], "b": ["True", "false", "TRUE"], "d": ["2024-01-02", None, "2024-01-01T12:00"]}
    )
    encoded = encode_pair(first, second)
    assert [feature.kind for feature in encoded.features] == ["number", "number", "date"]
    np.testing.assert_allclose(encoded.values(0), [1, 2, 3.5, 1, 2, np.nan])
    np.testing.assert_allclose(encoded.values(1), [1, 0, 1, 1, 0, 1])


def test_numbers_as_text_with_a_few_other_words_are_named_so():
    text = [*(str(value) for value in np.random.default_rng(0).normal(size=99)), "unknown"]
    frame = pd.DataFrame({"a": text, "b": np.arange(100) % 7})
    (left,) = encode_pair(frame, frame).left_out
    assert left.reason.startswith("holds numbers as text except for 'unknown'; make it numbers")


def test_a_single_date_beside_gaps_keeps_its_text():
    frame = pd.DataFrame({"d": [pd.NaT, pd.Timestamp("2024-01-01")] * 3, "e": pd.to_datetime(["2024-01-01"] * 6)})
    encoded = encode_pair(frame, frame)
    assert encoded.features[0].levels == ("2024-01-01",)
    assert encoded.left_out[0].reason == "constant: 2024-01-01 in every row"


def test_kinds_that_disagree():
    first = pd.DataFrame({"a": [1, 2, 1], "b": [1.0, 2.0, 3.0], "c": [None] * 3, "x": [1, 2, 3]})
    second = pd.DataFrame(
        {"a": ["1", "B", "1"], "b": pd.to_datetime(["2024-01-01"] * 3), "c": ["u"] * 3, "x": [4, 5, 6]}
    )
    encoded = encode_pair(first, second)
    assert encoded.names == ("a", "c", "x")
    assert encoded.features[0].levels == ("1", "2", "B")
    assert encoded.features[1].levels == ("u",)
    assert encoded.left_out[0].reason.startswith("numbers in the reference sample and dates in the current one")


# --- invariants ---------------------------------------------------------------------------------------------


def assert_same(one, other):
    assert (one.p_value, one.names) == (other.p_value, other.names)
    np.testing.assert_array_equal(one.scores.reference, other.scores.reference)
    np.testing.assert_array_equal(one.scores.current, other.scores.current)
    np.testing.assert_array_equal(one.kept_current, other.kept_current)
    assert [(m.side, m.features, m.excess, str(m.directions)) for m in one.modes] == [
        (m.side, m.features, m.excess, str(m.directions)) for m in other.modes
    ]
    for mode, twin in zip(one.modes, other.modes, strict=True):
        np.testing.assert_array_equal(mode.rows, twin.rows)


def test_swapped_samples_and_columns_in_another_order_give_the_same_answer():
    reference, current = frames("level", n=150)
    one = compare(reference, current, params=QUICK)
    assert one.detected
    assert_same(one, compare(current, reference, params=QUICK).swapped())
    shuffled = reference[["w", "x", "device", "age"]], pl.from_pandas(current)[["age", "w", "device", "x"]]
    assert_same(one, compare(*shuffled, params=QUICK))


@pytest.mark.parametrize("seed", range(5))
def test_mixed_columns_are_encoded_alike_in_any_order(seed):
    """Swapped samples, shuffled rows and shuffled columns: the same numbers, to the last bit, in the other order."""
    reference, current = frames("missing", n=61, seed=seed)
    current["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(61) % 7, unit="D")
    reference["day"] = pd.NaT
    one = encode_pair(reference, current)
    rng = np.random.default_rng(seed)
    first, second = rng.permutation(61), rng.permutation(61)
    other = encode_pair(current.iloc[second, rng.permutation(5)], pl.from_pandas(reference.iloc[first]))
    order = np.concatenate([61 + second, first])
    assert (one.names, one.features, one.groups) == (other.names, other.features, other.groups)
    np.testing.assert_array_equal(one.points[order], other.points)
    np.testing.assert_array_equal(one.ranked[order], other.ranked)
    np.testing.assert_array_equal(one.scale, other.scale)


def test_rows_in_another_order_have_their_scores_in_that_order():
    reference, current = frames("missing", n=80)
    order = np.random.default_rng(1).permutation(80)
    one, other = score(reference, current, 15), score(reference, current.iloc[order], 15)
    np.testing.assert_array_equal(one.current[order], other.current)
    np.testing.assert_array_equal(one.reference, other.reference)


def test_one_weight_per_group_of_columns():
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(300, 4))
    target = np.arange(300) >= 150
    pool[target, 1:3] += 2.0
    params = LocaliseParams(epochs=20, k=20)
    plain = localise(pool, target, params=params)
    single = localise(pool, target, params=params, groups=((0,), (1,), (2,), (3,)))
    np.testing.assert_array_equal(plain.weights, single.weights)
    grouped = localise(pool, target, params=params, groups=((0,), (1, 2), (3,)))
    assert grouped.weights.shape == (3,)
    assert grouped.features[0] == 1
    assert set(grouped.curve.sizes) == {1, 2, 3}


# --- shifts that only mixed tables have ---------------------------------------------------------------------


def test_a_level_that_became_more_frequent():
    result = compare(*frames("level"), params=QUICK)
    assert [mode.features for mode in result.modes] == [("device",)]
    assert str(result.modes[0].directions[0]).startswith("device = B: 30 % -> 5")
    assert result.modes[0].excess == pytest.approx(0.25, abs=0.08)


@pytest.mark.parametrize("seed", [0, 3])
def test_missing_values_of_one_level(seed):
    """One mode: the reference sample has more rows of B with an age instead, which is the same change."""
    reference, current = frames("missing", seed=seed)
    result = compare(reference, current, params=QUICK)
    (mode,) = result.modes
    assert (mode.side, set(mode.features)) == ("current", {"age", "device"})
    assert current["age"].iloc[mode.rows].isna().all()
    said = {direction.feature: direction.change for direction in mode.directions}
    assert said["age"].startswith("missing: ")
    assert said["device"].startswith("= B")


def test_a_category_and_a_number_that_go_together_otherwise():
    """Each level of either side is told by itself: together they would be higher here and lower there."""
    result = compare(*frames("pairing"), params=QUICK)
    told = {
        (mode.side, mode.directions[0].level, mode.directions[1].word): mode.directions[0].share
        for mode in result.modes
        if mode.features == ("device", "x")
    }
    assert told == {
        ("current", "A", "higher"): 1.0,
        ("current", "B", "lower"): 1.0,
        ("reference", "A", "lower"): 1.0,
        ("reference", "B", "higher"): 1.0,
    }
    assert len(result.modes) == 4


def test_levels_alone_if_a_number_adds_next_to_nothing():
    (mode,) = compare(*frames("level", seed=4), params=QUICK).modes
    assert mode.features == ("device",)


def test_what_the_other_sample_has_instead():
    """30 rows more of (B, missing): they lack at (B, there), the likest combination, and 10 at A."""
    level = np.repeat([0.0, 0.0, 1.0, 1.0], [60, 50, 30, 60])  # A of both samples, then B
    is_current = np.repeat([False, True, False, True], [60, 50, 30, 60])
    gap = np.zeros(200, np.bool_)
    gap[-50:] = True  # B of the current sample: 10 there, 50 missing
    ranked = np.column_stack([level, np.where(gap, -np.inf, 1.0)])
    found = counterpart(ranked, is_current, np.array([True, False]), (0, 1), np.flatnonzero(gap))
    scale = 90 / 110
    assert [(set(level[rows]), count) for rows, count in found] == [({1.0}, round(30 - 10 * scale)), ({0.0}, 19)]
    assert not is_current[np.concatenate([rows for rows, _ in found])].any()


def test_yes_or_no_is_told_in_shares():
    rng = np.random.default_rng(0)
    first, second = (pd.DataFrame({"smoker": rng.random(300) < p, "v": rng.normal(size=300)}) for p in (0.2, 0.6))
    (mode,) = compare(first, second, params=QUICK).modes
    assert mode.features == ("smoker",)
    assert str(mode.directions[0]).startswith(("smoker = 0: 81 % -> 40", "smoker = 1: 19 % -> 5"))


def test_equal_samples_of_mixed_kinds_agree():
    assert not compare(*frames(), params=QUICK).detected


def test_wording_of_directions():
    nan = float("nan")
    level = Direction("device", nan, nan, nan, nan, "category", "B", share=1.0, other_share=0.04, own_share=0.31)
    assert str(level) == "device = B: 4 % -> 31 %"
    paired = Direction("device", nan, nan, nan, nan, "category", "B", share=0.9, other_share=0.3, own_share=0.3)
    assert str(paired) == "device = B: 90 % of these rows against 30 %"
    noise = Direction("device", nan, nan, nan, nan, "category", "B", 0.65, 0.46, 0.51, marginal=False)
    assert str(noise) == "device = B: 65 % of these rows against 46 %"
    rare = Direction("device", nan, nan, nan, nan, "category", "new", share=1.0, other_share=0.0, own_share=0.04)
    assert str(rare) == "device = new: 0 % -> 4 %"
    gap = Direction("age", nan, nan, nan, nan, "number", "missing", 1.0, 0.004, 0.2, gap=True)
    assert str(gap) == "age missing: 0.4 % -> 20 %"
    assert str(Direction("age", 61.0, 52.0, 0.9, 1.0)) == "age higher: median 61 against 52"
    assert str(Direction("age", 52.0, 52.1, -0.01, 1.1)) == "age much the same: median 52 against 52.1"
    date = Direction("seen", 86400.0 * 366, 0.0, 1.0, 1.0, "date")
    assert str(date) == "seen later: median 1971-01-02 against 1970-01-01"


def test_complete_numbers_are_encoded_and_binned_as_ever():
    rows = np.random.default_rng(0).normal(size=(500, 3))
    encoded = encode_pair(rows[:200], rows[200:])
    assert encoded.ranked is encoded.points
    assert encoded.groups == ((0,), (1,), (2,))
    np.testing.assert_array_equal(encoded.points, (rows - encoded.centre) / encoded.scale)
    ranks = np.argsort(np.argsort(rows, axis=0), axis=0)
    np.testing.assert_array_equal(bin_features(encoded.ranked).codes, np.floor(256 * (ranks + 0.5) / 500).T)


def test_the_calibration_study_draws_every_kind():
    rows = mixed(600, np.random.default_rng(0))
    encoded = encode_pair(rows[:300], rows[300:])
    kinds = {feature.name: feature.kind for feature in encoded.features}
    assert kinds == {
        "age": "number",
        "day": "date",
        "device": "category",
        "dose": "number",
        "smoker": "number",
        "ward": "category",
    }
    assert [feature.name for feature in encoded.features if feature.missing] == ["dose"]
