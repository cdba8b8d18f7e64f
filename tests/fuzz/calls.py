"""Calls of every public function, class and method, found by introspection: what is new is fuzzed without a word here.

A case is JSON: {"target", "call", "self", "args", "files", "relation"}. A relation is a second call with some arguments
exchanged, whose answer must be the same: another form of the same data, another engine, the samples swapped, ...
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from random import Random
from typing import Any

import shiftscope as ss
from shiftscope.errors import ShiftscopeError
from tests.fuzz import tables
from tests.fuzz.tagged import packed
from tests.fuzz.values import BAD, PARAMS, choice_of_columns, data, field_names, positions, required, settings, write

Case = dict[str, Any]

PUBLIC = {name: getattr(ss, name) for name in ss.__all__}
FUNCTIONS = [name for name, value in PUBLIC.items() if inspect.isfunction(value)]
ERRORS = [name for name, value in PUBLIC.items() if inspect.isclass(value) and issubclass(value, ShiftscopeError)]
CONSTRUCTED = [*PARAMS, "Columns", "DaskEngine", "ScoreNull", "SimulatedNull", "ShiftDetector"]  # by users
PAIRED = ("compare", "scan", "score", "equalise", "explain_rows")
TURNED = ("compare", "scan", "score", "equalise")  # answers that tell the same with the samples exchanged
OUTPUTS = ("out.json", "out.html", "out.md", "out.png", "out.svg", "out.csv", "out", "~x.json", "a b.html")
BAD_OUTPUTS = ("", ".", "nowhere/out.json", "/", "/proc/x", "x\0y", "n" * 300, "out.json/")
NO_PROGRESS = [value for value in BAD if value != {"odd": "type"}]  # a class is callable, and its errors are the user's
RARE = 0.06  # of inputs that go to a cluster: it answers ten times as slowly


class Draw:
    """The arguments of one call: samples and files that belong together."""

    def __init__(self, rng: Random, *, plain: bool = False) -> None:
        self.rng = rng
        self.files: dict[str, str] = {}
        self.reference, self.current = tables.pair(rng, plain=plain)

    @property
    def names(self) -> list[str]:
        """Names of the columns of the reference."""
        return list(self.reference["names"])

    def good(self, name: str, annotation: str) -> Any:
        """A value that makes sense for a parameter, as far as the data do; anything if its name is not known."""
        if name == "params":
            return settings(self.rng, next(kind for kind in PARAMS if kind in annotation))
        return GOOD[name](self) if name in GOOD else self.rng.choice(BAD)

    def pair(self) -> list[Any]:
        """Both samples as frames."""
        return [{"table": table, "form": "polars"} for table in (self.reference, self.current)]

    def plain_pair(self, n: int) -> list[Any]:
        """Two samples of numbers that can be compared, with `n` rows each."""
        seed = self.rng.randrange(1000)
        return [{"numbers": [n, 3, seed]}, {"numbers": [n, 3, seed + 1]}]

    def detector(self) -> Any:
        """A detector, mostly fitted."""
        given = {"alpha": self.rng.choice((None, 0.05, 0.3)), "params": settings(self.rng, "CompareParams")}
        return {"detector": [self.pair()[0], given, self.rng.random() < 0.95]}

    def batches(self) -> Any:
        """A list or a mapping of tables."""
        found = [data(self.rng, self.current, self.files) for _ in range(self.rng.choice((1, 1, 2)))]
        if self.rng.random() < 0.2:
            found.append(self.pair()[0])
        return found if self.rng.random() < 0.7 else {"batches": [[f"b{at}", one] for at, one in enumerate(found)]}

    def history(self) -> Any:
        """A new file, or one that is there and none of ours."""
        name = f"history{len(self.files)}"
        if self.rng.random() < 0.3:
            self.files[name] = packed(
                self.rng.choice((b"", b"{}\n", b'{"format": "shiftscope history"}\n', b"a,b\n1,2\n"))
            )
        return self.rng.choice((name, {"path": name}))

    def mask(self, n: int) -> list[bool]:
        """Which of n rows are in the later part."""
        return [at >= n // 2 for at in range(n)]


def _result(draw: Draw) -> Any:
    return {"result": draw.plain_pair(draw.rng.choice((55, 60))) if draw.rng.random() < 0.5 else draw.pair()}


GOOD: dict[str, Callable[[Draw], Any]] = {
    "reference": lambda draw: data(draw.rng, draw.reference, draw.files),
    "current": lambda draw: data(draw.rng, draw.current, draw.files),
    "X": lambda draw: data(draw.rng, draw.reference, draw.files),
    "y": lambda draw: None,
    "alpha": lambda draw: draw.rng.choice((0.01, 0.05, 0.3, 0.9)),
    "columns": lambda draw: choice_of_columns(draw.rng, draw.names),
    "random_state": lambda draw: draw.rng.choice((0, 1, 7, 2**31, {"int": str(2**70)}, {"numpy": ["int64", 3]})),
    "engine": lambda draw: {"engine": draw.rng.choice((None, 30))} if draw.rng.random() < RARE else "local",
    "progress": lambda draw: {"heard": 0},
    "k_max": lambda draw: draw.rng.choice((4, 5, 30, 400)),
    "rows": lambda draw: positions(draw.rng, tables.n_rows(draw.current)),
    "pool": lambda draw: {"numbers": [40, 3, draw.rng.randrange(99)]},
    "points": lambda draw: {"numbers": [draw.rng.choice((0, 1, 9, 10, 40)), draw.rng.choice((1, 2, 3)), 1]},
    "target": lambda draw: draw.mask(40),
    "query": lambda draw: [at >= 30 for at in range(40)],
    "batch": lambda draw: draw.rng.choice(("corrected", "paper")),
    "groups": lambda draw: draw.rng.choice((None, [[0, 1], [2]], [[0], [1], [2]], [[0, 2]])),
    "z": lambda draw: draw.rng.choice((0, 1.0, 2.65, 1e9)),
    "n": lambda draw: draw.rng.choice((1, 10, 500)),
    "p": lambda draw: draw.rng.choice((0.01, 0.5, 0.999)),
    "t": lambda draw: draw.rng.choice((0.0, 1.5, 1e9, [0.0, 2.0], -1.0)),
    "q": lambda draw: draw.rng.choice((0.01, 0.5, 0.97, 0.9999)),
    "p_ext": lambda draw: draw.rng.choice((1e-5, 0.1, 0.9)),
    "n_permutations": lambda draw: draw.rng.choice((19, 29)),
    "alternatives": lambda draw: draw.rng.random() < 0.5,
    "result": _result,
    "subset": lambda draw: {"subset": [_result(draw), {"dict": []}]},
    "detector": Draw.detector,
    "batches": Draw.batches,
    "horizon": lambda draw: draw.rng.choice((1, 2, 5)),
    "history": Draw.history,
    "path": lambda draw: draw.rng.choice(OUTPUTS if draw.rng.random() < 0.8 else BAD_OUTPUTS),
    "keep": lambda draw: draw.rng.choice(("reference", "current")),
    "max_share": lambda draw: draw.rng.choice((0, 0.01, 0.5, 1)),
    "modes": lambda draw: draw.rng.choice(([0], [], [0, 1], [0, 0])),
    "client": lambda draw: {"client": 0},
    "gathered_rows": lambda draw: draw.rng.choice((10, 30)),
    "shard_rows": lambda draw: draw.rng.choice((1, 10)),
    "large_search": lambda draw: draw.rng.choice((1, 10**9)),
    "wait_seconds": lambda draw: draw.rng.choice((1, 60.0)),
    "include": lambda draw: draw.names[:2],
    "exclude": lambda draw: draw.names[:1],
    "kinds": lambda draw: {"dict": [[name, draw.rng.choice(("number", "category"))] for name in draw.names[:1]]},
}  # by the name of a parameter, in every function and method
INTERNAL = {"local", "side", "mode", "given"}  # parameters that no user has a value of their own for

INSTANCES: dict[str, Callable[[Draw], Any]] = {
    "ShiftResult": _result,
    "Subset": lambda draw: {"subset": [_result(draw), {"dict": []}]},
    "Mode": lambda draw: {"first mode": draw.plain_pair(60)},
    "Certificate": lambda draw: {"certificate": {"result": draw.plain_pair(60)}},
    "MonitorResult": lambda draw: {"watched": [draw.detector(), draw.batches()]},
    "RowsExplanation": lambda draw: {"explained": [*draw.plain_pair(60), [50, 51, 52, 53, 54, 55]]},
    "ShiftDetector": Draw.detector,
    "Look": lambda draw: {"call": ["look", dict(zip(("reference", "current"), draw.pair(), strict=True))]},
    "ScoreNull": lambda draw: {"call": ["ScoreNull", {"k_max": 9, "p": GOOD["p"](draw)}]},
    "SimulatedNull": lambda draw: {"call": ["SimulatedNull", {"k_max": 9, "p": GOOD["p"](draw), "n": 200}]},
}  # objects whose methods are called


def methods(name: str) -> dict[str, Callable[..., Any] | None]:
    """Methods and properties (None) of a public class that are its own or of a class of ours."""
    found: dict[str, Callable[..., Any] | None] = {}
    for kind in reversed(PUBLIC[name].__mro__):
        if not kind.__module__.startswith("shiftscope"):
            continue
        for attribute, value in vars(kind).items():
            if attribute.startswith("_") and attribute not in ("__str__", "_repr_html_"):
                continue
            if inspect.isfunction(value) or isinstance(value, classmethod):
                found[attribute] = getattr(PUBLIC[name], attribute)
            elif isinstance(value, property) or hasattr(value, "attrname"):
                found[attribute] = None
    takes = {attribute: {one.name for one in required(call)} if call else set() for attribute, call in found.items()}
    return {attribute: call for attribute, call in found.items() if not takes[attribute] & INTERNAL}


TARGETS = [
    *FUNCTIONS,
    *(f"{name}()" for name in CONSTRUCTED),
    *(f"{name}.{method}" for name in INSTANCES for method in methods(name)),
]


def call_case(rng: Random, target: str) -> Case:
    """A case of one target."""
    if target in FUNCTIONS:
        if target in PAIRED and rng.random() < 0.3:
            return _related(rng, target)
        return _called(rng, target, PUBLIC[target], target)
    name, _, method = target.partition(".")
    if not method:
        return _constructed(rng, name.removesuffix("()"))
    return _method(rng, name, method)


def _called(rng: Random, target: str, function: Callable[..., Any], call: str) -> Case:
    draw = Draw(rng)
    args = _arguments(draw, function)
    if "params" not in args and "params" in {one.name for one in required(function)}:
        args["params"] = draw.good("params", str(_annotation(function, "params")))
    if _takes_options_of_tables(function) and rng.random() < 0.25:
        args |= _options_of_tables(rng)
    if target == "certify":
        args.setdefault("n_permutations", 19)
    return {"target": target, "call": call, "args": args, "files": draw.files}


def _takes_options_of_tables(function: Callable[..., Any]) -> bool:
    kinds = [one.kind for one in inspect.signature(function).parameters.values()]
    return inspect.Parameter.VAR_KEYWORD in kinds


def _options_of_tables(rng: Random) -> dict[str, Any]:
    """How text is to be read, mostly in ways that exist."""
    pools = PARAMS["TableOptions"]
    names = rng.sample(list(pools), rng.choice((1, 1, 2, 3)))
    return {name: rng.choice(pools[name] if rng.random() < 0.8 else BAD) for name in names}


def _annotation(function: Callable[..., Any], name: str) -> object:
    return inspect.signature(function).parameters[name].annotation


def _arguments(draw: Draw, function: Callable[..., Any], given: float = 0.2) -> dict[str, Any]:
    """What must be given, mostly good; what may be, now and then; at times anything at all."""
    rng, args = draw.rng, {}
    for one in required(function):
        if one.name in INTERNAL:
            continue
        needed = one.default is inspect.Parameter.empty
        if not needed and rng.random() > given:
            continue
        good = rng.random() < (0.95 if needed else 0.7)
        bad = NO_PROGRESS if one.name == "progress" else BAD
        args[one.name] = draw.good(one.name, str(one.annotation)) if good else rng.choice(bad)
    return args


def _related(rng: Random, target: str) -> Case:
    """Two calls that must tell the same."""
    draw = Draw(rng, plain=True)
    args: dict[str, Any] = {
        "reference": {"table": draw.reference, "form": rng.choice(tables.FRAMES)},
        "current": {"table": draw.current, "form": rng.choice(tables.FRAMES)},
    }
    for name in ("params", "k_max"):
        if name in inspect.signature(PUBLIC[target]).parameters:
            args[name] = draw.good(name, str(_annotation(PUBLIC[target], name)))
    if target == "explain_rows":
        args["rows"] = positions(rng, tables.n_rows(draw.current))
        args["alpha"] = 0.1
    kind = rng.choice([kind for kind in RELATIONS if kind != "swap" or target in TURNED])
    return {
        "target": target,
        "call": target,
        "args": args,
        "relation": {"kind": kind, "other": RELATIONS[kind](draw, args), "turned": kind == "swap"},
        "files": draw.files,
    }


def _shuffled(draw: Draw, args: dict[str, Any]) -> dict[str, Any]:
    order = list(range(len(draw.names)))
    draw.rng.shuffle(order)
    return {"current": {"table": tables.permuted(draw.current, order), "form": args["current"]["form"]}}


def _other_files(draw: Draw, args: dict[str, Any]) -> dict[str, Any]:
    suffix = draw.rng.choice(tables.SAME_FILES)
    return {
        "reference": write(draw.rng, draw.reference, draw.files, damaged=False, suffix=suffix),
        "current": write(
            draw.rng, draw.current, draw.files, damaged=False, suffix=draw.rng.choice((suffix, ".parquet"))
        ),
    }


RELATIONS: dict[str, Callable[[Draw, dict[str, Any]], dict[str, Any]]] = {
    "repeat": lambda draw, args: {},
    "swap": lambda draw, args: {"reference": args["current"], "current": args["reference"]},
    "columns": _shuffled,
    "form": lambda draw, args: {
        name: {**args[name], "form": draw.rng.choice(tables.FRAMES)} for name in ("reference", "current")
    },
    "file": _other_files,
    "progress": lambda draw, args: {"progress": {"heard": 0}},
    "engine": lambda draw, args: {"engine": {"engine": None} if draw.rng.random() < 5 * RARE else "local"},
}


def _constructed(rng: Random, name: str) -> Case:
    """A class that users make objects of, with any arguments: nothing is computed, so any size will do."""
    draw, kind = Draw(rng), PUBLIC[name]
    if name in PARAMS:
        names = rng.sample(field_names(kind), rng.choice((0, 1, 1, 2, 4)))
        args = {one: rng.choice([*PARAMS[name].get(one, []), *BAD, *BAD]) for one in names}
    else:
        args = _arguments(draw, kind, given=0.5)
    return {"target": f"{name}()", "call": name, "args": args, "files": draw.files}


def _method(rng: Random, name: str, method: str) -> Case:
    draw, call = Draw(rng, plain=rng.random() < 0.7), methods(name)[method]
    case = {
        "target": f"{name}.{method}",
        "call": method,
        "self": INSTANCES[name](draw),
        "args": {} if call is None else _arguments(draw, call, given=0.6),
        "files": draw.files,
    }
    if method == "load":
        case["args"]["path"] = _saved_detector(draw)
    return case


def _saved_detector(draw: Draw) -> str:
    from tests.fuzz.saved import saved

    draw.files["detector.zip"] = packed(saved(draw.rng, "detector"))
    return "detector.zip"


def unknown(function: Callable[..., Any]) -> list[str]:
    """Parameters of a call for which there is no good value yet."""
    names = {one.name for one in required(function)} - INTERNAL
    return sorted(names - set(GOOD) - {"params", "self"})
