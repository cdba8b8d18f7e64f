"""Every benchmark, one after another: `python -m benchmarks`, or `make bench`.

A benchmark is a module of this package with `run()`, which measures, and `main()`, which prints the table. Each has a
process of its own, so that no figure depends on what ran before it.
"""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules

import benchmarks


def main() -> None:
    """Print all tables; exit with 1 if a benchmark failed, after the others have run."""
    failed = []
    for name in names():
        title = (import_module(name).__doc__ or name).splitlines()[0]
        print(f"\n{title}\n  python -m {name}\n", flush=True)
        if subprocess.run([sys.executable, "-m", name], check=False).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def names() -> list[str]:
    """Modules of this package that have `run()`."""
    modules = [f"benchmarks.{module.name}" for module in iter_modules(benchmarks.__path__) if module.name != "__main__"]
    return [name for name in modules if hasattr(import_module(name), "run")]


if __name__ == "__main__":
    main()
