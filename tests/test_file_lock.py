from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import shiftscope as ss
from shiftscope.file_lock import locked


def test_a_killed_monitor_gives_its_lock_back(tmp_path: Path):
    path = tmp_path / "h"
    script = (
        "import sys, time; from pathlib import Path; from shiftscope.file_lock import locked\n"
        "with locked(Path(sys.argv[1])): print(flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(ss.InputError, match="h' is in use by another process"), locked(path):
            pass
    finally:
        holder.kill()
        holder.communicate()
    with locked(path), pytest.raises(ss.InputError, match="in use by another process"), locked(path):
        pass
    with locked(path):  # and back again
        pass
