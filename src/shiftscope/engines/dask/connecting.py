"""The way to a cluster: to one that runs, or to one on this machine that ends with the block."""

from __future__ import annotations

import asyncio
import logging
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker

from distributed import Client, LocalCluster, Security, rpc
from distributed.comm import get_address_host_port

from shiftscope.errors import EngineError, ParameterError
from shiftscope.messages import one_line

CONNECT_SECONDS = 10
LARGEST_PORT = 65535
HOST = re.compile(r"[\w.:%-]+")
HERE = "inproc://"  # addresses in this process have no host
SILENT = logging.CRITICAL


@contextmanager
def connected(address: str | None) -> Iterator[Client]:
    """A client of ours; what its packages log about it, and about a cluster of ours, is told by our errors instead."""
    if address is not None:
        check_address(address)
    with _quiet_logs():
        if address is not None:
            with _client(address) as client:
                yield client
            return
        with _own_cluster() as cluster, _client(cluster) as client:
            yield client


def check_address(address: str) -> None:
    """Refuse at once what can be no address: nothing would answer there, after a long time."""
    fault = _address_fault(address)
    if fault is not None:
        raise ParameterError(
            f"{address!r} is no address of a Dask scheduler ({fault}); give one such as tcp://10.0.0.1:8786"
        )


def _address_fault(address: str) -> str | None:
    if address.startswith(HERE):
        return None
    try:
        host, port = get_address_host_port(address, strict=True)
    except ValueError as error:
        return one_line(error)
    if not HOST.fullmatch(host):
        return f"the host is {host!r}"
    return None if 0 < port <= LARGEST_PORT else f"the port is {port}, and ports go from 1 to {LARGEST_PORT}"


@contextmanager
def _client(where: str | LocalCluster) -> Iterator[Client]:
    try:
        if isinstance(where, str) and not where.startswith(HERE):
            _call(where)
        client = Client(where, set_as_default=False, timeout=CONNECT_SECONDS)
    except Exception as error:  # whatever the way there raises: there is no cluster
        told = f" ({one_line(error)})" if str(error) else ""
        raise EngineError(
            f"dask: no scheduler answered at {where!r} within {CONNECT_SECONDS} s{told}; check that it runs and can be "
            "reached"
        ) from error
    try:
        yield client
    finally:
        client.close()


def _call(address: str) -> None:
    """Fail in time where nobody answers: a client would wait for ever for a port that takes calls and stays mute."""
    thread = ThreadPoolExecutor(1)  # there may be an event loop here already, as in a notebook
    try:
        kind = thread.submit(asyncio.run, _kind(address)).result()
    finally:
        thread.shutdown(wait=False)
    if kind != "Scheduler":
        raise OSError(f"it is the address of a {kind}")


async def _kind(address: str) -> str:
    """What answers at an address."""
    async with rpc(address, connection_args=Security().get_connection_args("client")) as other:
        return str((await asyncio.wait_for(other.identity(), CONNECT_SECONDS))["type"])


@contextmanager
def _own_cluster() -> Iterator[LocalCluster]:
    """Workers on this machine, deaf to Ctrl-C: the terminal sends it to all processes, and we end them ourselves."""
    with _ctrl_c_later():  # workers, and the thread that starts more of them, inherit what is blocked here
        try:
            cluster = LocalCluster(threads_per_worker=1, dashboard_address=":0", silence_logs=SILENT)
        except Exception as error:
            raise EngineError(
                f"dask: no cluster could be started on this machine ({one_line(error)}); start one yourself and give "
                "its address"
            ) from error
    try:
        yield cluster
    finally:
        cluster.close()


@contextmanager
def _ctrl_c_later() -> Iterator[None]:
    """Ctrl-C is heard at the end of the block."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its start would lift the block in the thread that starts workers
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _quiet_logs() -> Iterator[None]:
    """Keep what Dask logs off the screen; everything is as before afterwards."""
    handlers = [one for one in logging.getLogger("distributed").handlers if isinstance(one, logging.StreamHandler)]
    before = [handler.level for handler in handlers]
    for handler in handlers:
        handler.setLevel(SILENT)
    try:
        yield
    finally:
        for handler, level in zip(handlers, before, strict=True):
            handler.setLevel(level)
