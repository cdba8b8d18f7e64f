from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from shiftscope.kernels.box_growth import BIN_SLACK, BOX_BINS, GROWN_SHARE, cumulative_bits, grow_labellings
from shiftscope.kernels.labels import draw_labels
from tests.kernels.twins import slow_half_deviance, slow_xlogx
from tests.packing import pack_labels


class SlowBox:
    """The greedy growth of one seed, written for reading: masks over all rows, every interval in turn."""

    def __init__(self, codes: np.ndarray, labels: np.ndarray, features: list[int], intervals: np.ndarray) -> None:
        self.codes, self.labels = codes, labels
        self.features = list(features)
        self.box = [tuple(map(int, interval)) for interval in intervals]
        self.slack = [self.widened(*interval) for interval in self.box]
        inside = self.inside(self.box)
        self.excess = labels[inside].mean() > labels.mean() if inside.any() else False

    @staticmethod
    def widened(low: int, high: int) -> tuple[int, int]:
        return max(low - BIN_SLACK, 0), min(high + BIN_SLACK, BOX_BINS - 1)

    def inside(self, box: list[tuple[int, int]], skipped: int = -1) -> np.ndarray:
        mask = np.ones(len(self.codes), dtype=bool)
        for axis, (feature, (low, high)) in enumerate(zip(self.features, box, strict=True)):
            if axis != skipped:
                mask &= (self.codes[:, feature] >= low) & (self.codes[:, feature] <= high)
        return mask

    def evidence(self, mask: np.ndarray) -> float:
        n, k = int(mask.sum()), int(self.labels[mask].sum())
        if (k * len(self.labels) > n * self.labels.sum()) != self.excess:
            return 0.0
        return slow_half_deviance(k, n, int(self.labels.sum()), len(self.labels))

    def refit(self) -> float:
        best = 0.0
        for axis in reversed(range(len(self.features))):
            others = self.inside(self.box, skipped=axis) & self.inside(self.slack)
            line, best = self.codes[:, self.features[axis]], 0.0
            low, high = self.slack[axis]
            for begin in range(low, high + 1):
                for end in range(begin, high + 1):
                    value = self.evidence(others & (line >= begin) & (line <= end))
                    if value > best:
                        best, self.box[axis] = value, (begin, end)
        return best

    def best_feature(self) -> tuple[float, int, int, int]:
        inside = self.inside(self.box)
        best = (0.0, -1, 0, 0)
        for feature in range(self.codes.shape[1]):
            if feature in self.features:
                continue
            for width in (2, 4, 8, 16):
                for low in range(0, BOX_BINS - width + 1, width // 2):
                    line = self.codes[:, feature]
                    value = self.evidence(inside & (line >= low) & (line < low + width))
                    best = max(best, (value, feature, low, low + width - 1), key=lambda entry: entry[0])
        return best

    def grow(self) -> float:
        _, feature, low, high = self.best_feature()
        self.features.append(feature)
        self.box.append((low, high))
        self.slack.append(self.widened(low, high))
        return self.refit()


def case(seed: int, n: int = 1500, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, BOX_BINS, (n, d)).astype(np.uint8)
    labels = draw_labels(n, 2 * n // 5, np.arange(4, dtype=np.uint64))
    return codes, labels


def test_bits_tell_the_rows_below_each_bin() -> None:
    codes, _ = case(0, n=130, d=2)
    bits = cumulative_bits(codes)
    for feature in range(2):
        for b in range(BOX_BINS + 1):
            rows = np.unpackbits(bits[feature, b].view(np.uint8), bitorder="little")[:130]
            np.testing.assert_array_equal(rows.astype(bool), codes[:, feature] < b)


@pytest.mark.parametrize("seed", range(4))
def test_growth_agrees_with_the_readable_search(seed: int) -> None:
    codes, labels = case(seed)
    counted = int(labels[0].sum())
    features, interval = [1, 4], np.array([[3 + seed, 4 + seed], [20, 24]])
    seeds = np.tile(np.array(features), (4, 1, 1))
    intervals = np.tile(interval, (4, 1, 1, 1))
    evidence, grown, boxes = grow_labellings(
        codes, cumulative_bits(codes), pack_labels(labels), seeds, intervals, np.ones(4, np.int64), 1,
        np.full(4, counted), 4, slow_xlogx(len(codes)),
    )  # fmt: skip
    for labelling in range(4):
        slow = SlowBox(codes, labels[labelling], features, interval)
        slow.refit()
        for step in range(2):
            assert evidence[labelling, 0, step] == pytest.approx(slow.grow())
            assert grown[labelling, 0, : step + 3].tolist() == slow.features
            assert boxes[labelling, 0, step, : step + 3].tolist() == [list(interval) for interval in slow.box]


def test_the_most_promising_seeds_are_the_ones_grown() -> None:
    codes, labels = case(9)
    sets = np.array(list(combinations(range(6), 2)))
    intervals = np.tile(np.array([4, 9]), (len(sets), 2, 1))
    promises = [SlowBox(codes, labels[0], one, box).best_feature()[0] for one, box in zip(sets, intervals, strict=True)]
    _, grown, _ = grow_labellings(
        codes, cumulative_bits(codes), pack_labels(labels[:1]), sets[None], intervals[None], np.array([len(sets)]), 3,
        labels[:1].sum(axis=1), 3, slow_xlogx(len(codes)),
    )  # fmt: skip
    expected = sets[np.argsort(promises)[::-1][:3]]
    np.testing.assert_array_equal(grown[0, :, :2], expected)


def test_boxes_that_hold_too_many_rows_are_left_alone() -> None:
    codes, labels = case(3)
    wide = np.array([[[[0, BOX_BINS - 1], [8, 8 + BOX_BINS // GROWN_SHARE]]]])
    evidence, _, _ = grow_labellings(
        codes, cumulative_bits(codes), pack_labels(labels[:1]), np.array([[[0, 1]]]), wide, np.array([1]), 1,
        labels[:1].sum(axis=1), 3, slow_xlogx(len(codes)),
    )  # fmt: skip
    assert (evidence < 0).all()
