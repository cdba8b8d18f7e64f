from __future__ import annotations

import json
from pathlib import Path

from shiftscope.cli import app as cli
from tests.cli.running import Run, told


def test_certify(folder: Path, tmp_path: Path, run: Run):
    files = (folder / "reference.csv", folder / "b3.csv")
    code, out, _ = told(run("certify", *files, "--keep", "reference", "--json", tmp_path / "c.json"))
    assert code == 0
    assert "random removal" in out
    subsets = json.loads((tmp_path / "c.json").read_text())["subsets"]
    assert subsets[1]["removed_reference"] == 0
    code, _, err = told(run("certify", *files, "--modes", "9"))
    assert (code, err.count("\n")) == (cli.USER_ERROR, 1)
    assert "--modes 9: modes count from 1 and there are" in err
