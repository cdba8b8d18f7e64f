"""A fitted reference: the same answers as `compare`, scikit-learn's conventions, and a file one can trust."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import shiftscope as ss
from shiftscope.questions import detector_file
from tests.mutations import mutations
from validation.unchanged import digests

QUICK = ss.CompareParams(
    n_permutations=199,
    scan=ss.ScanParams(n_permutations=199, n_seeds=16, beam=4),
    equalise=ss.EqualiseParams(k_max=40, n_permutations=99),
)


def frames(n: int = 200) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Numbers with gaps, a category, dates and a column of bytes; a compact group in the second frame."""
    rng = np.random.default_rng(3)
    pair = []
    for injected in (0, 50):
        rows = rng.standard_normal((n, 2))
        rows[:injected] = (1.0, -1.0) + 0.05 * rng.standard_normal((injected, 2))
        rows[injected : injected + 9, 0] = np.nan
        frame = pd.DataFrame(rows, columns=["a", "b"])
        frame["kind"] = rng.choice(["red", "green", "blau ☺"], n)
        frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D")
        frame["raw"] = [b"x"] * n
        pair.append(frame)
    return pair[0], pair[1]


@parametrize_with_checks([ss.ShiftDetector()])
def test_scikit_learn_checks(estimator, check):
    if "array_api" not in check.func.__name__:  # these need a variable set before SciPy is loaded, and check `predict`
        check(estimator)


def test_compare_is_the_function_to_the_last_bit():
    reference, current = frames()
    columns = ss.Columns(exclude=("raw",), kinds={"kind": "category"})
    detector = ss.ShiftDetector(params=QUICK, columns=columns, random_state=2).fit(reference)
    found = detector.compare(current)
    expected = ss.compare(reference, current, params=QUICK, columns=columns, random_state=2)
    assert digests(found) == digests(expected)
    assert found.modes
    assert digests(detector.compare(current)) == digests(expected)  # and again: nothing wears off


def test_the_reference_is_a_copy():
    rows = np.random.default_rng(0).standard_normal((60, 2))
    detector = ss.ShiftDetector().fit(rows)
    rows[:] = 0.0
    assert np.ptp(detector.table_.columns[0].values) > 0


def test_parameters_are_stored_untouched_and_checked_by_fit():
    detector = clone(ss.ShiftDetector(alpha=7.0, params=QUICK, columns=["a"]))
    assert detector.get_params() == {
        "alpha": 7.0,
        "columns": ["a"],
        "engine": None,
        "params": QUICK,
        "random_state": 0,
    }
    with pytest.raises(ss.ParameterError, match=r"alpha must lie strictly between 0 and 1, got 7\.0"):
        detector.fit(np.eye(3))
    assert detector.set_params(alpha=0.05).fit(frames()[0]).feature_names_in_.tolist()[:2] == ["a", "b"]


def test_names_of_an_earlier_fit_are_forgotten():
    detector = ss.ShiftDetector().fit(frames()[0]).fit(np.eye(4))
    assert not hasattr(detector, "feature_names_in_")
    assert detector.n_features_in_ == 4


def test_an_unfitted_detector_says_so(tmp_path: Path):
    for call in (lambda: ss.ShiftDetector().compare(np.eye(3)), lambda: ss.ShiftDetector().save(tmp_path / "x")):
        with pytest.raises(NotFittedError, match=r"call fit\(reference\) first"):
            call()
    assert list(tmp_path.iterdir()) == []


def test_round_trip_in_another_process(tmp_path: Path):
    reference, current = frames()
    columns = ss.Columns(include=("a", "b", "kind", "day", "raw"))
    detector = ss.ShiftDetector(params=QUICK, columns=columns, alpha=0.02, random_state=np.int64(5)).fit(reference)
    detector.save(tmp_path / "reference.ssd")
    current.drop(columns="raw").to_parquet(tmp_path / "current.parquet")
    code = (
        "import sys, shiftscope as ss\n"
        "detector = ss.ShiftDetector.load(sys.argv[1])\n"
        "detector.compare(sys.argv[2]).to_json(sys.argv[3])\n"
        "detector.save(sys.argv[1] + '.again')\n"
    )
    paths = [str(tmp_path / name) for name in ("reference.ssd", "current.parquet", "result.json")]
    done = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    there = json.loads(Path(paths[2]).read_text())
    here = json.loads(detector.compare(current.drop(columns="raw")).to_json())
    assert there.pop("timings") != here.pop("timings")
    assert there.pop("reading") != here.pop("reading")  # a file there, a frame here
    assert there == here
    assert Path(paths[0]).read_bytes() == Path(paths[0] + ".again").read_bytes()


