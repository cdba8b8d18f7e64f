"""A right answer, or one line of ours: a few inputs, all that ever failed, and proof that faults are seen."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shiftscope as ss
from tests.fuzz import calls, commands, pool
from tests.fuzz.cases import TARGETS, case_of
from tests.fuzz.execute import ANSWERED, FAULT, REFUSED, Outcome, execute
from tests.fuzz.mutate import MUTATIONS
from tests.fuzz.pool import Worker
from tests.fuzz.run import FOUND, Record
from tests.fuzz.shrink import shrunk
from tests.fuzz.tables import FILES, FORMS, KINDS, made, pair
from tests.fuzz.tagged import packed, tag, unpacked, untag
from tests.fuzz.values import Maker

KEPT = sorted(FOUND.glob("*.json"))
SEEDS = range(80)  # of the whole targets, besides what Hypothesis draws


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as started:
        yield started


# --- the inputs ------------------------------------------------------------------------------------------------


@settings(max_examples=45)
@given(target=st.sampled_from(TARGETS), rng=st.randoms(use_true_random=False))
def test_a_right_answer_or_one_line(worker: Worker, target: str, rng: Random) -> None:
    """Hypothesis draws the input, and makes one that fails smaller."""
    outcome = worker.run(case_of(rng, target))
    assert outcome.kind != FAULT, f"{outcome.signature}\n{outcome.detail}"


def test_a_right_answer_or_one_line_where_most_code_is(worker: Worker) -> None:
    """Fixed seeds, weighted as in a long run."""
    faults = {}
    for seed in SEEDS:
        outcome = worker.run(case_of(Random(seed)))
        if outcome.kind == FAULT:
            faults[seed] = outcome.signature
    assert faults == {}


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_what_once_failed(worker: Worker, path: Path) -> None:
    outcome = worker.run(json.loads(path.read_text("utf-8")))
    assert outcome.kind in (ANSWERED, REFUSED), f"{outcome.signature}\n{outcome.detail}"


# --- nothing is left out ---------------------------------------------------------------------------------------


def test_every_public_name_has_a_target() -> None:
    called = {target.partition(".")[0].removesuffix("()") for target in calls.TARGETS}
    assert sorted(called | set(calls.ERRORS)) == sorted(ss.__all__)


def test_every_parameter_has_a_value_that_makes_sense() -> None:
    functions = {name: calls.PUBLIC[name] for name in (*calls.FUNCTIONS, "Columns", "DaskEngine", "ShiftDetector")}
    for name in calls.INSTANCES:
        functions |= {f"{name}.{method}": call for method, call in calls.methods(name).items() if call is not None}
    assert {name: calls.unknown(function) for name, function in functions.items() if calls.unknown(function)} == {}


def test_every_command_and_argument_has_a_target() -> None:
    assert {f"shiftscope {name}" for name in commands.COMMANDS} == set(commands.TARGETS)
    arguments = {
        one.name
        for command in commands.COMMANDS.values()
        for one in command.params
        if one.param_type_name == "argument"
    }
    assert arguments == set(commands.ARGUMENTS)


def test_all_kinds_of_options_forms_files_and_damage_are_drawn() -> None:
    """Of a few thousand inputs every option, form, file format and relation is part."""
    seen: set[str] = set()
    for seed in range(1500):
        case = case_of(Random(seed), "shiftscope compare" if seed % 3 else "compare")
        words = json.dumps(case)
        seen |= {word for word in case.get("argv", []) if word.startswith("--")}
        seen |= {form for form in FORMS if f'"form": "{form}"' in words}
        seen |= {suffix for suffix in FILES for name in case["files"] if name.endswith(suffix)}
        seen |= {case["relation"]["kind"]} if "relation" in case else set()
    options = {one.opts[-1] for one in commands.COMMANDS["compare"].params if one.param_type_name == "option"}
    assert options - {"--help"} <= seen
    assert {*FORMS, *FILES, *calls.RELATIONS} <= seen


# --- faults are seen -------------------------------------------------------------------------------------------


def _cluster() -> Any:
    raise AssertionError("no cluster here")


def _planted(monkeypatch: pytest.MonkeyPatch, planted: Callable[..., Any]) -> Outcome:
    monkeypatch.setattr(ss, "compare", planted)
    case = {"target": "compare", "call": "compare", "args": {"reference": "t.csv", "current": "t.csv"}}
    return execute({**case, "files": {"t.csv": packed(b"a\n1\n2\n")}}, _cluster)


def _refuse(message: str) -> Any:
    raise ss.InputError(message)


PLANTED: dict[str, tuple[Callable[..., Any], str]] = {
    "a crash": (lambda **_: {}["x"], "KeyError in outside"),
    "no words": (lambda **_: _refuse(""), "wrong: a refusal says something"),
    "a warning": (lambda **_: warnings.warn("hear", stacklevel=1), "wrong: no warning (hear)"),
    "random state": (lambda **_: np.random.seed(3), "wrong: nothing global has changed (numpy random)"),  # noqa: NPY002
    "errors": (lambda **_: np.seterr(all="raise"), "wrong: nothing global has changed (numpy errors)"),
    "an input": (lambda **_: Path("t.csv").write_text("b\n"), "wrong: a file that is no output was changed"),
    "litter": (lambda **_: Path("u.csv").write_text("b\n"), "wrong: no other file appears (here/u.csv)"),
    "home": (lambda **_: Path("~/x").expanduser().write_text("b"), "wrong: no other file appears (home/x)"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planted, signature = PLANTED[name]
    before = np.geterr()
    try:
        outcome = _planted(monkeypatch, planted)
    finally:
        np.seterr(**before)
    assert (outcome.kind, outcome.signature[: len(signature)]) == (FAULT, signature)


def test_answers_and_refusals_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _planted(monkeypatch, lambda **_: 3) == Outcome(ANSWERED)
    assert _planted(monkeypatch, lambda **_: _refuse("no; do so")) == Outcome(REFUSED, detail="no; do so")


def test_a_wrong_answer_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Oracles and relations: an answer that contradicts itself, and two that contradict each other."""
    rng = np.random.default_rng(0)
    result = ss.compare(*rng.standard_normal((2, 40, 2)), random_state=0)
    object.__setattr__(result, "detected", not result.detected)
    assert _planted(monkeypatch, lambda **_: result).signature == "wrong: detected is p_value <= alpha"
    answers = iter([np.arange(3), np.arange(4)])
    monkeypatch.setattr(ss, "compare", lambda **_: ss.Subset(next(answers), np.arange(3), 5, 5))
    case = {"target": "compare", "call": "compare", "args": {}, "files": {}}
    again = {"kind": "repeat", "other": {}, "turned": False}
    assert execute({**case, "relation": again}, _cluster).signature.startswith("wrong: repeat: the answers agree in")


