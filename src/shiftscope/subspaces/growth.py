"""Growth: small boxes found by the scan take in one feature after another.

A compact minority fills a small box of its own few features and is thinned out in any three of them. From the
best windows of each labelling, boxes grow greedily: the feature and interval that raise the evidence most join, then
all intervals are fitted again. Fitted like this, noise grows too; every labelling is therefore grown in the same
way, from its own best windows, and each size is compared with itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shiftscope.engines.binned_rows import BinnedRows
from shiftscope.kernels.box_growth import BOX_BINS, cumulative_bits, grow_labellings
from shiftscope.kernels.deviance import xlogx
from shiftscope.kernels.window_counts import MAX_BINS
from shiftscope.labellings.labellings import unpack_labels
from shiftscope.subspaces.families import Family
from shiftscope.subspaces.windows import Seeds

GROWTH_ROWS = 1 << 20  # boxes are grown on as many rows at most, drawn at random from larger pools
_CODES_PER_BIN = MAX_BINS // BOX_BINS


def grow_boxes(rows: BinnedRows, seeds: Seeds, beam: int, max_features: int, rng: np.random.Generator) -> list[Family]:
    """One localised family per size, from one feature more than the seeds have up to `max_features`."""
    labellings, size = rows.labellings, seeds.sets.shape[2]
    largest = min(max_features, rows.tables.n_features)
    if largest <= size or seeds.sets.shape[1] == 0 or beam == 0:
        return []
    fine, packed, counted = _chosen(rows, rng)
    codes = np.ascontiguousarray(fine.T // np.uint8(_CODES_PER_BIN))
    table = labellings.xlogx if len(codes) == labellings.n_rows else xlogx(len(codes))
    evidence, features, boxes = grow_labellings(
        codes, cumulative_bits(codes), packed, seeds.sets, seeds.boxes // _CODES_PER_BIN, seeds.counts,
        beam, counted, largest, table,
    )  # fmt: skip
    return [
        _family(
            evidence[:, :, step],
            features[0, :, : size + step + 1],
            boxes[0, :, step, : size + step + 1],
            seeds.evidence,
        )
        for step in range(largest - size)
    ]


def _chosen(
    rows: BinnedRows, rng: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.uint64], NDArray[np.int64]]:
    """Codes and labels of the rows on which boxes grow, and how many of them each labelling counts.

    The choice is blind to labels, so the labellings remain exchangeable.
    """
    labellings = rows.labellings
    if labellings.n_rows <= GROWTH_ROWS:
        return *rows.take(None), np.full(labellings.n_labellings, labellings.counted)
    codes, packed = rows.take(np.sort(rng.choice(labellings.n_rows, GROWTH_ROWS, replace=False)))
    counted = np.zeros(labellings.n_labellings, np.int64)
    for at in range(0, GROWTH_ROWS, MAX_BINS):
        counted += unpack_labels(packed[:, at : at + MAX_BINS], labellings.n_labellings).sum(axis=0, dtype=np.int64)
    return codes, packed, counted


def _family(
    evidence: NDArray[np.float64],
    features: NDArray[np.int64],
    boxes: NDArray[np.int64],
    ungrown: NDArray[np.float64],
) -> Family:
    """The boxes of one size; seeds that lead to the same features are one set, with its best box.

    Where windows are coarse, few labellings have a seed small enough to grow. The others stand at their best seed:
    were they nothing, whatever grows would stand out, and chance would reach as far as any shift.
    """
    grown, largest = np.flatnonzero(evidence[0] > 0), evidence.max(axis=1)
    best: dict[tuple[int, ...], int] = {}
    for seed in grown[np.argsort(-evidence[0, grown], kind="stable")]:
        best.setdefault(tuple(sorted(features[seed].tolist())), int(seed))
    chosen = np.array(list(best.values()), dtype=np.intp)
    by_feature = np.argsort(features[chosen], axis=1)
    limits = np.take_along_axis(boxes[chosen], by_feature[:, :, None], axis=1) * _CODES_PER_BIN
    limits[..., 1] += _CODES_PER_BIN - 1
    return Family(
        "localised",
        np.take_along_axis(features[chosen], by_feature, axis=1),
        evidence[0, chosen],
        np.where(largest > 0, largest, ungrown),
        limits,
    )
