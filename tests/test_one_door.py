"""Every public function takes the same data, engines, seeds, progress and order of samples: there is one door."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
from distributed import Client, LocalCluster

import shiftscope as ss
from tests.quick import QUICK
from validation.unchanged import digests

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
SCAN = ss.ScanParams(n_permutations=63, n_seeds=8, beam=2)
EQUALISE = ss.EqualiseParams(k_max=30, n_permutations=39)


def samples() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Unequal sizes, ties, gaps and a category; a group of current rows lies where the reference has few."""
    rng = np.random.default_rng(3)
    frames = []
    for n in (110, 90):
        frame = pd.DataFrame(rng.standard_normal((n, 3)).round(3), columns=["a", "b", "c"])
        frame["c"] = frame["c"].round()
        frame.loc[rng.choice(n, 7, replace=False), "b"] = np.nan
        frame["level"] = rng.choice(["x", "y", "z"], n)
        frames.append(frame)
    frames[1].loc[:24, "a"] = (2.0 + 0.05 * rng.standard_normal(25)).round(3)
    return frames[0], frames[1]


def _monitor(reference: Any, current: Any, *, progress: Any = None, **given: Any) -> Any:
    return ss.monitor(ss.ShiftDetector(params=QUICK, **given).fit(reference), [current], progress=progress)


def _detector(reference: Any, current: Any, *, progress: Any = None, **given: Any) -> Any:
    return ss.ShiftDetector(params=QUICK, **given).fit(reference).compare(current, progress=progress)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "compare": lambda a, b, **given: ss.compare(a, b, params=QUICK, **given),
    "scan": lambda a, b, **given: ss.scan(a, b, SCAN, **given),
    "score": lambda a, b, **given: ss.score(a, b, 30, **given),
    "equalise": lambda a, b, **given: ss.equalise(a, b, params=EQUALISE, **given),
    "explain_rows": lambda a, b, **given: ss.explain_rows(a, b, range(9), alpha=0.05, params=SCAN, k_max=30, **given),
    "detector": _detector,
    "monitor": _monitor,
}
SEEDED = [name for name in FUNCTIONS if name != "score"]
TOLD_APART = {"rows.name", "rows.digest"}  # of a batch: where it came from


def told(result: Any) -> dict[str, str]:
    """All that a result tells, but where its data came from."""
    return {name: digest for name, digest in digests(result).items() if name not in TOLD_APART}


@pytest.fixture(scope="module")
def expected() -> Callable[[str], dict[str, str]]:
    """What each function tells of the plain frames; computed once."""
    known: dict[str, dict[str, str]] = {}

    def find(name: str) -> dict[str, str]:
        if name not in known:
            known[name] = told(FUNCTIONS[name](*samples()))
        return known[name]

    return find


def _written(frame: pd.DataFrame, path: Path, write: str, **settings: Any) -> str:
    getattr(frame, write)(path, **settings)
    return str(path)