STUB = """
import json, os, sys, time
os.write(int(sys.argv[1]), b"ready\\n")
for line in sys.stdin:
    case, held = json.loads(line), None
    if case == "wait": time.sleep(99)
    if case == "work": time.sleep(0.2) or [None for _ in iter(int, 1)]
    if case == "grow": held = bytearray(300_000_000); held[::4096] = b"x" * len(held[::4096]); time.sleep(99)
    if case == "die": os.kill(os.getpid(), 9)
    os.write(int(sys.argv[1]), json.dumps({"kind": "answered"}).encode() + b"\\n")
"""  # a worker that does what it is told


def test_what_hangs_grows_or_dies_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is one, and the next case finds a new worker."""
    for name, value in (("IDLE_SECONDS", 1.5), ("CPU_SECONDS", 0.5), ("MEMORY", 200_000_000), ("LOOKED_EVERY", 0.05)):
        monkeypatch.setattr(pool, name, value)
    expected = {
        "wait": "no answer in time",
        "work": "no answer in time",
        "grow": "too much memory",
        "die": "the process died (-9)",
    }
    with Worker(sys.executable, "-c", STUB) as stub:
        for case, signature in expected.items():
            assert stub.run("calm") == Outcome(ANSWERED)  # type: ignore[arg-type]
            assert stub.run(case) == Outcome(FAULT, signature)  # type: ignore[arg-type]
        assert stub.run("calm") == Outcome(ANSWERED)  # type: ignore[arg-type]


# --- the machine itself ----------------------------------------------------------------------------------------


def test_a_seed_gives_the_same_case() -> None:
    for seed in range(30):
        assert case_of(Random(seed)) == case_of(Random(seed))


def test_a_case_survives_its_file() -> None:
    for seed in range(60):
        case = case_of(Random(seed))
        assert json.loads(json.dumps(case)) == case


def test_tagged_values_come_back() -> None:
    rng = Random(0)
    values = [KINDS[kind](rng, False) for kind in KINDS for _ in range(20)]
    assert repr(untag(json.loads(json.dumps(tag(values))))) == repr(values)
    assert unpacked(packed(bytes(range(256)) * 9)) == bytes(range(256)) * 9


@pytest.mark.parametrize("name", MUTATIONS)
def test_every_mutation_does_something_and_takes_anything(name: str) -> None:
    content = "a,é\n1.5,2\n3.5,4\n".encode()
    assert any(MUTATIONS[name](Random(seed), content) != content for seed in range(20))
    assert isinstance(MUTATIONS[name](Random(0), b""), bytes)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_can_be_made(form: str) -> None:
    table = {"names": ["a", "b"], "columns": [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 9.0]]}
    assert made(table, form) is not None
    assert type(made(table, form)) is type(FORMS[form](table))


@pytest.mark.parametrize("name", calls.INSTANCES)
def test_every_object_whose_methods_are_called_can_be_made(name: str, tmp_path: Path) -> None:
    made = [_instance(name, seed, tmp_path) for seed in range(3)]
    assert any(isinstance(one, calls.PUBLIC[name]) for one in made)


def _instance(name: str, seed: int, folder: Path) -> Any:
    try:
        return Maker(folder, _cluster).make(calls.INSTANCES[name](calls.Draw(Random(seed), plain=True)))
    except ss.ShiftscopeError as error:
        return error


def test_a_failing_case_becomes_small() -> None:
    """The fault needs one value of one column and one option: nothing else stays."""
    reference, current = pair(Random(3), plain=True)
    current["columns"][0][4] = "needle"
    case = {
        "argv": ["compare", "a", "b", "--seed", "3", "--quiet"],
        "args": {"reference": {"table": reference, "form": "polars"}, "current": {"table": current, "form": "polars"}},
        "files": {"x": packed(b"abc")},
    }
    small = shrunk(case, lambda one: "needle" in json.dumps(one) and "--quiet" in one["argv"])
    assert small["args"]["current"]["table"]["columns"] == [["needle"]]
    assert (small["argv"], set(small["args"]), small["files"]) == (["compare", "--quiet"], {"current"}, {})


def test_a_long_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    record = Record(tmp_path / "runs" / "state.json")
    seeds = [record.seed() for _ in range(3)]
    assert record.add("compare", Outcome(FAULT, "x"), seeds[0])
    assert not record.add("compare", Outcome(FAULT, "x"), seeds[1])
    record.add("scan", Outcome(ANSWERED), seeds[2])
    record.save()
    again = Record(record.path)
    assert again.seed() not in seeds
    assert again.faults["x"]["times"] == 2
    assert again.table() == record.table()
    assert "compare: x (first seed" in again.table()
