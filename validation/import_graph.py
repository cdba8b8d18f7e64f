"""Who imports whom, in figures: rooms with their modules, lines and fan-in, and how deep the house is.

    python -m validation.import_graph [SRC]

SRC is the folder that holds the package `shiftscope`; by default that of this checkout. Imports inside functions and
under TYPE_CHECKING count.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import cache
from pathlib import Path

import grimp


def main(source: Path) -> None:
    """Print one line per room, then what holds for all of them."""
    sys.path.insert(0, str(source))
    graph = grimp.build_graph("shiftscope", cache_dir=None)
    modules = sorted(module for module in graph.modules if _path(source, module).is_file())
    rooms, lines, fan_in = Counter[str](), Counter[str](), Counter[str]()
    for module in modules:
        rooms[_room(source, module)] += 1
        lines[_room(source, module)] += _path(source, module).read_text("utf-8").count("\n")
        for importer in graph.find_modules_that_directly_import(module):
            fan_in[_room(source, module)] += _room(source, importer) != _room(source, module)
    print(f"{'room':14s} {'modules':>8s} {'lines':>7s} {'imports from other rooms':>25s}")
    for room in sorted(rooms, key=lambda one: -lines[one]):
        print(f"{room:14s} {rooms[room]:8d} {lines[room]:7,d} {fan_in[room]:25d}")
    busiest = max(modules, key=lambda one: len(graph.find_modules_that_directly_import(one)))
    print(f"modules {len(modules)}, lines {sum(lines.values()):,}, longest chain of imports {_depth(graph)}")
    print(f"most imported: {busiest} by {len(graph.find_modules_that_directly_import(busiest))}")
    print(f"modules in a cycle: {', '.join(_cyclic(graph)) or 'none'}")


def _path(source: Path, module: str) -> Path:
    place = source / module.replace(".", "/")
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def _room(source: Path, module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and (source / "shiftscope" / parts[1]).is_dir() else "(top)"


def _cyclic(graph: grimp.ImportGraph) -> list[str]:
    """Modules that import themselves by way of others; the package itself, which names everything, is left out."""
    inner = [module for module in sorted(graph.modules) if module != "shiftscope"]
    return [one for one in inner if one in _reached(graph, one)]


def _reached(graph: grimp.ImportGraph, start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for module in graph.find_modules_directly_imported_by(waiting.pop()) - seen - {"shiftscope"}:
            seen.add(module)
            waiting.append(module)
    return seen


def _depth(graph: grimp.ImportGraph) -> int | str:
    """Modules on the longest chain of imports, without the package itself."""
    if _cyclic(graph):
        return "endless"

    @cache
    def height(module: str) -> int:
        below = graph.find_modules_directly_imported_by(module) - {"shiftscope"}
        return 1 + max((height(one) for one in below), default=0)

    return max(height(module) for module in graph.modules if module != "shiftscope")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "src")