@pytest.mark.parametrize("columns", [None, ["x0"], ss.Columns(kinds={"x0": "category"})])
def test_settings_come_back(tmp_path: Path, columns: object):
    detector = ss.ShiftDetector(columns=columns).fit(np.arange(8.0).reshape(4, 2))
    detector.save(tmp_path / "d")
    loaded = ss.ShiftDetector.load(tmp_path / "d")
    assert loaded.columns == (tuple(columns) if isinstance(columns, list) else columns)
    assert (loaded.alpha, loaded.params, loaded.random_state, loaded.engine) == (None, None, 0, None)
    assert loaded.n_features_in_ == 2
    assert np.array_equal(loaded.table_.columns[1].values, [1.0, 3.0, 5.0, 7.0])


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    ss.ShiftDetector().fit(np.arange(40.0).reshape(20, 2)).save(tmp_path / "d.ssd")
    return tmp_path / "d.ssd"


def test_damage_anywhere_is_refused(saved: Path):
    """Whatever byte changes, wherever the file ends: one clear error, or a byte that carries nothing."""
    whole = saved.read_bytes()
    expected = detector_file._matrix(ss.ShiftDetector.load(saved).table_)
    messages = []
    for at in range(0, len(whole), 7):
        saved.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            table = ss.ShiftDetector.load(saved).table_
        except ss.InputError as error:
            messages.append(str(error))
        else:  # a field of the archive that nobody reads
            assert np.array_equal(detector_file._matrix(table), expected)
    assert len(messages) > len(whole) / 7 / 2
    assert not any("\n" in message for message in messages)
    for end in range(0, len(whole), 61):
        saved.write_bytes(whole[:end])
        assert detector_file.is_detector(saved) == (end > 41)  # its name is in the first bytes
        with pytest.raises(ss.InputError, match="no saved detector"):
            ss.ShiftDetector.load(saved)


def rewritten(path: Path, **changes: object) -> None:
    """The same archive with another header."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    header = {**json.loads(parts[detector_file.HEADER]), **changes}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**parts, detector_file.HEADER: json.dumps(header)}.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "has version 2 and this shiftscope reads 1; use a newer shiftscope"),
        ({"format": "other"}, "is no saved detector; give a file of ShiftDetector.save"),
        ({"checksum": "00"}, "is damaged: its checksum does not fit its content; fit the detector again"),
    ],
)
def test_foreign_headers_are_refused(saved: Path, changes: dict[str, object], message: str):
    rewritten(saved, **changes)
    with pytest.raises(ss.InputError, match=message):
        ss.ShiftDetector.load(saved)


def test_a_state_that_does_not_fit_is_refused(saved: Path):
    with zipfile.ZipFile(saved) as archive:
        values = archive.read(detector_file.VALUES)
    state = b'{"names": ["x0"]}'
    with zipfile.ZipFile(saved, "w") as archive:
        header = {
            "format": detector_file.DETECTOR_FORMAT,
            "version": 1,
            "checksum": detector_file._checksum(state, values),
        }
        for name, content in (("header.json", json.dumps(header)), ("state.json", state), ("values.npy", values)):
            archive.writestr(name, content)
    with pytest.raises(ss.InputError, match="holds what no detector of this version has"):
        ss.ShiftDetector.load(saved)


def test_a_missing_or_other_file_is_refused(tmp_path: Path):
    with pytest.raises(ss.InputError, match=r"cannot be read \(No such file"):
        ss.ShiftDetector.load(tmp_path / "nothing")
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ss.InputError, match="is no saved detector, or a damaged one"):
        ss.ShiftDetector.load(tmp_path / "table.csv")
    np.savez(tmp_path / "arrays.npz", a=np.eye(2))
    with pytest.raises(ss.InputError, match="is no saved detector, or not a whole one"):
        ss.ShiftDetector.load(tmp_path / "arrays.npz")
    assert detector_file.is_detector(tmp_path / "arrays.npz") is False
    assert detector_file.is_detector(tmp_path / "table.csv") is False


@pytest.mark.parametrize("wrong", [{"engine": "spark"}, {"columns": "x0"}, {"columns": 3}, {"alpha": 2}])
def test_fit_checks_the_settings_as_compare_does(wrong):
    rows = np.random.default_rng(0).standard_normal((2, 40, 2))
    with pytest.raises(ss.ParameterError) as at_fit:
        ss.ShiftDetector(**wrong).fit(rows[0])
    with pytest.raises(ss.ParameterError) as at_compare:
        ss.compare(*rows, **wrong)
    assert str(at_fit.value) == str(at_compare.value)


def signed(path: Path, state: object, values: bytes) -> None:
    """A detector file of any content with the checksum that fits it."""
    text = json.dumps(state).encode()
    checksum = detector_file._checksum(text, values)
    header = {"format": detector_file.DETECTOR_FORMAT, "version": 1, "checksum": checksum}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (("header.json", json.dumps(header)), ("state.json", text), ("values.npy", values)):
            archive.writestr(name, content)


@pytest.fixture
def parts(tmp_path: Path) -> tuple[dict[str, object], bytes]:
    """State and values of a detector with columns of several kinds and settings of its own."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.standard_normal(30), "k": rng.choice(["p", "q"], 30), "u": [[1]] * 30})
    chosen = ss.Columns(exclude=("u",), kinds={"a": "number"})
    params = ss.CompareParams(n_permutations=199, scan=None)
    ss.ShiftDetector(alpha=0.05, columns=chosen, params=params).fit(frame).save(tmp_path / "d")
    with zipfile.ZipFile(tmp_path / "d") as archive:
        return json.loads(archive.read("state.json")), archive.read("values.npy")


