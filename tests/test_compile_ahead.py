from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from shiftscope import compile_ahead as warm


def test_the_helper_compiles_what_a_comparison_uses() -> None:
    """In a process of its own: a comparison needs no form of these kernels that the helper has not made."""
    code = (
        "import numpy as np\n"
        "import shiftscope as ss\n"
        "from shiftscope.compile_ahead import _compiled, compile_kernels\n"
        "from shiftscope.kernels.enrichment import batch_distances, nested_neighbours, weighted_spread\n"
        "from shiftscope.kernels.score_walk import score_labellings, score_lists\n"
        "kernels = (score_lists, score_labellings, nested_neighbours, batch_distances, weighted_spread)\n"
        "assert not any(kernel.signatures for kernel in kernels)\n"
        "compile_kernels()\n"
        "assert _compiled()\n"
        "made = [set(kernel.signatures) for kernel in kernels]\n"
        "assert all(made), made\n"
        "reference, current = np.random.default_rng(0).standard_normal((2, 300, 3))\n"
        "current[:60] = 1.0 + 0.05 * np.random.default_rng(1).standard_normal((60, 3))\n"
        "params = ss.CompareParams(scan=None, n_permutations=99, localise=ss.LocaliseParams(epochs=5))\n"
        "assert ss.compare(reference, current, params=params).modes\n"
        "assert [set(kernel.signatures) for kernel in kernels] == made\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_kernels_are_compiled_if_their_files_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = SimpleNamespace(stats=SimpleNamespace(cache_path=str(tmp_path)), py_func=warm.score_labellings.py_func)
    monkeypatch.setattr(warm, "score_labellings", kernel)
    assert not warm._compiled()
    (tmp_path / "score.score_lists-13.py311.nbi").touch()
    assert not warm._compiled()
    (tmp_path / "score.score_labellings-103.py311.nbi").touch()
    assert warm._compiled()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that are started, real ones, on a machine with two cores."""
    seen: list[subprocess.Popen[bytes]] = []

    class Watched(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *given: object, **settings: object) -> None:
            super().__init__(*given, **settings)  # type: ignore[arg-type]
            seen.append(self)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    monkeypatch.setattr(warm, "cores", lambda: 2)
    return seen


@pytest.mark.parametrize(("compiled", "cores"), [(True, 2), (False, 1)])
def test_no_helper_runs_without_need_or_core(started, monkeypatch: pytest.MonkeyPatch, compiled: bool, cores: int):
    monkeypatch.setattr(warm, "_compiled", lambda: compiled)
    monkeypatch.setattr(warm, "cores", lambda: cores)
    with warm.shared_compilation():
        assert started == []


@pytest.mark.parametrize("fault", [None, ZeroDivisionError])
def test_a_helper_runs_as_long_as_the_block_and_no_longer(started, monkeypatch: pytest.MonkeyPatch, fault) -> None:
    monkeypatch.setattr(warm, "_compiled", lambda: False)

    def work() -> None:
        with warm.shared_compilation():
            (helper,) = started
            assert helper.poll() is None
            assert Path(helper.args[0]) == Path(sys.executable)
            assert helper.args[1:] == ["-m", warm.__name__]
            if fault is not None:
                raise fault

    if fault is None:
        work()
    else:
        with pytest.raises(fault):
            work()
    (helper,) = started
    assert helper.returncode == -signal.SIGKILL
