"""Clusters on which nothing can be done, and what is left on one afterwards."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dask.array as da
import numpy as np
import pytest
from dask import delayed
from distributed import Client, LocalCluster, Status

import shiftscope as ss
from shiftscope.engines.dask import cluster as watched
from shiftscope.engines.dask.cluster import Cluster
from shiftscope.engines.dask.engine import DaskEngine
from shiftscope.errors import EngineError
from tests.quick import QUICK

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def short_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "LOOK_SECONDS", 0.1)


@contextmanager
def in_threads(workers: int) -> Iterator[Client]:
    """A cluster in this process; without a memory limit, nobody but the test pauses its workers and lets them go on."""
    settings = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0", "memory_limit": 0}
    with (
        LocalCluster(n_workers=workers, **settings) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with in_threads(1) as connected:
        yield connected


def tables() -> list[np.ndarray]:
    return list(np.random.default_rng(0).standard_normal((2, 400, 3)))


def compare_and_strike(client: Client, strike: Callable[[], None]) -> None:
    """A comparison in which something happens when the scan begins."""

    def progress(stage: str, fraction: float) -> None:
        if stage == "scan" and fraction == 0.0:
            strike()

    ss.compare(*tables(), params=QUICK, engine=DaskEngine(client, wait_seconds=0.5), progress=progress)


def test_a_cluster_without_workers_is_said_and_given_up(client: Client) -> None:
    told: list[tuple[str, float]] = []
    with in_threads(0) as empty:
        engine = DaskEngine(empty, wait_seconds=0.5)
        with pytest.raises(
            EngineError, match=r"^dask: the cluster has no workers, and nothing was done for 0\.5 s; .*"
        ):
            ss.compare(*tables(), engine=engine, progress=lambda *now: told.append(now))
        waiting = [fraction for stage, fraction in told if stage == "waiting: the cluster has no workers"]
        assert len(waiting) > 2
        assert waiting == sorted(waiting)
        assert waiting[-1] == 1.0
        assert left_on(empty) == []


def test_a_cluster_that_loses_its_only_worker_is_given_up() -> None:
    with in_threads(1) as client:
        with pytest.raises(EngineError, match="the cluster has no workers"):
            compare_and_strike(client, lambda: client.cluster.scale(0))
        assert left_on(client) == []


def pause(dask_worker: Any) -> None:
    dask_worker.status = Status.paused


def resume(dask_worker: Any) -> None:
    dask_worker.status = Status.running


def test_workers_paused_at_their_memory_limit_are_given_up(client: Client) -> None:
    try:
        with pytest.raises(EngineError, match="all workers are paused at their memory limit"):
            compare_and_strike(client, lambda: client.run(pause))
        assert left_on(client) == []
    finally:
        client.run(resume)


def test_a_worker_that_comes_back_in_time_is_waited_for(client: Client) -> None:
    engine = DaskEngine(client, wait_seconds=60)
    expected = ss.compare(*tables(), params=QUICK, engine=engine)
    client.run(pause)

    def progress(stage: str, fraction: float) -> None:
        if stage.startswith("waiting: all workers are paused"):
            client.run(resume)

    try:
        found = ss.compare(*tables(), params=QUICK, engine=engine, progress=progress)
    finally:
        client.run(resume)
    assert found.p_value == expected.p_value
    np.testing.assert_array_equal(found.scores.current, expected.scores.current)


def test_a_cluster_at_work_is_never_given_up(client: Client) -> None:
    """The one worker is paused, but busy with a long task: that is what is waited for."""
    work = Cluster(client, wait_seconds=0.2)
    long = work.submit(time.sleep, 3)
    while not any(client.processing().values()):
        time.sleep(0.01)
    client.run(pause)
    try:
        assert work.result(long) is None
    finally:
        client.run(resume)


def test_a_scheduler_that_does_not_answer_is_given_up(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    work = Cluster(client, wait_seconds=0.3)
    long = work.submit(time.sleep, 2)
    monkeypatch.setattr(watched._Watch, "_workers", lambda self: None)
    with pytest.raises(EngineError, match="the scheduler does not answer"):
        work.result(long)


def left_on(client: Client) -> list[str]:
    """Tasks and data on a cluster, once what was let go of has gone."""
    for _ in range(100):
        tasks = client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
        held = [key for keys in client.has_what().values() for key in keys]
        if not tasks and not held:
            break
        time.sleep(0.05)
    return [*tasks, *held]


def failing() -> np.ndarray:
    raise ValueError("a bad day")


def interrupt(stage: str, fraction: float) -> None:
    if stage == "scan":
        raise KeyboardInterrupt


def test_nothing_is_left_on_a_cluster(client: Client) -> None:
    engine = DaskEngine(client, shard_rows=1024, large_search=1000)
    result = ss.compare(*tables(), params=QUICK, engine=engine)
    assert left_on(client) == []
    parts = [da.from_delayed(delayed(failing)(), (400, 3), float), da.from_array(tables()[0], chunks=(100, 3))]
    with pytest.raises(ValueError, match="a bad day") as error:
        ss.compare(*parts, engine=engine)
    assert left_on(client) == []
    with pytest.raises(KeyboardInterrupt) as stopped:
        ss.compare(*tables(), params=QUICK, engine=engine, progress=interrupt)
    assert left_on(client) == []
    assert error.tb is not None  # tracebacks are still there, and with them what the frames hold
    assert stopped.tb is not None
    assert result.p_value <= 1.0


def test_data_of_the_user_stays_where_it_is(client: Client) -> None:
    kept = [client.persist(da.from_array(table, chunks=(200, 3))) for table in tables()]
    ss.compare(*kept, params=QUICK, engine=DaskEngine(client))
    np.testing.assert_array_equal(client.compute(kept[0]).result(), tables()[0])
    del kept
    assert left_on(client) == []


@pytest.mark.parametrize("wrong", [0, -1.0, float("inf"), "60", True])
def test_the_time_to_wait_is_checked(client: Client, wrong: Any) -> None:
    with pytest.raises(ss.ParameterError, match="wait_seconds must be a finite number above 0"):
        DaskEngine(client, wait_seconds=wrong)
