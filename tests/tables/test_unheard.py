from __future__ import annotations

import os
import sys
import threading

import pytest

from shiftscope.tables.unheard import unheard


def said(words: str) -> None:
    os.write(2, words.encode())


def test_words_are_unheard_only_meanwhile(capfd):
    said("before ")
    with unheard():
        said("within ")
    said("after")
    assert capfd.readouterr().err == "before after"


def test_the_last_of_several_readers_lets_words_be_heard_again(capfd):
    inside, go_on = threading.Event(), threading.Event()

    def read() -> None:
        with unheard():
            inside.set()
            go_on.wait()

    reader = threading.Thread(target=read)
    reader.start()
    inside.wait()
    with unheard():
        said("both ")
    said("one left ")
    go_on.set()
    reader.join()
    said("none")
    assert capfd.readouterr().err == "none"


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks beside threads
def test_a_fork_is_heard(capfd):
    with unheard():
        child = os.fork()
        if child == 0:
            said("child ")
            with unheard():
                said("unheard")
            os._exit(0)
        os.waitpid(child, 0)
        said("parent")
    assert capfd.readouterr().err == "child "


def test_a_closed_stream_stays_closed(capfd):
    kept = os.dup(2)
    os.close(2)
    try:
        with unheard():
            pass
        with pytest.raises(OSError, match="Bad file descriptor"):
            said("anything")
    finally:
        os.dup2(kept, 2)
        os.close(kept)
    said("again")
    assert capfd.readouterr().err == "again"
