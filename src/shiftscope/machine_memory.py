"""How much memory this process may still take, and the refusal of what would take more."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from pathlib import Path

from shiftscope.errors import InputError, ParameterError

SETTING = "SHIFTSCOPE_MEMORY"
_GIGABYTE = 10**9
_BYTES_PER = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_GROUPS = Path("/sys/fs/cgroup")


def check_memory(needed: int, n_rows: int, n_columns: int) -> None:
    """Refuse a comparison that needs more bytes than are to be had; results never depend on the answer."""
    allowed = allowed_memory()
    if allowed is not None and needed > allowed:
        chosen = SETTING in os.environ
        raise InputError(
            f"{n_rows:,} rows and {n_columns:,} columns need up to {needed / _GIGABYTE:,.1f} GB of memory, and "
            f"{allowed / _GIGABYTE:,.1f} GB are {f'allowed by {SETTING}' if chosen else 'free'}; choose columns "
            "(--include, --exclude, or columns= in Python), give fewer rows, or "
            + (f"raise {SETTING}" if chosen else f"use a larger machine ({SETTING}=64GB says how much may be used)")
        )


def allowed_memory() -> int | None:
    """Bytes that the user allows, or that are free now; None if this cannot be told."""
    given = os.environ.get(SETTING)
    if given is not None:
        return _bytes(given)
    limits = [limit for limit in (_free_on_machine(), *_free_in_groups(), _free_address_space()) if limit is not None]
    return min(limits, default=None)


def _bytes(text: str) -> int:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?B?)\s*", text, re.IGNORECASE)
    unit = found[2].upper() if found else ""
    unit = unit if unit in _BYTES_PER else f"{unit}B"
    if found is None or unit not in _BYTES_PER:
        raise ParameterError(f"{SETTING} must be a number of bytes such as 8GB or 500MB, got {text!r}")
    return int(float(found[1]) * _BYTES_PER[unit])


def _free_on_machine() -> int | None:
    """What the system can give without swapping; where it does not tell (macOS), all that the machine has."""
    if sys.platform == "win32":
        return _free_on_windows()
    free = _number(Path("/proc/meminfo"), r"MemAvailable:\s*(\d+) kB")
    if free is not None:
        return 1024 * free
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


def _free_on_windows() -> int | None:
    status = (ctypes.c_ulonglong * 8)()  # MEMORYSTATUSEX: length and load share the first word, then total, free, ...
    ctypes.memset(status, 0, ctypes.sizeof(status))
    ctypes.c_ulong.from_buffer(status).value = ctypes.sizeof(status)
    asked: int = getattr(ctypes, "windll").kernel32.GlobalMemoryStatusEx(status)  # noqa: B009
    return int(status[2]) if asked else None


def _free_in_groups() -> list[int]:
    """What the control groups of this process leave (containers, batch systems)."""
    name = _text(Path("/proc/self/cgroup"))
    own = re.search(r"^0::/(.*)$", name, re.MULTILINE)
    folders = [_GROUPS, *(_GROUPS / part for part in _parts(own[1] if own else ""))]
    free = []
    for folder in folders:
        most, used = _number(folder / "memory.max", r"^(\d+)$"), _number(folder / "memory.current", r"^(\d+)$")
        if most is not None and used is not None:
            spare = _number(folder / "memory.stat", r"^inactive_file (\d+)$") or 0
            free.append(max(0, most - used + spare))
    return free


def _parts(path: str) -> list[str]:
    names = [name for name in path.split("/") if name]
    return ["/".join(names[: count + 1]) for count in range(len(names))]


def _free_address_space() -> int | None:
    """What `ulimit -v` leaves."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    used = _number(Path("/proc/self/status"), r"VmSize:\s*(\d+) kB")
    return None if most == resource.RLIM_INFINITY or used is None else max(0, most - 1024 * used)


def _number(path: Path, pattern: str) -> int | None:
    found = re.search(pattern, _text(path), re.MULTILINE)
    return int(found[1]) if found else None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
