from __future__ import annotations

import numpy as np

from shiftscope.messages import TEXT_SHOWN, listed, shown


def test_shown_and_listed():
    assert shown("a") == "'a'"
    assert shown(np.str_("a")) == "'a'"
    assert shown("é😀") == "'é😀'"
    assert len(shown("x" * 1000)) == TEXT_SHOWN
    assert listed(["a"]) == "'a'"
    assert listed(list("abcde")) == "'a', 'b', 'c' and 2 more"
