"""Fixed cases whose results must stay the same to the last bit while the code behind them moves.

    python -m validation.unchanged run before.json      # on the old checkout (PYTHONPATH=OLD/src)
    python -m validation.unchanged run after.json       # on the new one
    python -m validation.unchanged compare before.json after.json

Every case calls the public API only. A result is told as one digest per field, so that a difference has a name.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import shiftscope as ss

UNTOLD = {"timings", "params", "client", "reading"}  # of every run or file its own, or settings that may grow
QUICK = ss.CompareParams(localise=ss.LocaliseParams(epochs=200))
TABLES = Path(__file__).resolve().parents[2] / "shared" / "data" / "tables"


def mixture(n: int, seed: int, *, injected: int = 0, moved: float = 0.0, d: int = 20) -> tuple[Any, Any]:
    """Two correlated Gaussian mixtures; a compact group in five columns, or three columns displaced."""
    rng = np.random.default_rng(seed)
    centres = 2.0 * rng.standard_normal((4, d))
    both = [centres[rng.integers(4, size=n)] + rng.standard_normal((n, d)) for _ in range(2)]
    if injected:
        group = [column for column in (2, 4, 6, 8, 9) if column < d]
        both[1][:injected, group] = 0.5 + 0.1 * rng.standard_normal((injected, len(group)))
    if moved:
        both[1][:, [0, 1, 3]] += moved
    return both[0], both[1]


def mixed_table(n: int, seed: int, *, share: float = 0.0) -> pd.DataFrame:
    """Numbers, levels, dates and gaps; `share` of the rows come from another site with a narrow dose."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 12, n).round(),
            "dose": rng.gamma(2.0, 3.0, n),
            "weight": rng.normal(70, 9, n),
            "site": rng.choice(list("ABCD"), n, p=[0.5, 0.3, 0.15, 0.05]),
            "sex": rng.choice(["f", "m"], n),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D"),
            "lab": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        }
    )
    odd = rng.random(n) < share
    frame.loc[odd, "site"] = "D"
    frame.loc[odd, "dose"] = rng.normal(5.0, 0.2, int(odd.sum()))
    return frame


def _compared(pair: tuple[Any, Any], **settings: Any) -> Any:
    return ss.compare(*pair, **{"params": QUICK, **settings})


def _localised(batch: Any) -> Any:
    reference, current = mixture(1500, 11, injected=120)
    pool = np.vstack([reference, current])
    pool = (pool - pool.mean(axis=0)) / pool.std(axis=0)
    target = np.arange(len(pool)) >= len(reference)
    query = (np.arange(len(pool)) >= len(reference)) & (np.arange(len(pool)) < len(reference) + 120)
    return ss.localise(pool, target, query, ss.LocaliseParams(epochs=150, batch=batch), random_state=3)


def _with_dask(pair: tuple[Any, Any]) -> Any:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        return _compared(pair, engine=ss.DaskEngine(client))


def _wine() -> tuple[Any, Any]:
    white, red = (pd.read_csv(TABLES / f"winequality-{kind}.csv", header=None) for kind in ("white", "red"))
    return white.iloc[:1500], pd.concat([white.iloc[1500:2950], red.iloc[:50]])


def _monitored() -> Any:
    reference, _ = mixture(900, 21, d=6)
    batches = [mixture(400, 21 + at, d=6, moved=0.6 * (at == 2))[1] for at in range(1, 4)]
    detector = ss.ShiftDetector(alpha=0.05, params=ss.CompareParams(localise=QUICK.localise)).fit(reference)
    return ss.monitor(detector, batches, horizon=3)


