"""Every command and every module of experiments/ that the documentation names is there and takes the options shown."""

from __future__ import annotations

import argparse
import re
import runpy
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import experiments

ROOT = Path(experiments.__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = sorted((ROOT / "experiments").rglob("*.py"))
COMMAND = re.compile(r"python -m (experiments[^`\n|]*)")
MODULE = re.compile(r"\bexperiments(?:\.\w+)+")
FILE = re.compile(r"\bexperiments/[\w/]+\.py")


def commands(paths):
    """Commands that files name, with their options."""
    return sorted({found.strip() for path in paths for found in COMMAND.findall(path.read_text(encoding="utf-8"))})


class ParsedError(Exception):
    """The arguments are right: the study itself is not run."""


@pytest.fixture
def parse_only(monkeypatch):
    parse = argparse.ArgumentParser.parse_args

    def parsed(parser, arguments=None, namespace=None):
        parse(parser, arguments, namespace)
        raise ParsedError

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parsed)


def call(monkeypatch, command):
    """Do what `python -m` does."""
    module, *options = shlex.split(command)
    monkeypatch.setattr(sys, "argv", [module, *options])
    runpy.run_module(module, run_name="__main__", alter_sys=False)


@pytest.mark.usefixtures("parse_only")
@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")  # other tests import the same modules
@pytest.mark.parametrize("command", commands([*PAGES, *SOURCES]))
def test_a_command_runs_with_the_options_shown(command, monkeypatch):
    with pytest.raises(ParsedError):
        call(monkeypatch, command)


@pytest.mark.usefixtures("parse_only")
@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("experiments.gone", ImportError),
        ("experiments.paper", ImportError),  # a folder without a command
        ("experiments.paper.refinement --gone 3", SystemExit),
        ("experiments.paper.refinement --seeds 0", SystemExit),
    ],
)
def test_a_command_that_is_gone_is_noticed(command, fault, monkeypatch):
    with pytest.raises(fault):
        call(monkeypatch, command)


def test_the_documentation_names_commands():
    assert len(commands(PAGES)) > 10


@pytest.mark.parametrize("page", [*PAGES, *SOURCES], ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_and_files_named_are_there(page):
    text = page.read_text(encoding="utf-8")
    assert [file for file in FILE.findall(text) if not (ROOT / file).exists()] == []
    assert [name for name in MODULE.findall(text) if not is_there(name)] == []


def is_there(name):
    """Whether a dotted name is a module, or a name in one."""
    parent, _, last = name.rpartition(".")
    try:
        return find_spec(name) is not None or hasattr(sys.modules[parent], last)
    except ModuleNotFoundError:
        return False
