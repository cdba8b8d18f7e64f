from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from typer.testing import CliRunner

import shiftscope as ss
from shiftscope.cli.app import app
from shiftscope.encoding.sample_order import canonical
from shiftscope.engines.dask.engine import DaskEngine
from shiftscope.engines.local import LocalEngine
from shiftscope.errors import EngineError, InputError
from shiftscope.params import EqualiseParams, ScanParams
from shiftscope.results import ShiftResult
from tests.pairs import encode_pair
from validation.unchanged import digests

PARAMS = ss.CompareParams(
    alpha=0.05,
    n_permutations=99,
    scan=ScanParams(n_permutations=99, n_seeds=32, beam=2, max_features=4),
    equalise=EqualiseParams(k_max=40, n_permutations=59),
)
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


def samples() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    reference, current = rng.standard_normal((1100, 4)), rng.standard_normal((1000, 4))
    current[:120, :3] = 1.0 + 0.15 * rng.standard_normal((120, 3))
    current[:, 3] = np.round(current[:, 3])  # ties
    reference[:, 3] = np.round(reference[:, 3])
    return reference, current


def in_parts(table: np.ndarray, parts: int) -> da.Array:
    return da.from_array(table, chunks=(-(-len(table) // parts), 2))


def same(one: ShiftResult, other: ShiftResult) -> None:
    """Equal to the last bit in every field but timings and settings; pytest names the fields that differ."""
    assert digests(one) == digests(other)


@pytest.fixture(scope="module")
def local() -> ShiftResult:
    result = ss.compare(*samples(), params=PARAMS)
    assert result.detected
    assert result.modes
    return result


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with (
        dask.config.set({"distributed.worker.daemon": False}),
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", memory_limit="1GiB") as started,
    ):
        yield started


@pytest.fixture(scope="module")
def client(cluster: LocalCluster) -> Iterator[Client]:
    with Client(cluster, set_as_default=False) as connected:
        yield connected


def small_shards(client: Client) -> DaskEngine:
    return DaskEngine(client, shard_rows=1024, large_search=10**6)


@pytest.mark.parametrize(("workers", "parts"), [(1, 3), (2, 1), (3, 16)])
def test_any_cluster_gives_the_result_of_one_machine(
    cluster: LocalCluster, client: Client, local: ShiftResult, workers: int, parts: int
) -> None:
    cluster.scale(workers)
    client.wait_for_workers(workers)
    tables = [in_parts(table, parts) for table in samples()]
    same(ss.compare(*tables, params=PARAMS, engine=small_shards(client)), local)


def test_a_sharded_search_finds_the_same_neighbours(client: Client) -> None:
    points = np.random.default_rng(3).integers(0, 5, (700, 3)).astype(float)  # many ties, between shards too
    here, there = LocalEngine(), DaskEngine(client, large_search=1)
    some, others = np.arange(0, 700, 50), points[600:]
    for found, expected in (
        (engine.index(points, 50).knn(50) for engine in (there, here)),
        (engine.index(points, 699).knn(699, some) for engine in (there, here)),
        (engine.index(points[:600], 20).nearest(20, others) for engine in (there, here)),
    ):
        np.testing.assert_array_equal(found.index, expected.index)
        np.testing.assert_array_equal(found.tied, expected.tied)


def test_frames_with_gaps_and_levels_and_parquet_files(client: Client, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    frames = []
    for surplus in (0, 60):
        frame = pd.DataFrame({"a": rng.standard_normal(600), "b": rng.standard_normal(600)})
        frame["kind"] = np.where(np.arange(600) < surplus, "rare", rng.choice(["x", "y"], 600))
        frame.loc[rng.choice(600, 50, replace=False), "a"] = np.nan
        frames.append(frame)
    expected = ss.compare(*frames, params=PARAMS)
    assert expected.detected
    parts = [dd.from_pandas(frame, npartitions=3) for frame in frames]
    same(ss.compare(*parts, params=PARAMS, engine=small_shards(client)), expected)
    for name, frame in zip(("before", "after"), frames, strict=True):
        for number in range(3):
            frame.iloc[200 * number : 200 * (number + 1)].to_parquet(tmp_path / f"{name}-{number}.parquet")
        frame.iloc[:0].to_parquet(tmp_path / f"{name}-[0].parquet")  # no rows, and no pattern either
    address = client.scheduler.address
    files = [str(tmp_path / f"{name}-*.parquet") for name in ("before", "after")]
    same(ss.compare(*files, params=PARAMS, engine=address), expected)
    first = [path.replace("*", "0") for path in files]
    run = CliRunner().invoke(app, ["compare", *first, "--engine", "dask", "--scheduler", address])
    assert run.exit_code == 0, run.output
    assert "kind" in run.output


def same_scan(one: ShiftResult, other: ShiftResult) -> None:
    """The scan counts all rows wherever they are; only which of them it names depends on what was gathered."""
    scans = [
        {name: told for name, told in digests(result.scan).items() if "rows_" not in name and "elsewhere_" not in name}
        for result in (one, other)
    ]
    assert scans[0] == scans[1]
    counts = [[(found.count_reference, found.count_current) for found in result.scan.sets] for result in (one, other)]
    assert counts[0] == counts[1]
    np.testing.assert_array_equal(one.encoded.centre, other.encoded.centre)
    np.testing.assert_array_equal(one.encoded.scale, other.encoded.scale)


def test_of_a_large_pool_all_rows_are_encoded_and_counted_and_a_sample_is_gathered(
    client: Client, local: ShiftResult
) -> None:
    engine = DaskEngine(client, gathered_rows=1200, shard_rows=1024)
    found = [
        ss.compare(*(in_parts(table, parts) for table in samples()), params=PARAMS, engine=engine) for parts in (3, 16)
    ]
    for result in found:
        same_scan(result, local)
        same(result, found[0])
    assert found[0].detected
    assert len(found[0].encoded.points) == 1200
    assert (found[0].n_reference, found[0].n_current) == (1100, 1000)
    assert (found[0].gathered.n_reference, found[0].gathered.n_current) == (1100, 1000)
    assert "all 1,100 reference and 1,000 current rows" in found[0].notes[0]
    rows = found[0].positions("current", found[0].modes[0].rows)
    assert np.mean(rows < 120) > 0.7


def test_samples_of_equal_size_have_one_order(client: Client) -> None:
    reference, current = (table[:700] for table in samples())
    local = ss.compare(reference, current, params=PARAMS)
    engine = DaskEngine(client, gathered_rows=600, shard_rows=1024)
    ahead = ss.compare(in_parts(reference, 3), in_parts(current, 2), params=PARAMS, engine=engine)
    back = ss.compare(in_parts(current, 5), in_parts(reference, 1), params=PARAMS, engine=engine)
    same_scan(ahead, local)
    same(back.swapped(), ahead)


def test_partitions_are_read_with_the_notices_and_errors_of_whole_tables(client: Client) -> None:
    rng = np.random.default_rng(6)
    frames = []
    for n in (90, 120):
        frame = pd.DataFrame({"a": rng.standard_normal(n), "key": rng.permutation(10 * n)[:n], "same": np.ones(n)})
        frame["copy"] = frame["a"]
        frame["row"] = np.arange(n)
        frame["count"] = np.append(np.arange(n - 1), 0)  # every partition has distinct numbers, the whole has not
        frame["level"] = rng.choice(["x", "y", "z"], n)
        frame.loc[rng.choice(n, 9, replace=False), "level"] = None
        frames.append(frame)
    whole, _ = canonical(encode_pair(*frames))
    engine = DaskEngine(client)
    pool = engine.open(*(dd.from_pandas(frame, npartitions=3) for frame in frames), ss.Columns(), 0, ss.TableOptions())
    assert pool.encoded.left_out == whole.left_out
    assert {left.name for left in whole.left_out} == {"copy", "key", "row", "same"}
    np.testing.assert_array_equal(pool.encoded.points, whole.points)
    np.testing.assert_array_equal(pool.encoded.ranked, whole.ranked)
    assert pool.encoded.features == whole.features
    frames[1].loc[100, "a"] = np.inf
    with pytest.raises(InputError, match=r"current: column 'a' has 1 infinite value \(first in row 100"):
        engine.open(*(dd.from_pandas(frame, npartitions=3) for frame in frames), ss.Columns(), 0, ss.TableOptions())


def during_scan(strike: Callable[[], None]) -> Callable[[str, float], None]:
    """A progress callback that strikes once, when the scan has begun."""
    struck = []

    def progress(stage: str, fraction: float) -> None:
        if stage == "scan" and not struck:
            struck.append(True)
            strike()

    return progress


def test_a_killed_worker_is_replaced_and_the_result_is_the_same(client: Client, local: ShiftResult) -> None:
    victim = next(iter(client.run(os.getpid).values()))
    tables = [in_parts(table, 3) for table in samples()]
    progress = during_scan(lambda: os.kill(victim, signal.SIGKILL))
    same(ss.compare(*tables, params=PARAMS, engine=small_shards(client), progress=progress), local)
    assert victim not in client.run(os.getpid).values()


def fill_memory(marker: str) -> int:
    """Take more memory than a worker may have, but only the first time; the marker names the process that did."""
    if os.path.exists(marker):
        return 0
    Path(marker).write_text(str(os.getpid()), encoding="utf-8")
    hoard = np.ones(150 * 2**20)  # 1.2 GB
    time.sleep(60)
    return hoard.size


def test_a_worker_that_runs_out_of_memory_is_replaced(client: Client, local: ShiftResult, tmp_path: Path) -> None:
    marker, hoards = tmp_path / "marker", []

    def strike() -> None:
        hoards.append(client.submit(fill_memory, str(marker), pure=False))

    tables = [in_parts(table, 3) for table in samples()]
    same(ss.compare(*tables, params=PARAMS, engine=small_shards(client), progress=during_scan(strike)), local)
    assert hoards[0].result(timeout=60) == 0  # done by the successor of a worker that was ended
    assert int(marker.read_text(encoding="utf-8")) not in client.run(os.getpid).values()


def test_a_scheduler_that_disappears_is_one_clear_error(tmp_path: Path) -> None:
    file = str(tmp_path / "scheduler.json")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--scheduler-file", file, "--port", "0"]
    scheduler = subprocess.Popen([*command, "--no-dashboard"], **quiet)
    worker = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "distributed.cli.dask_worker",
            "--scheduler-file",
            file,
            "--nthreads",
            "1",
            "--no-nanny",
        ],
        **quiet,
    )
    try:
        with (
            dask.config.set({"distributed.comm.timeouts.connect": "3s"}),
            Client(scheduler_file=file, set_as_default=False, timeout="60s") as client,
        ):
            client.wait_for_workers(1, timeout=60)
            tables = [in_parts(table, 2) for table in samples()]
            with pytest.raises(EngineError, match="the scheduler was lost during 'scan'"):
                ss.compare(*tables, params=PARAMS, engine=small_shards(client), progress=during_scan(scheduler.kill))
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


def test_what_is_no_table_is_refused_as_on_one_machine(client: Client) -> None:
    for engine in (DaskEngine(client), None):
        with pytest.raises(InputError, match="reference: cannot be read from an object of type dict; pass"):
            ss.compare({"x": 1}, np.zeros((5, 1)), engine=engine)


def test_a_scheduler_without_the_engine_is_refused() -> None:
    run = CliRunner().invoke(app, ["compare", "a.csv", "b.csv", "--scheduler", "tcp://127.0.0.1:1"])
    assert run.exit_code == 2
    assert "--engine dask" in run.output


@pytest.mark.parametrize(
    "wrong", [{"gathered_rows": "x"}, {"gathered_rows": 0}, {"shard_rows": 0}, {"large_search": True}]
)
def test_settings_of_the_engine_are_checked(client: Client, wrong: dict[str, Any]) -> None:
    with pytest.raises(ss.ParameterError, match=f"{next(iter(wrong))} must be a whole number of at least"):
        DaskEngine(client, **wrong)
    with pytest.raises(ss.ParameterError, match="client must be of the class Client"):
        DaskEngine(None)