CASES: dict[str, Callable[[], Any]] = {
    "compare_null": lambda: _compared(mixture(1500, 1)),
    "compare_local": lambda: _compared(mixture(3000, 2, injected=150)),
    "compare_global": lambda: _compared(mixture(3000, 3, moved=0.3)),
    "compare_swapped": lambda: _compared(mixture(3000, 2, injected=150)[::-1]),
    "compare_unequal": lambda: _compared((mixture(4000, 4)[0], mixture(900, 4, injected=90)[1])),
    "compare_full_space": lambda: _compared(
        mixture(2000, 5, injected=200, d=5), params=ss.CompareParams(scan=None, localise=QUICK.localise)
    ),
    "compare_design": lambda: _compared(
        mixture(2500, 6, injected=200, d=6), params=ss.CompareParams(full_space_rows=2000, localise=QUICK.localise)
    ),
    "compare_mixed": lambda: _compared((mixed_table(2000, 7), mixed_table(2000, 8, share=0.08))),
    "compare_missing": lambda: _compared((mixed_table(900, 7), mixed_table(700, 9).mask(lambda f: f["dose"] > 12))),
    "compare_wide": lambda: _compared(mixture(600, 10, injected=80, d=60), random_state=5),
    "compare_dask": lambda: _with_dask(mixture(1200, 12, injected=100, d=8)),
    "compare_wine": lambda: _compared(_wine()),
    "equalise": lambda: ss.equalise(*mixture(1200, 13, injected=150, d=4), random_state=2),
    "equalise_mixed": lambda: ss.equalise(mixed_table(900, 14), mixed_table(700, 15, share=0.2)),
    "equalise_paper": lambda: ss.equalise(
        *mixture(800, 16, moved=0.8, d=4), params=ss.EqualiseParams(threshold="formula", null="simulated")
    ),
    "localise": lambda: _localised("corrected"),
    "localise_paper": lambda: _localised("paper"),
    "explain_rows": lambda: ss.explain_rows(*mixture(1500, 17, injected=60), np.arange(60)),
    "explain_rows_mixed": lambda: ss.explain_rows(
        mixed_table(1200, 18), mixed_table(900, 19, share=0.05), np.arange(0, 900, 11)
    ),
    "score": lambda: ss.score(*mixture(1200, 20, injected=60, d=5)),
    "scan": lambda: ss.scan(*mixture(1500, 2, injected=100, d=10)),
    "scan_mixed": lambda: ss.scan(mixed_table(900, 7), mixed_table(800, 8, share=0.1)),
    "monitor": _monitored,
    "certify": lambda: ss.certify(_compared(mixture(1200, 13, injected=150, d=4)), n_permutations=39),
    "partition": lambda: ss.partition(mixture(700, 22, d=3)[0]),
}


def digests(result: Any) -> dict[str, str]:
    """One digest per field of a result, of its parts and of their parts."""
    return {name: _digest(value) for name, value in _flat("", result)}


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Fields by name; those of several parts of one kind are told together."""
    if _is_data(value):
        for field, inner in _fields(value):
            yield from _flat(f"{name}.{field}".lstrip("."), inner)
    elif isinstance(value, tuple) and value and all(_is_data(part) for part in value):
        for field, _ in _fields(value[0]):
            yield from _flat(f"{name}.{field}", [getattr(part, field) for part in value])
    else:
        yield name, value


def _is_data(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, type)


def _fields(value: Any) -> list[tuple[str, Any]]:
    return [(field.name, getattr(value, field.name)) for field in fields(value) if field.name not in UNTOLD]


def _digest(value: Any) -> str:
    digest = hashlib.blake2b(digest_size=12)
    _feed(digest.update, value)
    return digest.hexdigest()


def _feed(update: Callable[[bytes], None], value: Any) -> None:
    if isinstance(value, np.ndarray):
        update(str((value.dtype.kind, value.shape)).encode())
        update(np.ascontiguousarray(value).tobytes())
    elif _is_data(value):
        for name, inner in _fields(value):
            update(name.encode())
            _feed(update, inner)
    elif isinstance(value, tuple | list):
        update(f"[{len(value)}".encode())
        for inner in value:
            _feed(update, inner)
    else:
        update(repr(value).encode())


def run(path: Path, names: list[str]) -> None:
    """Run the cases that the file does not hold yet."""
    known = json.loads(path.read_text()) if path.exists() else {}
    for name in names or CASES:
        if name not in known:
            known[name] = digests(CASES[name]())
            path.write_text(json.dumps(known, indent=1))
            print(name, flush=True)


def compare(one: Path, other: Path) -> int:
    """Print which fields of which cases differ; 1 if any does."""
    before, after = json.loads(one.read_text()), json.loads(other.read_text())
    differing = 0
    for name in before:
        both = before[name].keys() & after.get(name, {}).keys()
        changed = sorted(field for field in both if before[name][field] != after[name][field])
        gone = sorted(before[name].keys() - after.get(name, {}).keys())
        differing += bool(changed or gone)
        print(
            f"{name:22s} {'changed: ' + ', '.join(changed) if changed else 'same'}{' gone: ' * bool(gone)}{gone or ''}"
        )
    return int(differing > 0)


if __name__ == "__main__":
    command, *rest = sys.argv[1:]
    if command == "run":
        run(Path(rest[0]), rest[1:])
    else:
        sys.exit(compare(Path(rest[0]), Path(rest[1])))
