"""Addresses, connections, and the end by Ctrl-C."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import shiftscope as ss
from shiftscope.cli.app import app
from shiftscope.engines.dask import connecting
from shiftscope.engines.dask.engine import DaskEngine
from shiftscope.errors import EngineError, ParameterError

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("tcp://", "missing port"),
        ("tcp://10.0.0.1", "missing port"),
        ("tcp://:8786", "the host is ''"),
        ("tcp://10.0.0.1:port", "invalid literal"),
        ("tcp://10.0.0.1:8786/path", "invalid literal"),
        ("tcp://10.0.0.1:99999", "ports go from 1 to 65535"),
        ("tcp://10.0.0.1:0", "ports go from 1 to 65535"),
        ("tcp://a host:8786", "the host is 'a host'"),
        ("tcp://::1:8786", "ipv6 needs brackets"),
        ("http://10.0.0.1:8786", "unknown address scheme 'http'"),
        ("://10.0.0.1:8786", "unknown address scheme ''"),
        ("tcp://tcp://10.0.0.1:8786", ""),
    ],
)
def test_what_is_no_address_is_refused_before_anything_is_tried(
    address: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(connecting, "Client")
    with pytest.raises(ParameterError, match=f"^{address!r} is no address of a Dask scheduler .*; give one") as error:
        ss.compare(np.zeros((9, 1)), np.zeros((9, 1)), engine=address)
    assert why in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.1:8786", "tls://node-1.local:8786", "tcp://[::1]:8786", "inproc://1/2/3"]
)
def test_addresses_pass(address: str) -> None:
    connecting.check_address(address)


def test_the_command_line_refuses_an_address_in_one_line(tmp_path: Path) -> None:
    file = str(tmp_path / "a.npy")
    np.save(file, np.zeros((9, 2)))
    outcome = CliRunner().invoke(
        app, ["compare", file, file, "--engine", "dask", "--scheduler", "tcp://10.0.0.1:99999"]
    )
    assert outcome.exit_code == 2
    assert outcome.output.startswith("shiftscope: 'tcp://10.0.0.1:99999' is no address of a Dask scheduler")
    assert outcome.output.count("\n") == 1


def test_where_nobody_answers_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "CONNECT_SECONDS", 0.5)
    logger = logging.getLogger("distributed")
    levels = [handler.level for handler in logger.handlers]
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()  # takes calls and never answers
        port = mute.getsockname()[1]
        with pytest.raises(
            EngineError, match=rf"^dask: no scheduler answered at 'tcp://127.0.0.1:{port}' within 0.5 s"
        ) as e:
            ss.compare(np.zeros((9, 1)), np.zeros((9, 1)), engine=f"tcp://127.0.0.1:{port}")
    assert "\n" not in str(e.value)
    with pytest.raises(EngineError, match="no scheduler answered"), DaskEngine.at(f"tcp://127.0.0.1:{port}"):
        pass  # nobody takes the call any more
    assert [handler.level for handler in logger.handlers] == levels


def interrupted(engine: str, stage: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A comparison that gets Ctrl-C, like all processes of its terminal, in a stage of its work."""
    command = [sys.executable, "-m", "tests.engines.dask.interrupted", engine, stage, str(folder / "marker")]
    return subprocess.run(command, capture_output=True, text=True, start_new_session=True, timeout=300, check=False)


def test_ctrl_c_ends_a_cluster_of_ours_in_one_line(tmp_path: Path) -> None:
    ended = interrupted("dask", "scan", tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "shiftscope: interrupted\n")


def test_ctrl_c_leaves_a_cluster_of_others_in_one_line(tmp_path: Path) -> None:
    file, processes = tmp_path / "scheduler.json", []
    try:
        for what in (["scheduler", "--port", "0", "--no-dashboard"], ["worker", "--nthreads", "1", "--no-nanny"]):
            name, *options = what
            command = [sys.executable, "-m", f"distributed.cli.dask_{name}", "--scheduler-file", str(file), *options]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            processes.append(subprocess.Popen(command, start_new_session=True, **quiet))
        while not file.exists() or not file.read_text(encoding="utf-8").endswith("}"):
            time.sleep(0.05)
        address = json.loads(file.read_text(encoding="utf-8"))["address"]
        ended = interrupted(address, "read", tmp_path)
        assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "shiftscope: interrupted\n")
    finally:
        for process in processes:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