KINDS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "pandas": lambda frame, _: frame,
    "polars": lambda frame, _: pl.from_pandas(frame),
    "polars, lazy": lambda frame, _: pl.from_pandas(frame).lazy(),
    "arrow": lambda frame, _: pl.from_pandas(frame).to_arrow(),
    "dask": lambda frame, _: dd.from_pandas(frame, npartitions=2),
    "csv": lambda frame, folder: _written(frame, folder / f"{len(frame)}.csv", "to_csv", index=False),
    "path of csv.gz": lambda frame, folder: Path(
        _written(frame, folder / f"{len(frame)}.csv.gz", "to_csv", index=False)
    ),
    "parquet": lambda frame, folder: _written(frame, folder / f"{len(frame)}.parquet", "to_parquet"),
    "json lines": lambda frame, folder: _written(
        frame, folder / f"{len(frame)}.jsonl", "to_json", orient="records", lines=True
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_form_of_the_same_data_gives_the_same_answer(name: str, kind: str, tmp_path: Path, expected: Any) -> None:
    pair = [KINDS[kind](frame, tmp_path) for frame in samples()]
    assert told(FUNCTIONS[name](*pair)) == expected(name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arrays_and_lists_of_rows_are_one(name: str) -> None:
    arrays = [frame[["a", "c"]].to_numpy() for frame in samples()]
    lists = [array.tolist() for array in arrays]
    assert told(FUNCTIONS[name](*lists)) == told(FUNCTIONS[name](*arrays))


@pytest.fixture(scope="module")
def cluster() -> Iterator[ss.DaskEngine]:
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as started,
        Client(started, set_as_default=False) as client,
    ):
        yield ss.DaskEngine(client)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_engine_gives_the_same_answer(name: str, cluster: ss.DaskEngine, expected: Any) -> None:
    for engine in ("local", None, cluster):
        assert told(FUNCTIONS[name](*samples(), engine=engine)) == expected(name)


OWN_WAYS = ("dask", "parquet", "csv")  # what a cluster reads in parts, by file, and as a whole that is cut


@pytest.mark.parametrize(
    ("name", "kind"),
    [*(("scan", kind) for kind in KINDS), *((name, kind) for name in FUNCTIONS if name != "scan" for kind in OWN_WAYS)],
)
def test_a_cluster_takes_any_form_of_data(
    name: str, kind: str, tmp_path: Path, cluster: ss.DaskEngine, expected: Any
) -> None:
    pair = [KINDS[kind](frame, tmp_path) for frame in samples()]
    assert told(FUNCTIONS[name](*pair, engine=cluster)) == expected(name)


def test_a_cluster_is_started_or_found_by_name(cluster: ss.DaskEngine, expected: Any) -> None:
    address = cluster.client.scheduler.address
    for engine in ("dask", address):
        assert told(FUNCTIONS["scan"](*samples(), engine=engine)) == expected("scan")


def test_a_detector_alarms_and_equalises_on_a_cluster_too(cluster: ss.DaskEngine) -> None:
    """Quiet batches and alarms alike, also where only some rows are gathered."""
    quiet, loud = samples()[0][:60], samples()[1][:60].assign(a=2.5 + samples()[1]["a"])
    detector = ss.ShiftDetector(alpha=0.2, params=QUICK, engine=cluster).fit(samples()[0])
    watched = ss.monitor(detector, [quiet, loud])
    assert [row.alarm for row in watched.rows] == [False, True]
    assert "a" in watched.rows[1].mode.features
    few = ss.DaskEngine(cluster.client, gathered_rows=150)
    assert ss.compare(*samples(), params=QUICK, engine=few).gathered is not None
    assert told(FUNCTIONS["scan"](*samples(), engine=few)) == told(
        FUNCTIONS["scan"](*samples())
    )  # all rows are counted
    for name in ("score", "equalise", "explain_rows"):
        with pytest.raises(ss.InputError, match=f"{name} needs all rows on this machine.*raise that"):
            FUNCTIONS[name](*samples(), engine=few)


@pytest.mark.parametrize("engine", ["spark", 3, object(), ss.DaskEngine])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_unknown_engine_is_refused(name: str, engine: Any) -> None:
    with pytest.raises(ss.ParameterError, match="engine must be 'local', 'dask', the address"):
        FUNCTIONS[name](*samples(), engine=engine)


@pytest.mark.parametrize("seed", [-1, "x", 1.5, True, None])
@pytest.mark.parametrize("name", SEEDED)
def test_a_seed_that_is_none_is_refused(name: str, seed: Any) -> None:
    with pytest.raises(ss.ParameterError, match="random_state must be a whole number of at least 0, got"):
        FUNCTIONS[name](*samples(), random_state=seed)


@pytest.mark.parametrize("name", SEEDED)
def test_the_same_seed_gives_the_same_answer_and_numpy_has_seeds_too(name: str) -> None:
    assert told(FUNCTIONS[name](*samples(), random_state=np.int64(7))) == told(
        FUNCTIONS[name](*samples(), random_state=7)
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_progress_is_told_stage_and_fraction(name: str, expected: Any) -> None:
    heard: list[tuple[str, float]] = []
    assert told(FUNCTIONS[name](*samples(), progress=lambda stage, fraction: heard.append((stage, fraction)))) == (
        expected(name)
    )
    assert heard
    assert all(isinstance(stage, str) and 0.0 <= fraction <= 1.0 for stage, fraction in heard)
    assert told(FUNCTIONS[name](*samples(), progress=None)) == expected(name)
    with pytest.raises(ss.ParameterError, match="progress must be callable"):
        FUNCTIONS[name](*samples(), progress=5)


@pytest.mark.parametrize("columns", [["nothing"], "a", 3, ss.Columns(include=())])
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("detector", "monitor")])
def test_columns_are_refused_in_the_same_words(name: str, columns: Any) -> None:
    with pytest.raises(ss.ParameterError) as caught:
        FUNCTIONS[name](*samples(), columns=columns)
    with pytest.raises(ss.ParameterError) as reference:
        ss.compare(*samples(), columns=columns)
    assert str(caught.value) == str(reference.value)


