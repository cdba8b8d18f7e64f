"""Arguments of Python calls: good and bad values by the name of a parameter, and how JSON becomes an object."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import shiftscope as ss
from tests.fuzz import tables
from tests.fuzz.mutate import mutated
from tests.fuzz.tagged import ODD, packed, tag, untag

BAD = [
    *map(
        tag, (None, True, False, 0, -1, 1, 2, 7, 2**70, -(2**70), 0.5, 1.5, math.nan, math.inf, -math.inf, -0.0, 1e-300)
    ),
    *map(
        tag,
        ("", "x", "reference", "0.05", "\0", "é" * 300, "a\nb", b"x", 1j, [], [1], ["a"], [[1.0], [2.0]], {}, {"a": 1}),
    ),
    *({"odd": name} for name in ODD),
    {"numpy": ["int64", 3]},
    {"numpy": ["float32", 0.05]},
    {"numpy": ["bool", True]},
    {"numpy": ["str", "x"]},
    {"path": "nowhere/at.all"},
    {"array": [0.5]},
    {"array": [[1, 2], [3, 4]]},
]

PARAMS = {
    "ScanParams": {
        "n_permutations": [31, 63, 7],
        "level": [0.05, 0.3],
        "n_seeds": [0, 8],
        "beam": [0, 2],
        "max_features": [1, 3, 4],
        "max_triples": [0, 4, 40],
        "max_sets": [1, 5],
        "rows_per_cell": [1, 4, 16],
    },
    "EqualiseParams": {
        "k_max": [1, 5, 30, 400],
        "q_tail": [0.5, 0.97],
        "alpha": [0.05, 0.4],
        "threshold": ["calibrated", "formula"],
        "null": ["exact", "simulated"],
        "n_permutations": [19, 39],
        "step": [None, 1, 50],
        "max_rounds": [1, 3],
    },
    "LocaliseParams": {
        "batch": ["corrected", "paper"],
        "k": [1, 5, 100],
        "beta": [0, 0.2, 1],
        "epochs": [1, 10],
        "batch_size": [4, 200],
        "query_fraction": [0.01, 0.5, 0.99],
        "background": [1, 50],
        "tau_start": [1.0, 10],
        "tau_end": [0.1, 1.0],
        "learning_rate": [None, 0.01, 5.0],
        "l1": [0, 0.01, 100],
        "folds": [2, 5, 100],
    },
    "ModeParams": {
        "least_rows": [1, 10],
        "pruning_anchors": [1, 100],
        "same_rows": [0.01, 1.0],
        "climbing_anchors": [1, 9],
        "rescan_labellings": [1, 31],
        "scans_per_mode": [1, 3],
        "sets_tried": [1, 5],
        "core_share": [0.1, 1.0],
        "region_rank": [1, 5],
        "region_share": [0.5, 1.0],
        "compact_share": [0.1, 1],
        "level_share": [0.01, 1],
    },
    "CompareParams": {
        "alpha": [0.05, 0.3],
        "n_permutations": [59, 99],
        "max_iterations": [1, 2],
        "max_modes": [1, 5],
        "full_space_rows": [100, 110, 200_000],
    },
    "TableOptions": {
        "header": [True, False],
        "names": [["a", "b"], ["a"], ["a", "a"]],
        "delimiter": [",", ";", "tab", "blank", "|", "bar"],
        "decimal": [".", ","],
        "thousands": [",", ".", " ", "'", ""],
        "encoding": ["utf-8", "cp1252", "latin-1", "utf-16"],
        "missing": [["NA", "-"], ["a=0"], []],
        "comment": ["#", "//", ""],
        "day_first": [True, False],
    },
}  # settings that answer soon
PARTS = {"scan": "ScanParams", "equalise": "EqualiseParams", "localise": "LocaliseParams", "modes": "ModeParams"}
ALWAYS = {
    "ScanParams": {"n_permutations": 63, "n_seeds": 8, "beam": 2},
    "EqualiseParams": {"k_max": 40, "n_permutations": 39},
    "LocaliseParams": {"epochs": 10},
    "ModeParams": {},
    "TableOptions": {},
    "CompareParams": {"alpha": 0.05, "n_permutations": 59, "max_iterations": 2},
}


def settings(rng: Random, name: str) -> Any:
    """Quick settings of a class, some of them changed."""
    chosen: dict[str, Any] = dict(ALWAYS[name])
    for field in rng.sample(list(PARAMS[name]), rng.choice((0, 0, 1, 2))):
        chosen[field] = rng.choice(PARAMS[name][field])
    if name == "CompareParams":
        for part, kind in PARTS.items():
            chosen[part] = settings(rng, kind)
        if rng.random() < 0.2:
            chosen["scan"] = None
    return {"params": [name, chosen]}


def data(rng: Random, table: tables.Spec, files: dict[str, str]) -> Any:
    """A table in some form: an object, or a file that is whole or damaged."""
    if rng.random() < 0.65:
        return {"table": table, "form": rng.choice(list(tables.FORMS))}
    name = write(rng, table, files, damaged=rng.random() < 0.3)
    return rng.choice(({"path": name}, name))


def write(rng: Random, table: tables.Spec, files: dict[str, str], *, damaged: bool, suffix: str | None = None) -> str:
    """Add the file of a table to `files`; its name."""
    suffix, content = tables.file_of(rng, table, suffix)
    name = f"t{len(files)}{suffix}"
    files[name] = packed(mutated(rng, content) if damaged else content)
    return name


def choice_of_columns(rng: Random, names: list[str]) -> Any:
    """Some of the columns, kinds for some, and at times a name that is not there."""
    some = rng.sample(names, rng.randrange(len(names) + 1))
    if rng.random() < 0.4:
        return some
    kinds = ("number", "date", "time", "duration", "category")
    chosen = {"kinds": {name: rng.choice(kinds) for name in some[:2]}}
    if rng.random() < 0.4:
        chosen["include"] = names[:2]
    if rng.random() < 0.3:
        chosen["exclude"] = names[2:3]
    return {"columns": tag(chosen)}


def positions(rng: Random, n: int) -> Any:
    """Rows as positions, or as a mask, and at times none or too far."""
    what = rng.randrange(5)
    if what == 0:
        return [rng.random() < 0.3 for _ in range(n)]
    if what == 1:
        return [0, 0, n]
    return sorted(rng.sample(range(n), max(1, n // 4))) if n else []


class Maker:
    """Makes objects of JSON for one case, in the folder of that case."""

    def __init__(self, folder: Path, cluster: Callable[[], Any]) -> None:
        self.folder = folder
        self.cluster = cluster

    def make(self, value: Any) -> Any:
        """The object that a value of a case stands for."""
        if isinstance(value, list):
            return [self.make(one) for one in value]
        if not isinstance(value, dict):
            return value
        if "table" in value:
            return tables.made(value["table"], value["form"])
        ((name, content),) = value.items()
        maker = self._makers.get(name)
        return untag(value) if maker is None else maker(content)

    @cached_property
    def _makers(self) -> dict[str, Callable[[Any], Any]]:
        return {
            "path": Path,
            "params": self._params,
            "columns": lambda content: ss.Columns(**untag(content)),
            "engine": self._engine,
            "result": self._result,
            "subset": lambda parts: self.make(parts[0]).equalised(**untag(parts[1])),
            "detector": self._detector,
            "watched": lambda parts: ss.monitor(self.make(parts[0]), self.make(parts[1])),
            "certificate": lambda result: ss.certify(self.make(result), n_permutations=19, alternatives=False),
            "explained": lambda parts: ss.explain_rows(*self.make(parts), alpha=0.1),
            "call": lambda parts: getattr(ss, parts[0])(**{key: self.make(one) for key, one in parts[1].items()}),
            "batches": lambda pairs: {name: self.make(table) for name, table in pairs},
            "first mode": lambda pair: ss.compare(self.make(pair[0]), self.make(pair[1]) + 3.0).modes[0],
            "client": lambda _: self.cluster(),
            "heard": lambda _: lambda stage, fraction: None,
            "numbers": self._numbers,
        }

    def _params(self, content: Any) -> Any:
        name, given = content
        return getattr(ss, name)(**{key: self.make(value) for key, value in given.items()})

    def _engine(self, rows: int | None) -> Any:
        given = {} if rows is None else {"gathered_rows": rows}
        return ss.DaskEngine(self.cluster(), **given)

    def _result(self, pair: Any) -> Any:
        reference, current = (self.make(table) for table in pair)
        return ss.compare(reference, current, params=self._params(["CompareParams", ALWAYS_COMPARE]))

    def _detector(self, parts: Any) -> Any:
        reference, given, fitted = parts
        detector = ss.ShiftDetector(**{key: self.make(value) for key, value in given.items()})
        return detector.fit(self.make(reference)) if fitted else detector

    def _numbers(self, parts: Any) -> Any:
        """A matrix of normal numbers: rows, columns and seed; the last third in a cluster."""
        n, d, seed = parts
        points = np.random.default_rng(seed).standard_normal((n, d))
        points[n - n // 3 :] = 1.0 + 0.05 * points[n - n // 3 :]
        return points


ALWAYS_COMPARE = {
    **ALWAYS["CompareParams"],
    **{part: {"params": [kind, ALWAYS[kind]]} for part, kind in PARTS.items()},
}


def required(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Parameters of a call that a user can give."""
    odd = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [
        one for one in inspect.signature(function).parameters.values() if one.kind not in odd and one.name != "self"
    ]


def field_names(kind: type) -> list[str]:
    """The fields of a class of settings."""
    return [field.name for field in fields(kind)]
