"""A long fuzz: fresh inputs for as long as you like, two workers, every fault once, smallest form kept.

    make fuzz MINUTES=30                  # goes on where the last run stopped; WORKERS=2, FOUND=folder
    python -m tests.fuzz.run --show       # what was tried so far

Inputs are drawn from seeds that no earlier run had. Faults are told by their signature: the first input of each is
made smaller and written to tests/fuzz/found, where `make test` replays it until it is mended and ever after.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.cases import TARGETS, case_of
from tests.fuzz.execute import FAULT, Outcome
from tests.fuzz.pool import ROOT, Worker
from tests.fuzz.shrink import shrunk, text_of

FOUND = ROOT / "tests" / "fuzz" / "found"
STATE = ROOT / "runs" / "fuzz" / "state.json"
SAVED_EVERY = 20.0  # seconds
KINDS = ("answered", "refused", "unbuilt", "fault")


class Record:
    """What was tried in all runs so far, on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        known = json.loads(path.read_text("utf-8")) if path.exists() else {}
        self.first = known.get("first", int.from_bytes(os.urandom(6), "big"))
        self.next = known.get("next", 0)
        self.minutes = known.get("minutes", 0.0)
        self.tried = {target: Counter(counts) for target, counts in known.get("tried", {}).items()}
        self.faults: dict[str, dict[str, Any]] = known.get("faults", {})
        self.lock = threading.Lock()
        self.over = False  # the run was interrupted, and its workers ended in the middle

    def seed(self) -> int:
        """A seed that nobody had."""
        with self.lock:
            self.next += 1
            return int(self.first + self.next)

    def add(self, target: str, outcome: Outcome, seed: int) -> bool:
        """Count an outcome; whether it is a fault that was not known."""
        with self.lock:
            self.tried.setdefault(target, Counter())[outcome.kind] += 1
            if outcome.kind != FAULT:
                return False
            is_new = outcome.signature not in self.faults
            known = self.faults.setdefault(outcome.signature, {"target": target, "seed": seed, "times": 0})
            known["times"] += 1
            known["last"] = round(self.minutes, 1)
            return is_new

    def save(self) -> None:
        """To disk, whole."""
        with self.lock:
            known = {name: value for name, value in vars(self).items() if name not in ("path", "lock", "over")}
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part = self.path.with_suffix(".part")
            part.write_text(json.dumps(known, indent=1), "utf-8")
            part.replace(self.path)

    def table(self) -> str:
        """Inputs tried per target, and faults."""
        lines = [f"{'target':34s} {'inputs':>8s} " + " ".join(f"{kind:>9s}" for kind in KINDS)]
        total: Counter[str] = Counter()
        for target in TARGETS:
            counts = self.tried.get(target, Counter())
            total.update(counts)
            lines.append(_row(target, counts))
        lines.append(_row("all", total))
        lines.append(f"{self.minutes:.1f} minutes in all; {len(self.faults)} different faults")
        for name, fault in sorted(self.faults.items(), key=lambda pair: -pair[1]["times"]):
            lines.append(
                f"  {fault['times']:6d} x {fault['target']}: {name} (first seed {fault['seed']}, "
                f"last seen in minute {fault['last']})"
            )
        return "\n".join(lines)


def _row(target: str, counts: Counter[str]) -> str:
    return f"{target:34s} {sum(counts.values()):8d} " + " ".join(f"{counts[kind]:9d}" for kind in KINDS)


def fuzz(record: Record, worker: Worker, end: float, found: Path) -> None:
    """Try inputs with one worker until the time is over."""
    while time.monotonic() < end:
        seed = record.seed()
        case = case_of(Random(seed))
        outcome = worker.run(case)
        if record.over:
            return
        if record.add(case["target"], outcome, seed):
            print(f"FAULT {case['target']}: {outcome.signature} (seed {seed})", flush=True)
            keep(case, outcome, worker, found)


def keep(case: dict[str, Any], outcome: Outcome, worker: Worker, found: Path) -> Path:
    """Write the smallest form of a failing case to a file named by its fault."""
    found.mkdir(parents=True, exist_ok=True)
    name = hashlib.blake2b(outcome.signature.encode(), digest_size=5).hexdigest()
    path = found / f"{case['target'].split('.')[0].split()[-1].removesuffix('()')}-{name}.json"
    small = shrunk(case, lambda one: worker.run(one).signature == outcome.signature)
    path.write_text(text_of({"fault": outcome.signature, **small}), "utf-8")
    path.with_suffix(".txt").write_text(outcome.detail, "utf-8") if found != FOUND else None
    return path


def main() -> None:
    """Run, tell what was tried, and end with 1 if anything new was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--found", type=Path, default=FOUND, help="where failing inputs go")
    parser.add_argument("--state", type=Path, default=STATE, help="what was tried so far")
    parser.add_argument("--show", action="store_true", help="show what was tried so far and end")
    given = parser.parse_args()
    record = Record(given.state)
    if given.show:
        print(record.table())
        return
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.default_int_handler)
    known = len(record.faults)
    _run(record, given)
    print(record.table())
    raise SystemExit(1 if len(record.faults) > known else 0)


def _run(record: Record, given: argparse.Namespace) -> None:
    before, start = record.minutes, time.monotonic()
    end = start + 60.0 * given.minutes
    workers = [Worker() for _ in range(given.workers)]
    threads = [threading.Thread(target=fuzz, args=(record, one, end, given.found), daemon=True) for one in workers]
    for thread in threads:
        thread.start()
    try:
        while any(thread.is_alive() for thread in threads):
            threads[0].join(SAVED_EVERY)
            record.minutes = before + (time.monotonic() - start) / 60.0
            record.save()
            tried = sum(sum(counts.values()) for counts in record.tried.values())
            print(f"{record.minutes:7.1f} min {tried:9d} inputs {len(record.faults):4d} faults", flush=True)
    except KeyboardInterrupt:
        print("interrupted; the next run goes on from here")
    finally:
        record.over = True
        for worker in workers:
            worker.stop()
        record.save()


if __name__ == "__main__":
    main()
