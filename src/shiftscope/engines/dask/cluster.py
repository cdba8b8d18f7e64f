"""One piece of work on a cluster: what it asks for, how it waits for it, and that nothing of it stays behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import wait as wait_here
from contextlib import suppress
from time import monotonic
from typing import Any
from weakref import WeakSet

from distributed import Client, Future, wait

from shiftscope.errors import EngineError
from shiftscope.progress import tell

LOOK_SECONDS = 2.0  # how often the cluster is looked at while its answer is awaited
ANSWER_SECONDS = 5.0  # that a scheduler may take to say how its workers are

Workers = Sequence[Mapping[str, Any]]  # what the scheduler says of each


class Cluster:
    """The cluster of a client, as long as one piece of work lasts.

    Parameters
    ----------
    client : Client
    wait_seconds : float
        How long to wait while nothing is done and no worker could do anything.
    """

    def __init__(self, client: Client, wait_seconds: float) -> None:
        self.client = client
        self.wait_seconds = wait_seconds
        self._asked: WeakSet[Future] = WeakSet()

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future:
        """Something to be done where its arguments are."""
        return self._kept([self.client.submit(work, *arguments, pure=False)])[0]

    def compute(self, tasks: Sequence[Any]) -> list[Future]:
        """Delayed tasks, under way."""
        return self._kept(self.client.compute(list(tasks)))

    def answers(self, tasks: Sequence[Any]) -> list[Any]:
        """What delayed tasks give, brought here."""
        return self.results(self.compute(tasks))

    def answer(self, task: Any) -> Any:
        """What one delayed task gives, brought here."""
        return self.answers([task])[0]

    def results(self, futures: Sequence[Future]) -> list[Any]:
        """What was asked for, brought here.

        Raises
        ------
        EngineError
            If nothing was done for `wait_seconds` because no worker could.
        """
        found: list[Any] = self._watched(self.client.gather(list(futures), asynchronous=True), futures)
        return found

    def result(self, future: Future) -> Any:
        """One of them, brought here."""
        return self.results([future])[0]

    def wait(self, futures: Sequence[Future]) -> None:
        """Until all are done, or have failed."""
        self._watched(self._all_done(list(futures)), futures)

    def close(self) -> None:
        """Stop what is under way and let go of what was kept on the workers."""
        left = list(self._asked)
        if left and self.client.status == "running":
            self.client.cancel(left)

    def _kept(self, futures: list[Future]) -> list[Future]:
        self._asked.update(futures)
        return futures

    async def _all_done(self, futures: list[Future]) -> None:
        with self.client.as_current():
            await wait(futures)

    def _watched(self, work: Coroutine[Any, Any, Any], futures: Sequence[Future]) -> Any:
        """Let the client's thread do it; meanwhile, look now and then whether the cluster can."""
        running, watch = asyncio.run_coroutine_threadsafe(work, self.client.loop.asyncio_loop), _Watch(self)
        try:
            while not wait_here([running], LOOK_SECONDS).done:
                watch.look(sum(future.done() for future in futures))
            return running.result()
        finally:
            watch.end()
            if not running.done():  # given up or interrupted; without what it waits for, it ends by itself
                self.close()


class _Watch:
    """Looks at a cluster while its answer is awaited: says what is missing, and ends the wait if that lasts too long.

    A cluster that is at work, on whatever, is never given up, nor is one whose workers are only slow.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._client, self._most = cluster.client, cluster.wait_seconds
        self._last, self._idle, self._done = monotonic(), 0.0, 0
        self._told = ""

    def look(self, done: int) -> None:
        """Once more; `done` counts what has been done so far."""
        workers, passed = self._workers(), monotonic() - self._last
        self._last += passed
        missing = _missing(workers)
        at_work = done != self._done or any(_busy(worker) for worker in workers or ())
        self._done = done
        if at_work:
            self._idle = 0.0
        elif missing:
            self._idle += passed
        self._say("" if at_work or not missing else f"waiting: {missing[0]}")
        if missing and self._idle >= self._most:
            raise EngineError(
                f"dask: {missing[0]}, and nothing was done for {self._most:g} s; {missing[1]}, or wait longer "
                "(DaskEngine's wait_seconds)"
            )

    def end(self) -> None:
        """Nothing is waited for any more."""
        self._say("")

    def _say(self, what: str) -> None:
        if self._told and self._told != what:
            tell(self._told, 1.0)
        self._told = what
        if what:
            tell(what, min(1.0, self._idle / self._most))

    def _workers(self) -> Workers | None:
        """What the scheduler knows of its workers; None if it does not answer."""
        asked = asyncio.run_coroutine_threadsafe(self._client.scheduler.identity(), self._client.loop.asyncio_loop)
        with suppress(OSError, TimeoutError):
            return list(asked.result(ANSWER_SECONDS)["workers"].values())
        asked.cancel()
        return None


def _missing(workers: Workers | None) -> tuple[str, str] | None:
    """Why nothing can be done, and what helps; None if something can."""
    if workers is None:
        return "the scheduler does not answer", "check that it runs and can be reached"
    if not workers:
        return "the cluster has no workers", "start some"
    if any(worker["status"] == "running" for worker in workers):
        return None
    if any(worker["status"] == "paused" for worker in workers):
        return "all workers are paused at their memory limit", "give them more memory, or take smaller partitions"
    return "no worker takes work", "start others"


def _busy(worker: Mapping[str, Any]) -> bool:
    counts = worker["metrics"].get("task_counts", {})
    return bool(counts.get("executing", 0) or counts.get("long-running", 0))
