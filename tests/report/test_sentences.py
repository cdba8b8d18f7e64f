"""Words for a mode that stands for features that differ as a whole."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import shiftscope as ss
from shiftscope.report.sentences import mode_sentence, mode_title
from shiftscope.report.summary import summarise


@pytest.fixture(scope="module")
def mode():
    rng = np.random.default_rng(1)
    reference, current = rng.standard_normal((2, 1500, 3))
    current[:90, :2] = 0.1 * rng.standard_normal((90, 2))
    return summarise(ss.compare(reference, current)).modes[0]


def test_an_excess_is_told_with_its_share(mode):
    assert mode_sentence(mode).startswith("the current sample has an excess of about ")
    assert " % of the current sample, in x0 and x1" in mode_title(mode)


def test_without_excess_no_share_is_told_as_one(mode):
    none = replace(mode, excess=-0.002, excess_interval=(-0.01, 0.006))
    assert mode_sentence(none) == (
        "the two samples differ in x0 and x1 as a whole; the rows named are those where the current sample stands out "
        "most, but around them it has no excess (-0.2 % of its rows, between -1 % and 0.6 %, a 95 % interval)."
    )
    assert mode_title(none) == "The current sample, in x0 and x1"
