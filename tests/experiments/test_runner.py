from __future__ import annotations

import io
import json
import os

import pytest

from experiments import runner
from experiments.cost import measured
from experiments.runner import Task, duration, run_tasks, run_units, write_whole


def test_units_there_are_not_computed_again_and_parts_are_ignored(tmp_path):
    (tmp_path / "1_0.json").write_text('{"value": "kept"}')
    (tmp_path / "2_0.part").write_text('{"value": "dama')
    (tmp_path / "2_0.77.part").write_text("")
    asked = []

    def compute(setting, seed):
        asked.append((setting, seed))
        return {"value": setting}

    for _ in range(2):
        assert run_units([(1, 0), (2, 0)], compute, tmp_path) == [{"value": "kept"}, {"value": 2}]
        assert asked == [(2, 0)]


def test_without_processes_only_what_is_there_is_told(tmp_path):
    tasks = [Task(f"unit_{k}", dict, ([("number", k)],)) for k in range(3)]
    run_tasks(tasks[1:2], tmp_path)
    assert run_tasks(tasks, tmp_path, processes=0) == {"unit_1": {"number": 1}}
    assert [unit["number"] for unit in run_tasks(tasks, tmp_path).values()] == [0, 1, 2]


def test_processes_share_the_missing_units_and_take_one_thread_each(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "7")
    tasks = [Task("threads", os.getenv, ("NUMBA_NUM_THREADS",)), Task("process", os.getpid, ())]
    found = run_tasks(tasks, tmp_path, processes=2)
    assert found["threads"] == "1"
    assert found["process"] != os.getpid()
    assert os.environ["NUMBA_NUM_THREADS"] == "7"


@pytest.mark.parametrize("processes", [1, 2])
def test_a_fault_in_a_unit_is_raised_and_leaves_no_file(tmp_path, processes):
    tasks = [Task("good", dict, ()), Task("bad", int, ("x",))]
    with pytest.raises(ValueError, match="invalid literal"):
        run_tasks(tasks, tmp_path, processes)
    assert not (tmp_path / "bad.json").exists()
    assert run_tasks(tasks[:1], tmp_path) == {"good": {}}


def test_an_interrupt_keeps_what_is_done(tmp_path, capsys):
    def compute(setting):
        if setting == 2:
            raise KeyboardInterrupt
        return {"value": setting}

    with pytest.raises(SystemExit) as stopped:
        run_units([(1,), (2,), (3,)], compute, tmp_path)
    assert stopped.value.code == 130
    assert "1 of 3" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["1.json"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    write_whole(path, "old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        write_whole(path, "new")
    assert path.read_text() == "old"


def test_texts_and_bytes_are_written_alike(tmp_path):
    write_whole(tmp_path / "a", "µV")
    assert (tmp_path / "a").read_bytes() == "µV".encode()
    write_whole(tmp_path / "a", b"\x00")
    assert (tmp_path / "a").read_bytes() == b"\x00"
    assert len(list(tmp_path.iterdir())) == 1


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_the_count_and_a_pipe_nothing(tmp_path, monkeypatch, capsys):
    run_units([(1,), (2,)], lambda number: {"number": number}, tmp_path / "pipe")
    assert capsys.readouterr().err == ""
    terminal = Terminal()
    monkeypatch.setattr(runner.sys, "stderr", terminal)
    run_units([(1,), (2,)], lambda number: {"number": number}, tmp_path / "terminal")
    shown = terminal.getvalue().split("\r\x1b[K")
    assert [line[:6] for line in shown] == ["", "0 of 2", "1 of 2", "2 of 2", ""]
    assert " 0 s " in shown[-2]


def test_durations():
    assert [duration(seconds) for seconds in (4.4, 125, 3 * 3600 + 61)] == ["4 s", "2 min", "3 h 1 min"]


@measured
def unit_of_some_work(number):
    return {"number": number, "sum": sum(range(200_000))}


def test_a_measured_unit_tells_its_cost(tmp_path):
    (unit,) = run_units([(5,)], unit_of_some_work, tmp_path)
    assert unit["number"] == 5
    assert unit["wall_seconds"] > 0
    assert unit["cpu_seconds"] > 0
    assert json.loads((tmp_path / "5.json").read_text()) == unit