@pytest.mark.parametrize("name", ["compare", "scan", "score", "equalise", "detector"])
def test_swapped_samples_swap_the_answer(name: str, expected: Any) -> None:
    back = FUNCTIONS[name](*reversed(samples()))
    assert told(back.swapped()) == expected(name)


def test_swapped_samples_give_a_batch_the_same_verdict() -> None:
    one, other = (_monitor(*pair).rows[0] for pair in (samples(), samples()[::-1]))
    assert (one.p_value, one.alarm, one.n_modes) == (other.p_value, other.alarm, other.n_modes)


def test_the_scan_is_that_of_a_comparison() -> None:
    """Boxes in the user's units included, for numbers and dates."""
    pair = [
        frame.assign(when=pd.Timestamp("2024-01-01") + pd.to_timedelta(frame.index, unit="D")) for frame in samples()
    ]
    found = ss.compare(*pair, params=QUICK).scan
    alone = ss.scan(*pair, ss.ScanParams(**{**vars(QUICK.scan), "level": QUICK.level}))
    assert digests(alone) == digests(found)
    pool = pd.concat(pair)
    for one in alone.sets:
        for name, (low, high) in zip(one.names, one.box, strict=True):
            if name in ("a", "c") and np.isfinite([low, high]).all():
                inside = pool[name].between(low - 1e-9, high + 1e-9)
                assert inside.sum() >= one.rows_reference.size + one.rows_current.size
                assert np.abs(pool[name] - low).min() < 1e-9


def test_equalise_follows_its_params_and_its_own_argument() -> None:
    few, many = (ss.EqualiseParams(k_max=k, n_permutations=39) for k in (5, 60))
    by_params, by_argument = ss.equalise(*samples(), params=few), ss.equalise(*samples(), 5, params=many)
    assert digests(by_params) == digests(by_argument)
    assert digests(by_params) != digests(ss.equalise(*samples(), params=many))


@pytest.mark.parametrize("call", [ss.certify, ss.localise])
@pytest.mark.parametrize("seed", [-1, "x", 1.5, True, None])
def test_functions_without_two_samples_check_their_seed_as_well(call: Any, seed: Any) -> None:
    pool = np.vstack([frame[["a", "c"]].to_numpy() for frame in samples()])
    given = {
        ss.certify: (ss.compare(*samples(), params=QUICK),),
        ss.localise: (pool, np.arange(200) >= 110),
    }[call]
    with pytest.raises(ss.ParameterError, match="random_state must be"):
        call(*given, random_state=seed)


def test_all_answers_can_be_written(tmp_path: Path) -> None:
    for name in ("compare", "explain_rows", "monitor"):
        text = FUNCTIONS[name](*samples()).to_json(tmp_path / f"{name}.json")
        assert json.loads(text) == json.loads((tmp_path / f"{name}.json").read_text())
