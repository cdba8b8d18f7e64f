from __future__ import annotations

import pickle

import numpy as np
import pytest

import shiftscope as ss
from shiftscope.errors import LONGEST, is_one_of


@pytest.mark.parametrize("kind", [ss.ShiftscopeError, ss.InputError, ss.ParameterError, ss.EngineError])
def test_a_message_is_one_printable_line_whatever_it_tells(kind):
    message = str(kind(f"x must be a word, got {np.zeros((40, 3))!r}\x1b\u202e; name it"))
    assert message.isprintable()
    assert message.startswith("x must be a word, got array([[0., 0., 0.], ")
    assert message.endswith("??; name it")


def test_a_long_message_keeps_its_beginning_and_its_end():
    message = str(ss.InputError(f"rule {'x' * 10_000} remedy"))
    assert len(message) <= LONGEST + 3
    assert message.startswith("rule x")
    assert message.endswith("x remedy")


def test_an_error_comes_back_from_another_process():
    error = pickle.loads(pickle.dumps(ss.InputError("a\nb")))
    assert (type(error), str(error)) == (ss.InputError, "a b")


@pytest.mark.parametrize("value", [None, 3, np.array([]), np.array(["a", "b"]), ["a"], "c"])
def test_only_a_word_is_one_of_the_words(value):
    assert not is_one_of(value, "a", "b")
    assert is_one_of("b", "a", "b")
