"""A worker from the parent's side: a case in, an outcome out; what hangs, grows or dies is a fault of its own."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

from tests.fuzz.execute import FAULT, Outcome

ROOT = Path(__file__).resolve().parents[2]
CPU_SECONDS = 30.0  # of one input: a thousand times the usual
IDLE_SECONDS = 60.0  # without any work: it waits for what will not come, however busy the machine is with other things
MEMORY = 3 << 30  # bytes of a worker
LOOKED_EVERY = 0.5  # seconds
LIVES = 3000  # inputs of one worker: a new one has none of the old one's memory
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Worker:
    """One child process at a time, started again after a fault that took it."""

    def __init__(self, *command: str) -> None:
        self._command = command or (sys.executable, "-m", "tests.fuzz.worker")
        self._child: subprocess.Popen[bytes] | None = None
        self._answers = -1
        self._done = 0

    def run(self, case: dict[str, Any]) -> Outcome:
        """What becomes of a case."""
        if self._child is None or self._done >= LIVES:
            self.stop()
            self._start()
        assert self._child is not None
        assert self._child.stdin is not None
        self._done += 1
        self._child.stdin.write(json.dumps(case).encode() + b"\n")
        self._child.stdin.flush()
        return self._awaited()

    def _start(self) -> None:
        read, write = os.pipe()
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        environment = {**os.environ, "PYTHONPATH": path, "MPLBACKEND": "agg"}
        self._child = subprocess.Popen(
            [*self._command, str(write)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=(write,),
            env=environment,
            cwd=ROOT,
        )
        os.close(write)
        self._answers, self._done = read, 0
        while b"\n" not in os.read(read, 64) and self._child.poll() is None:
            pass  # it may have to compile everything first

    def _awaited(self) -> Outcome:
        """The answer, or why there is none."""
        assert self._child is not None
        first, last, since, text = None, None, time.monotonic(), b""
        while not text.endswith(b"\n"):
            ready, _, _ = select.select([self._answers], [], [], LOOKED_EVERY)
            if ready:
                part = os.read(self._answers, 1 << 16)
                if not part:
                    return self._lost(f"the process died ({self._child.wait()})")
                text += part
                continue
            spent, memory = self._usage()
            first = spent if first is None else first
            if spent != last:
                last, since = spent, time.monotonic()
            if memory > MEMORY:
                return self._lost("too much memory")
            if spent - first > CPU_SECONDS or time.monotonic() - since > IDLE_SECONDS:
                return self._lost("no answer in time")
        return Outcome(**json.loads(text))

    def _usage(self) -> tuple[float, int]:
        """Seconds of work and bytes of the child; nothing if it has just ended."""
        assert self._child is not None
        try:
            stat = Path(f"/proc/{self._child.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0, 0
        return (int(stat[11]) + int(stat[12])) / TICK, int(stat[21]) * PAGE

    def _lost(self, why: str) -> Outcome:
        self.stop()
        return Outcome(FAULT, why)

    def stop(self) -> None:
        """End the child, if there is one."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            assert self._child.stdin is not None
            self._child.stdin.close()
            os.close(self._answers)
        self._child = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
