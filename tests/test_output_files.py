"""Files appear whole, and several of them together, or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shiftscope.errors import InputError
from shiftscope.output_files import check_target, together, whole_file, write_text


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def test_files_appear_when_all_are_written(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "former")
    with together():
        write_text(tmp_path / "a", "1")
        write_text(tmp_path / "b", "2")
        assert contents(tmp_path)["a"] == "former"
        assert "b" not in contents(tmp_path)
    assert contents(tmp_path) == {"a": "1", "b": "2"}
    write_text(tmp_path / "c", "3")
    assert contents(tmp_path) == {"a": "1", "b": "2", "c": "3"}


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt])
def test_an_error_within_leaves_nothing(tmp_path: Path, fault: type[BaseException]) -> None:
    write_text(tmp_path / "a", "former")

    def write() -> None:
        with together():
            write_text(tmp_path / "a", "1")
            with whole_file(tmp_path / "b") as file:
                file.write(b"2")
                raise fault

    with pytest.raises(fault):
        write()
    assert contents(tmp_path) == {"a": "former"}


def test_a_rename_that_fails_takes_the_others_back(tmp_path: Path) -> None:
    """The last of three targets becomes a folder while the files are written."""
    write_text(tmp_path / "a", "former")

    def write() -> None:
        with together():
            for name in "abc":
                write_text(tmp_path / name, name)
            (tmp_path / "c").mkdir()

    with pytest.raises(InputError, match=r"c' cannot be written \(Is a directory\)"):
        write()
    assert contents(tmp_path) == {"a": "former"}
    assert sorted(os.listdir(tmp_path)) == ["a", "c"]


def test_a_rename_that_fails_leaves_the_file_that_it_was_to_replace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        write_text(tmp_path / name, "former")
    real = os.replace

    def replace(source: Path, target: Path) -> None:
        if source.suffix == ".part" and target.name == "b":
            raise PermissionError(13, "Permission denied")
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)

    def write() -> None:
        with together():
            for name in "ab":
                write_text(tmp_path / name, "new")

    with pytest.raises(InputError, match=r"b' cannot be written \(Permission denied\)"):
        write()
    assert contents(tmp_path) == {"a": "former", "b": "former"}


def test_a_file_in_the_place_of_a_folder_is_called_one(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "1")
    with pytest.raises(InputError, match="its folder is a file"):
        check_target(tmp_path / "a" / "b")


@pytest.mark.skipif(sys.platform == "win32", reason="no such paths")
def test_a_stream_is_written_behind_what_it_holds(tmp_path: Path) -> None:
    """Of a log that standard output is appended to, nothing is lost."""
    log = tmp_path / "log"
    log.write_text("former\n")
    script = (
        "from shiftscope.output_files import write_text\n"
        "print('before'); write_text('/dev/stdout', 'text\\n'); print('after')"
    )
    with log.open("ab") as file:
        subprocess.run([sys.executable, "-c", script], stdout=file, check=True)
    assert log.read_text() == "former\nbefore\ntext\nafter\n"
    piped = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert piped.stdout == "before\ntext\nafter\n"
    with pytest.raises(InputError, match="cannot be written"):
        write_text("/dev/fd/999", "text")


# what killed processes leave


@pytest.mark.skipif(sys.platform == "win32", reason="no locks on files that are renamed")
def test_what_a_dead_process_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    for name in (".shiftscope-0123456789ab.part", ".shiftscope-0123456789ab.former"):
        (tmp_path / name).touch()
    mine = [".shiftscope-notes.part", "shiftscope-0123456789ab.part", ".shiftscope-0123456789ab.part.txt"]
    for name in mine:
        (tmp_path / name).touch()
    write_text(tmp_path / "a", "1")
    assert sorted(os.listdir(tmp_path)) == sorted(["a", *mine])


def test_files_of_a_running_process_are_not_swept(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "former")
    with whole_file(tmp_path / "a") as slow:
        slow.write(b"slow")
        write_text(tmp_path / "b", "quick")
    assert contents(tmp_path) == {"a": "slow", "b": "quick"}


def test_a_file_without_links_can_be_replaced_with_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some disks know no hard links."""

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    for text in ("former", "new"):
        with together():
            for name in "ab":
                write_text(tmp_path / name, text)
    assert contents(tmp_path) == {"a": "new", "b": "new"}


# one file


def test_file_is_written_whole(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "one ü")
    write_text(str(tmp_path / "a.txt"), "two ü")
    assert (tmp_path / "a.txt").read_text("utf-8") == "two ü"
    assert os.listdir(tmp_path) == ["a.txt"]


def write_half(path: Path, error: type[BaseException]) -> None:
    with whole_file(path) as file:
        file.write(b"half")
        raise error


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_interrupted_file_leaves_the_former_one_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("former")
    with pytest.raises(error):
        write_half(path, error)
    assert path.read_text() == "former"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.txt").symlink_to(tmp_path / "real" / "a.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real" / "a.txt").read_text() == "new"


def test_device_is_written_directly() -> None:
    write_text(os.devnull, "gone")
    assert not Path(os.devnull).is_file()


def test_new_file_follows_the_umask(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "")
    (tmp_path / "b").touch()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode
