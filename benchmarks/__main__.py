"""`python -m benchmarks`, or `make bench`: see `benchmarks.performance`. The other modules can be run by themselves."""

from __future__ import annotations

from benchmarks.performance import main

if __name__ == "__main__":
    main()
