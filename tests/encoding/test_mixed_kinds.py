"""Tables of mixed kinds: the encoding and its invariants."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from experiments.calibration.false_alarms import mixed
from shiftscope.encoding.bins import bin_features
from shiftscope.encoding.features import METRIC_LEVELS
from shiftscope.errors import InputError, ParameterError
from shiftscope.tables.column_choice import Columns
from tests.mixed_frames import frames
from tests.pairs import encode_pair

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