def test_a_crafted_state_is_taken_as_it_is_or_refused_in_one_line(tmp_path: Path, parts):
    state, values = parts
    refused = []
    for changed in mutations(state, 600):
        signed(tmp_path / "d", changed, values)
        try:
            detector = ss.ShiftDetector.load(tmp_path / "d")
        except ss.InputError as error:
            refused.append(str(error))
        else:  # what was loaded can be saved and is the same again
            detector.save(tmp_path / "again")
            assert ss.ShiftDetector.load(tmp_path / "again").get_params() == detector.get_params()
    assert 300 < len(refused) < 600
    assert not any("\n" in said for said in refused)


def npy(array: object) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(array), allow_pickle=False)
    return buffer.getvalue()


def huge(content: bytes) -> bytes:
    """The same bytes under a header that promises terabytes."""
    return content.replace(b"(2, 30), ", b"(2, 99999999999), ", 1).replace(b" " * 9 + b"\n", b"\n", 1)


@pytest.mark.parametrize(
    "values",
    [
        np.zeros((2, 29)), np.zeros((3, 30)), np.zeros(60), np.zeros((2, 30), np.float32), np.zeros((2, 30)).T,
        np.full((2, 30), 7.0), np.full((2, 30), -1.0), np.full((2, 30), 0.5), np.full((2, 30), np.inf),
    ],
)  # fmt: skip
def test_crafted_values_are_refused(tmp_path: Path, parts, values):
    signed(tmp_path / "d", parts[0], npy(values))
    with pytest.raises(ss.InputError, match="holds what no detector of this version has"):
        ss.ShiftDetector.load(tmp_path / "d")


def test_nothing_unfolds_in_the_memory(tmp_path: Path, parts):
    state, values = parts
    assert huge(values) != values
    for content in (huge(values), values[:50], b"", values + b"\0" * 8):
        signed(tmp_path / "d", state, content)
        with pytest.raises(ss.InputError, match="holds what no detector"):
            ss.ShiftDetector.load(tmp_path / "d")
    with zipfile.ZipFile(tmp_path / "d", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("header.json", "state.json", "values.npy"):
            archive.writestr(name, b" " * 1_000_000)
    with pytest.raises(ss.InputError, match="is compressed"):
        ss.ShiftDetector.load(tmp_path / "d")


@pytest.mark.parametrize("depth", [100_000])
def test_a_header_or_state_of_endless_brackets_is_refused(tmp_path: Path, parts, depth: int):
    brackets = b"[" * depth
    for header, state in ((brackets, b"{}"), (None, brackets)):
        told = {"format": "shiftscope detector", "version": 1, "checksum": detector_file._checksum(state, b"")}
        with zipfile.ZipFile(tmp_path / "d", "w") as archive:
            archive.writestr("header.json", header or json.dumps(told))
            archive.writestr("state.json", state)
            archive.writestr("values.npy", b"")
        with pytest.raises(ss.InputError, match=r"is damaged|no detector"):
            ss.ShiftDetector.load(tmp_path / "d")
