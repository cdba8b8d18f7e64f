"""The house as docs/architecture.md draws it: who imports whom, what is called what."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "shiftscope"
MOST_LINES = 450


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    program, config = Path(sys.executable).with_name("lint-imports"), ROOT / "pyproject.toml"
    command = [str(program), "--config", str(config), "--no-cache"]
    environment = {"PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    shutil.copytree(PACKAGE, tmp_path / "shiftscope", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        ("kernels/labels.py", "from shiftscope.errors import InputError", "kernels is not allowed to import"),
        (
            "encoding/bins.py",
            "def lazy(): from shiftscope.full_space import score",
            "encoding is not allowed to import",
        ),
        (
            "report/markdown.py",
            "from shiftscope.modes.mode import Mode",
            "report is not allowed to import shiftscope.modes",
        ),
        ("kernels/labels.py", "import scipy", "kernels is not allowed to import scipy"),
        ("modes/excess.py", "from shiftscope.modes.describe import describe", "cycle"),
    ],
)
def test_a_violation_of_the_layers_fails(copied: Path, module: str, line: str, broken: str) -> None:
    target = copied / "shiftscope" / module
    target.write_text(f"{target.read_text()}\n\n{line}\n")
    done = lint_imports(copied)
    assert done.returncode == 1
    assert broken in " ".join(done.stdout.split())


def test_the_layers_hold(copied: Path) -> None:
    done = lint_imports(copied)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


def constants() -> dict[str, dict[str, str]]:
    """Every constant of the package by name: where it is defined, and as what."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if not isinstance(node, ast.Assign):
                continue
            for target in node.targets:
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                spread = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                values = node.value.elts if spread else [node.value] * len(names)
                for name, value in zip(names, values, strict=True):
                    if isinstance(name, ast.Name) and re.fullmatch(r"_?[A-Z][A-Z0-9_]*", name.id):
                        found[name.id][str(path.relative_to(PACKAGE))] = ast.unparse(value)
    return found


def test_constants_of_one_name_have_one_value() -> None:
    assert len(constants()) > 100
    odd = {name: where for name, where in constants().items() if len(set(where.values())) > 1}
    assert odd == {}


def test_modules_are_short_and_folders_say_what_they_hold() -> None:
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text("utf-8")
        assert ast.get_docstring(ast.parse(text)), f"{path} says nothing of what it holds"
        assert text.count("\n") <= MOST_LINES, f"{path} is too long"
    assert len(list(PACKAGE.glob("*.py"))) <= 20


def test_the_map_names_every_folder_and_every_module_at_the_top() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    parts = [path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"]
    parts += [path.name for path in PACKAGE.glob("*.py")]
    assert [part for part in parts if f"`{part}`" not in text and f"`{part}/`" not in text] == []


def test_the_map_speaks_of_files_that_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = re.findall(r"`([a-z_]+(?:/[a-z_]+)*/[a-z_]+\.py)`", text)
    assert len(named) > 20
    assert [name for name in named if not ((PACKAGE / name).exists() or (ROOT / name).exists())] == []


def test_all_that_is_written_goes_through_one_room() -> None:
    """Whole files and crash consistency are promises of `output_files.py`; nobody writes beside it."""
    writes = re.compile(
        r"""\bopen\([^)\n]*["'][rwax]?b?[wax+]b?\+?["']|\.(?:write_text|write_bytes|unlink|mkdir|touch)\("""
        r"""|\bos\.(?:replace|rename|remove|unlink|link|mkdir|makedirs|truncate)\(|\bshutil\b"""
    )
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if writes.search(path.read_text("utf-8"))}
    # A lock; for developers; Numba's cache; the unpacked copy of a file that is being read.
    no_outputs = {"file_lock.py", "report/schema.py", "kernels/compiling.py", "tables/delimited_text.py"}
    assert "output_files.py" in found
    assert found - {"output_files.py"} <= no_outputs
