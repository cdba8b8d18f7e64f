"""A warm child: reads cases, one JSON a line, runs each, and answers with what became of it.

Standard output and error belong to the cases; answers go to the descriptor given as the first argument.
"""

from __future__ import annotations

import io
import json
import logging
import os
import sys
import tempfile
from dataclasses import asdict
from functools import cache
from typing import Any

import numba

import shiftscope as ss
import shiftscope.job
import shiftscope.params
from shiftscope.cli import demo_data
from tests.fuzz.execute import execute

QUICK_SCHEDULE = (10, 3e-2)  # epochs and learning rate: what is fuzzed is what becomes of a localisation


def main() -> None:
    """Answer until the parent has no more cases."""
    answers = os.fdopen(int(sys.argv[1]), "w", encoding="utf-8")
    cases = os.fdopen(os.dup(0), "rb")
    _own_streams()
    _make_quick()
    print("ready", file=answers, flush=True)
    for line in cases:
        outcome = execute(json.loads(line), _cluster)
        print(json.dumps(asdict(outcome)), file=answers, flush=True)


def _own_streams() -> None:
    """Files in the place of standard input, output and error, as a shell would redirect them."""
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    for stream, name in ((1, "stdout"), (2, "stderr")):
        with tempfile.TemporaryFile() as file:
            os.dup2(file.fileno(), stream)
        os.set_inheritable(stream, True)
        setattr(sys, name, io.TextIOWrapper(os.fdopen(stream, "wb", closefd=False), encoding="utf-8"))


def _make_quick() -> None:
    """Fewer steps and rows where the command line has no option for that, and a clock that stands still.

    The code that runs is the same, and so are the bytes of an answer that is given twice.
    """
    numba.set_num_threads(1)
    shiftscope.params.CORRECTED_SCHEDULE = QUICK_SCHEDULE
    shiftscope.job.perf_counter = lambda: 0.0
    assert ss.certify.__kwdefaults__ is not None
    ss.certify.__kwdefaults__["n_permutations"] = 19
    demo_data.N_ROWS, demo_data.N_INJECTED = 150, 20
    with tempfile.TemporaryDirectory() as folder:  # libraries that are loaded late make files and settings of their own
        pair = demo_data.example()
        ss.compare(pair.reference, pair.current).to_html(f"{folder}/page.html")


@cache
def _cluster() -> Any:
    """A cluster in this process, started when it is first asked for."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0")
    for name in [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]:
        logging.getLogger(name).setLevel(logging.CRITICAL)  # it speaks of its own heartbeat whenever it likes
    return Client(cluster, set_as_default=False)


if __name__ == "__main__":
    main()
