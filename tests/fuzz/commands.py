"""Command lines of every command, found by introspection: a new option is fuzzed without a word here."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import typer

from shiftscope.cli.app import app
from tests.fuzz import tables
from tests.fuzz.calls import BAD_OUTPUTS
from tests.fuzz.saved import csv, saved
from tests.fuzz.tagged import packed
from tests.fuzz.values import write

Case = dict[str, Any]

COMMANDS: dict[str, Any] = dict(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
BAD_TEXT = (
    "",
    "x",
    "-1",
    "0",
    "nan",
    "inf",
    "1e400",
    "é",
    "a=b",
    "--",
    "-",
    "1,2",
    "\u202e",
    "9" * 400,
    "0x10",
    " 1 ",
    "None",
)
NEW = ("0", "1", "7", "0.5", "a", "out.x", "reference")  # for options that are not known here yet
BAD_INPUTS = (
    "nowhere.csv",
    "",
    ".",
    "-",
    "/dev/null",
    "*.parquet",
    "nothing/*.pq",
    "~nobody/x.csv",
    "n" * 300 + ".csv",
)


class Line:
    """One command line under way: its files and its words."""

    def __init__(self, rng: Random, command: str) -> None:
        self.rng = rng
        self.command = command
        self.files: dict[str, str] = {}
        self.names: list[str] = []
        self.belongs = False  # to the files that were saved before

    def source(self, table: tables.Spec) -> str:
        """A file, a folder or a pattern that holds a table."""
        rng, chance = self.rng, self.rng.random()
        if chance < 0.03:
            return rng.choice(BAD_INPUTS)
        if chance < 0.1:
            return self._folder(table)
        name = write(rng, table, self.files, damaged=rng.random() < 0.25)
        return f"./{name}" if rng.random() < 0.05 else name

    def _folder(self, table: tables.Spec) -> str:
        folder = f"d{len(self.files)}"
        for part in range(self.rng.choice((1, 2))):
            suffix, content = tables.file_of(self.rng, table, ".parquet")
            self.files[f"{folder}/p{part}{suffix}"] = packed(content)
        return self.rng.choice((folder, f"{folder}/", f"{folder}/*.parquet", f"{folder}/p[01].parquet"))

    def arguments(self) -> list[str]:
        """The words that every command needs, by the names of its arguments."""
        words, self.belongs = [], self.rng.random() < 0.35
        sizes = (80, 110, 130) if self.command == "certify" else tables.SIZES
        self.pair = tables.pair(self.rng, plain=self.rng.random() < 0.4, sizes=sizes)
        self.names = list(self.pair[0]["names"])
        for one in COMMANDS[self.command].params:
            if one.param_type_name == "argument":
                words += ARGUMENTS[one.name](self)
        return words

    def options(self) -> list[str]:
        """Some of the options, mostly with values that make sense."""
        words: list[str] = []
        for one in COMMANDS[self.command].params:
            if one.param_type_name == "argument" or one.name == "help" or "--version" in one.opts:
                continue
            if not one.required and self.rng.random() > CHANCE.get(one.name, 0.15):
                continue
            for _ in range(self.rng.choice((1, 1, 2)) if one.multiple else 1):
                words.append(self.rng.choice([one.opts[-1], *one.secondary_opts]))
                if not one.is_flag:
                    words.append(self._value(one))
        return words

    def _value(self, option: Any) -> str:
        if self.rng.random() < 0.06:
            return self.rng.choice((*BAD_TEXT, *BAD_OUTPUTS, *self.files)).replace("\0", "")  # no shell can pass it
        pool = OPTIONS.get((self.command, option.name)) or OPTIONS.get(option.name) or _either(*NEW)
        return str(pool(self))


def _either(*values: object) -> Callable[[Line], object]:
    return lambda line: line.rng.choice(values)


def _saved(kind: str, name: str) -> Callable[[Line], str]:
    def put(line: Line) -> str:
        line.files[name] = packed(saved(line.rng, kind))
        return name

    return put


def _reference(line: Line) -> list[str]:
    if line.command == "monitor" and line.belongs:
        if line.rng.random() < 0.5:
            return [_saved("detector", "detector.zip")(line)]
        line.files["reference.csv"] = packed(csv(0))
        return ["reference.csv"]
    return [line.source(line.pair[0])]


def _batches(line: Line) -> list[str]:
    if line.belongs:
        line.files |= {name: packed(csv(1)) for name in ("b1.csv", "b2.csv")}
        return ["b1.csv", "b2.csv"][: line.rng.choice((1, 2, 2))]
    return [line.source(line.pair[1]) for _ in range(line.rng.choice((1, 1, 2)))]


ARGUMENTS: dict[str, Callable[[Line], list[str]]] = {
    "reference": _reference,
    "current": lambda line: [line.source(line.pair[1])],
    "batches": _batches,
    "detector": lambda line: [str(_either("out.zip", "d", "nowhere/x")(line))],
    "result": lambda line: [_saved("result", "result.json")(line)],
    "file": lambda line: [line.source(line.pair[0])],
    "other": lambda line: [line.source(line.pair[1])] if line.rng.random() < 0.6 else [],
}
OPTIONS: dict[str | tuple[str, str], Callable[[Line], object]] = {
    "report": _either("out.html", "out2.html", "a b.html"),
    "json": _either("out.json", "-", "-"),
    "markdown": _either("out.md"),
    ("compare", "rows"): _either("rows.csv", "rows.parquet", "rows.txt"),
    ("explain-rows", "rows"): lambda line: line.rng.choice(("0", "0,2,3-6", "1-3", "9999", "3 4 5", _rows_file(line))),
    "alpha": _either("0.01", "0.05", "0.3", "0.9", "0.002"),
    "seed": _either("0", "7", "2147483648", "99999999999999999999999"),
    "include": lambda line: line.rng.choice([*line.names, "nowhere"]),
    "exclude": lambda line: line.rng.choice([*line.names, "nowhere"]),
    "kind": lambda line: (
        f"{line.rng.choice([*line.names, 'x'])}={line.rng.choice(('number', 'category', 'date', 'odd'))}"
    ),
    "equalised": _either("kept", "new folder", "nowhere/kept"),
    "keep": _either("reference", "current"),
    "max_share": _either("0", "0.1", "0.5", "1", "1.01"),
    "modes": _either("1", "1,2", "1-3", "0", "99"),
    "engine": lambda line: "local" if line.rng.random() < 0.9 else line.rng.choice(("spark", "", "tcp://")),
    "scheduler": _either("tcp://", "nowhere", "://"),
    "history": lambda line: _saved("history", "history.jsonl")(line) if line.belongs else "history.jsonl",
    "horizon": _either("1", "2", "5", "5", "5", "100"),
    "table": _either("table.csv", "table.parquet", "table.txt"),
    "names": _either("a,b", "a,b,c", "a,a", ","),
    "delimiter": _either(",", ";", "tab", "blank", "|", "ab"),
    "decimal": _either(".", ",", ";"),
    "thousands": _either(",", ".", " ", "'", "x"),
    "encoding": _either("utf-8", "cp1252", "latin-1", "utf-16", "rot13", "nothing"),
    "missing": _either("NA", "-", "a=0", "0", ""),
    "comment": _either("#", "//", ""),
    "plot": _either("plot.png", "plot.svg", "plot.pdf", "plot.gif"),
}
CHANCE = {
    **dict.fromkeys(("header", "names", "delimiter", "decimal", "thousands", "encoding", "missing"), 0.05),
    **dict.fromkeys(("comment", "day_first"), 0.05),
    "report": 0.08,
    "plot": 0.05,
    "engine": 0.04,
    "scheduler": 0.02,
    "quiet": 0.3,
    "json": 0.6,
    "fail_on_shift": 0.4,
    "history": 0.4,
    "horizon": 0.4,
    "debug": 0.02,
    "alpha": 0.3,
}


def _rows_file(line: Line) -> str:
    suffix, content = line.rng.choice(
        (
            (".csv", b"row\n1\n2\n5\n"),
            (".csv", b"sample,row\ncurrent,1\nreference,2\n"),
            (".txt", b"0\n2 3\n"),
            (".csv", b"mode,sample,score,row\n1,current,2.0,3\n"),
            (".csv", b"x\n1\n"),
            (".txt", b"\xff\xfe"),
        )
    )
    name = f"suspected{suffix}"
    line.files[name] = packed(content)
    return name


TARGETS = [f"shiftscope {command}" for command in COMMANDS]


def command_case(rng: Random, target: str) -> Case:
    """A command line with its files."""
    line = Line(rng, target.removeprefix("shiftscope "))
    arguments = line.arguments()
    options = line.options()
    words = [*options, *arguments] if rng.random() < 0.3 else [*arguments, *options]
    if rng.random() < 0.03:
        words.insert(rng.randrange(len(words) + 1), rng.choice(("--nothing", "-x", "extra", "--", "--help")))
    return {"target": target, "argv": [line.command, *words], "files": line.files, "twice": rng.random() < 0.1}
