from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from shiftscope.kernels.labels import PACK
from shiftscope.kernels.shard_counts import count_sets, evaluate_sets
from shiftscope.kernels.window_counts import MAX_BINS, scan_sets
from shiftscope.labellings.labellings import unpack_labels
from tests.kernels.window_case import arguments


@pytest.mark.parametrize("crowded", [0.0, 0.05, 0.9, 1.0])
@pytest.mark.parametrize(("size", "shift", "kind"), [(1, 6, np.uint32), (2, 2, np.uint16), (3, 4, np.uint32)])
def test_cells_of_many_rows_are_counted_like_others(size: int, shift: int, kind: type, crowded: float) -> None:
    """More rows than a byte counts: in no cell, in one of them before long, in one almost at once, in a single cell."""
    rng = np.random.default_rng(size)
    n, bins = 40_000, MAX_BINS >> shift
    codes = rng.integers(0, MAX_BINS, (4, n)).astype(np.uint8)
    codes[:, rng.random(n) < crowded] = 77
    packed = rng.integers(0, 2**64, n, dtype=np.uint64)
    packed[: n // 2] = ~np.uint64(0)
    sets = np.array(list(combinations(range(4), size)), dtype=np.int64)
    tables = np.zeros((len(sets), bins**size, PACK), kind)
    totals = np.zeros((len(sets), bins**size), np.int64)
    for rows in (slice(0, n // 3), slice(0, 0), slice(n // 3, n)):
        count_sets(np.ascontiguousarray(codes[:, rows]), packed[rows], sets, shift, tables, totals)
    labels = unpack_labels(packed[None], PACK)
    for features, table, total in zip(sets, tables, totals, strict=True):
        cell = np.ravel_multi_index(tuple(codes[features] >> shift), (bins,) * size)
        np.testing.assert_array_equal(total, np.bincount(cell, minlength=bins**size))
        slow = np.zeros((bins**size, PACK), np.int64)
        np.add.at(slow, cell, labels)
        np.testing.assert_array_equal(table, slow)


@pytest.mark.parametrize(("size", "finest"), [(1, 64), (2, 16), (3, 8)])
@pytest.mark.parametrize("observed", [True, False])
def test_parts_that_are_counted_and_added_give_the_scan_of_all_rows(size: int, finest: int, observed: bool) -> None:
    """The scan of all rows agrees with one window at a time (see `test_window_counts`)."""
    given = {**arguments(size, finest, floor=0.5), "observed": observed}
    expected = scan_sets(*given.values())
    sets, shift, n = given["sets"], given["shift"], given["codes"].shape[1]
    shape = len(sets), finest**size
    tables, totals = np.zeros((*shape, PACK), np.uint16), np.zeros(shape, np.int64)
    for rows in (slice(0, 31), slice(31, 31), slice(31, n)):
        part, part_totals = np.zeros_like(tables), np.zeros_like(totals)
        codes = np.ascontiguousarray(given["codes"][:, rows])
        count_sets(codes, given["packed"][rows], sets, shift, part, part_totals)
        tables += part
        totals += part_totals
    evidence = np.full(expected[0].shape, given["floor"], np.float32)
    evidence[:, :, 0] = -np.inf if observed else given["floor"]
    window = np.full(expected[1].shape, -1, np.int32)
    pooled = np.full(expected[2].shape, -np.inf, np.float32)
    evaluate_sets(
        tables, totals, finest, size, given["counted"], observed, given["price"], given["bounds"], given["xlogx"],
        evidence, window, pooled,
    )  # fmt: skip
    for one, other in zip((evidence, window, pooled), expected, strict=True):
        np.testing.assert_array_equal(one, other)
