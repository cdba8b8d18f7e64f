"""Studies see of the package what users see."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import experiments
import shiftscope as ss

FOLDER = Path(experiments.__file__).parent
MODULES = sorted(FOLDER.rglob("*.py"))


def private_uses(source: str) -> list[str]:
    """Imports of other parts of the package than `import shiftscope as ss`, and names of it that are not public."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [
                name.name for name in node.names if name.name.split(".")[0] == "shiftscope" and name.asname != "ss"
            ]
            found += [name.name for name in node.names if name.name.startswith("shiftscope.")]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "shiftscope":
            found.append(str(node.module))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ss":
            found += [] if node.attr in ss.__all__ else [f"ss.{node.attr}"]
    return found


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(FOLDER)))
def test_studies_use_public_names_only(module):
    assert private_uses(module.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        "import shiftscope",
        "import shiftscope.scan as ss",
        "from shiftscope.scan import scan_points",
        "ss.scan_points()",
    ],
)
def test_private_uses_are_seen(line):
    assert private_uses(line) != []
