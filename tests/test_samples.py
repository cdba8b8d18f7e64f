"""The door: engines by name, and samples in their canonical and in the user's order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shiftscope.engines.local import LocalEngine
from shiftscope.errors import InputError, ParameterError
from shiftscope.samples import open_samples, opened, turned
from shiftscope.subspaces.scan_result import FeatureSet


@pytest.mark.parametrize("engine", [None, "local"])
def test_this_machine_is_an_engine_by_name(engine: str | None) -> None:
    with opened(engine) as where:
        assert isinstance(where, LocalEngine)


def test_an_engine_is_taken_as_it_is() -> None:
    own = LocalEngine(n_threads=1)
    with opened(own) as where:
        assert where is own


@pytest.mark.parametrize("engine", ["spark", "", 3])
def test_what_is_no_engine_is_refused_by_value(engine: object) -> None:
    with pytest.raises(ParameterError, match=r"^engine must be 'local', 'dask'.*got ") as caught, opened(engine):
        pass
    assert repr(engine) in str(caught.value)


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The second one is larger, so that its rows come first in the canonical order, or not: whichever, not both."""
    rng = np.random.default_rng(0)
    return tuple(pd.DataFrame({"a": rng.normal(10, 2, n), "b": rng.choice(["x", "y"], n)}) for n in (7, 12))


@pytest.mark.parametrize("swap", [False, True])
def test_samples_are_at_hand_in_the_users_order_whatever_the_canonical_one(swap: bool) -> None:
    pair = frames()[::-1] if swap else frames()
    with open_samples(*pair, random_state=5) as samples:
        given, tables = samples.as_given, samples.tables()
        assert (given.n_reference, given.n_current) == tuple(map(len, pair))
        numbers = np.concatenate([frame["a"] for frame in pair])
        np.testing.assert_allclose(given.values(given.names.index("a")), numbers, rtol=1e-12)
        for table, frame in zip(tables, pair, strict=True):
            np.testing.assert_array_equal(table.columns[table.names.index("a")].values, frame["a"])
            assert table.columns[table.names.index("b")].texts() == frame["b"].tolist()
        assert samples.random_state == 5
        canonical = samples.encoded.points
    with open_samples(*pair[::-1]) as other:
        np.testing.assert_array_equal(other.encoded.points, canonical)  # one canonical order
        assert other.pool.flipped != samples.pool.flipped


def test_results_are_turned_once_and_only_if_the_samples_were() -> None:
    rows = np.arange(3), np.arange(5)
    found = FeatureSet((0,), ("a",), "broad", "current", 1.0, 2.0, 1.0, 0.5, ((0.0, 1.0),), *rows)
    assert turned(found, False) is found
    assert turned(found, True).side == "reference"
    with open_samples(*frames()) as samples:
        assert samples.turned(found).side == ("reference" if samples.pool.flipped else "current")


def test_progress_tells_its_stage() -> None:
    heard: list[tuple[str, float]] = []
    with open_samples(*frames(), progress=lambda *told: heard.append(told)) as samples:
        samples.stage("scan")(0.25)
    assert heard == [("scan", 0.25)]


def test_seed_columns_and_progress_are_checked_before_anything_is_read() -> None:
    for name, given in (("random_state", -1), ("columns", 3), ("progress", 5)):
        with pytest.raises(ParameterError, match=f"^{name}"), open_samples("no.csv", "no.csv", **{name: given}):
            pass
    with pytest.raises(InputError, match=r"^reference: .*no\.csv"), open_samples("no.csv", frames()[1]):
        pass
