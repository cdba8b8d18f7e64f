"""Words for a mode that stands for features that differ as a whole."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import shiftscope as ss
from shiftscope.report.sentences import mode_sentence, mode_title
from shiftscope.report.summary import summarise


def percents(told):
    """The percentages of a sentence, in their order."""
    return [float(number) for number in re.findall(r"(-?[\d.]+) %", told)]


@pytest.fixture(scope="module")
def mode():
    rng = np.random.default_rng(1)
    reference, current = rng.standard_normal((2, 1500, 3))
    current[:90, :2] = 0.1 * rng.standard_normal((90, 2))
    return summarise(ss.compare(reference, current)).modes[0]


def test_an_excess_is_told_with_its_share(mode):
    shares = [100 * share for share in (mode.excess, *mode.excess_interval)]
    assert percents(mode_sentence(mode)) == pytest.approx([*shares, 95], rel=0.05)
    assert percents(mode_title(mode)) == pytest.approx(shares[:1], rel=0.05)
    for told in (mode_sentence(mode), mode_title(mode)):
        assert "the current sample" in told
        assert "the reference sample" not in told
        assert told.rstrip(".").endswith("in x0 and x1")


def test_without_excess_no_share_is_told_as_one(mode):
    none = replace(mode, excess=-0.002, excess_interval=(-0.01, 0.006))
    told = mode_sentence(none)
    assert percents(told) == [-0.2, -1, 0.6, 95]
    assert "no excess" in told
    assert told.index("x0 and x1") < told.index("current sample")
    assert mode_title(none) == "The current sample, in x0 and x1"  # no share
