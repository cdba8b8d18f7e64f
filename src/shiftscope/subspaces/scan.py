"""The subspace scan: which small feature sets show that two samples differ?

The neighbourhoods of the full space are blind to a shift in few of many features. The scan counts both samples in
the cells of small feature sets instead: all single features, all pairs up to `ScanParams.max_pairs` and all triples up
to `ScanParams.max_triples` features, and boxes grown from the best of them. Every number searched over is searched
over again under random labellings of the labels, so the p-values are exact after all the searching.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from math import ceil, comb

import numpy as np
from numpy.typing import NDArray

from shiftscope.encoding.bins import BinTables, bin_features
from shiftscope.engines.binned_rows import BinnedRows, LocalRows
from shiftscope.errors import given
from shiftscope.kernels.deviance import half_deviance
from shiftscope.kernels.labels import PACK
from shiftscope.kernels.window_counts import MAX_BINS, MAX_SIZE
from shiftscope.labellings.labellings import Labellings, draw_labellings, labellings_within
from shiftscope.labellings.p_values import p_values
from shiftscope.machine_memory import check_memory
from shiftscope.params import ScanParams
from shiftscope.progress import Progress, silent
from shiftscope.samples import ChosenColumns, ChosenEngine, Samples, open_samples
from shiftscope.subspaces.all_sets import SETS_AT_ONCE, AllSets, blocks
from shiftscope.subspaces.contrasts import contrast_families
from shiftscope.subspaces.families import Family, family_wise
from shiftscope.subspaces.growth import grow_boxes
from shiftscope.subspaces.paired import paired_features
from shiftscope.subspaces.scan_memory import scan_bytes
from shiftscope.subspaces.scan_result import FeatureSet, ScanResult
from shiftscope.subspaces.windows import scan_windows

_BROAD_BINS = 4  # per feature: the strongest cell of this grid stands for a broad shift
_FEWER_PAIRS = 4  # of the seeds are tried when they are pairs
_LEAST_LABELLINGS, _MOST_LABELLINGS = 256, 1024  # of the automatic number, the observed one included
_AUTOMATIC_WORK = 1.2e10  # rows x sets x labellings that the automatic number of labellings aims at


def scan(
    reference: object,
    current: object,
    params: ScanParams | None = None,
    *,
    columns: ChosenColumns = None,
    random_state: int = 0,
    engine: ChosenEngine = None,
    progress: Progress | None = None,
) -> ScanResult:
    """Scan two samples for the small feature sets in which they differ.

    Parameters
    ----------
    reference, current : array, data frame or path
    params : ScanParams, optional
    columns : Columns or sequence of str, optional
        Which columns take part, and as what.
    random_state : int
    engine : Engine or str, optional
        As for `compare`. All rows are counted, and the rows of the sets are positions in the samples.
    progress : callable(stage, fraction), optional
    """
    params = given(params, ScanParams)
    with open_samples(
        reference, current, columns=columns, engine=engine, random_state=random_state, progress=progress
    ) as samples:
        return samples.turned(scan_pool(samples, params).in_units_of(samples.encoded))


def scan_pool(samples: Samples, params: ScanParams) -> ScanResult:
    """Scan all rows of both samples, wherever they are."""
    pool, names, rng = samples.pool, samples.encoded.names, np.random.default_rng(samples.random_state)
    whole = pool.gathered or pool.encoded
    n = whole.n_reference + whole.n_current
    check_memory(scan_memory(n, len(names), params), n, len(names))
    blocks = scan_labellings(n, len(names), whole.n_reference, params, rng)
    return scan_rows(pool.binned(), blocks, names, params, rng=rng, progress=samples.progress)


def scan_points(
    points: NDArray[np.float64],
    n_reference: int,
    names: tuple[str, ...],
    params: ScanParams | None = None,
    *,
    categories: NDArray[np.bool_] | None = None,
    fixed: int = 0,
    strata: NDArray[np.intp] | None = None,
    random_state: int = 0,
    progress: Progress = silent,
) -> ScanResult:
    """Scan pooled rows for the small feature sets in which the two samples differ.

    Parameters
    ----------
    points : (n, d) float64
        Pooled rows, the reference first; only the order of the values along each feature matters. Missing is -inf.
    n_reference : int
    names : tuple of d str
    categories : (d,) bool, optional
        Columns that hold levels: each value has a bin of its own.
    fixed : int
        Leading rows whose label no labelling touches: the hypothesis is then that the current rows are a random
        choice of the rows behind them.
    strata : (n,) intp, optional
        Labellings move labels within strata only: the hypothesis is then that the samples do not differ within them.
    """
    bins = bin_features(points, categories)
    rng, params = np.random.default_rng(random_state), given(params, ScanParams)
    blocks = scan_labellings(bins.n_rows, bins.n_features, n_reference, params, rng, fixed, strata)
    return scan_rows(
        lambda labellings: LocalRows.of(bins, labellings), blocks, names, params, rng=rng, progress=progress
    )


def scan_rows(
    labelled: Callable[[Labellings], BinnedRows],
    blocks: list[Labellings],
    names: tuple[str, ...],
    params: ScanParams,
    *,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> ScanResult:
    """Scan binned rows, wherever they are, for the small feature sets in which the two samples differ.

    Parameters
    ----------
    labelled : callable
        The rows with the labels of some labellings.
    blocks : list of Labellings
        As many labellings each as memory should hold, led by the observed one.
    """
    rows = labelled(blocks[0])
    paired = paired_features(rows, map(labelled, blocks[1:]), params)
    families = list(_families(rows, paired, params, deepcopy(rng), _part_of(progress, 0, len(blocks))))
    for block, labellings in enumerate(blocks[1:], start=1):  # up to rounding, blocks change nothing
        part = _families(labelled(labellings), paired, params, deepcopy(rng), _part_of(progress, block, len(blocks)))
        families = [
            replace(known, maxima=np.concatenate([known.maxima, more.maxima[1:]]))
            for known, more in zip(families, part, strict=True)
        ]
    null = family_wise(families)
    localised, broad = (
        family_wise([family for family in families if family.statistic == kind])[1:] for kind in ("localised", "broad")
    )
    alone = [family for family in families if family.size == 1]
    return ScanResult(
        sets=tuple(_feature_sets(families, null[1:], rows, names, params.max_sets)),
        p_value=float(p_values(null[:1], null[1:])[0]),
        localised_null=localised,
        broad_null=broad,
        n_permutations=len(null) - 1,
        pairs=_pair_map(families, paired, rows.tables.n_features),
        columns=np.max([family.standardised(family.observed) for family in alone], axis=0),
        columns_null=family_wise(alone)[1:],
        paired=None if len(paired) == rows.tables.n_features else paired,
    )


def scan_labellings(
    n: int,
    d: int,
    n_reference: int,
    params: ScanParams,
    rng: np.random.Generator,
    fixed: int = 0,
    strata: NDArray[np.intp] | None = None,
) -> list[Labellings]:
    """The labellings behind a scan of `n` rows and `d` features, in blocks."""
    seeds = rng.integers(0, 2**64, size=n_scan_labellings(n, d, params), dtype=np.uint64)
    step = _MOST_LABELLINGS - 1
    parts = [seeds[at : at + step] for at in range(0, len(seeds), step)]
    if strata is not None:
        return [labellings_within(strata, n_reference, part) for part in parts]
    return [draw_labellings(n, n_reference, part, fixed) for part in parts]


def scan_memory(n: int, d: int, params: ScanParams) -> int:
    """Bytes that a scan of `n` rows and `d` features takes at most."""
    n_labellings = min(n_scan_labellings(n, d, params) + 1, _MOST_LABELLINGS)
    return scan_bytes(n, d, _sizes(d, params), n_labellings, params)


def n_scan_labellings(n: int, d: int, params: ScanParams) -> int:
    """Random labellings of a scan of `n` rows and `d` features."""
    if params.n_permutations is not None:
        return params.n_permutations
    work = n * sum(comb(d if size == 1 else min(d, params.max_pairs), size) for size in _sizes(d, params))
    affordable = int(np.clip(_AUTOMATIC_WORK / work, _LEAST_LABELLINGS, _MOST_LABELLINGS))
    return max(affordable // PACK, ceil(1.0 / params.level / PACK)) * PACK - 1


def _part_of(progress: Progress, block: int, n_blocks: int) -> Progress:
    return lambda stage, fraction: progress(stage, (block + fraction) / n_blocks)


def _sizes(d: int, params: ScanParams) -> range:
    """Set sizes that are counted exhaustively."""
    triples = d <= min(params.max_triples, params.max_pairs)
    return range(1, min(d, MAX_SIZE if triples else 2, params.max_features) + 1)


def _families(
    rows: BinnedRows, paired: NDArray[np.int64], params: ScanParams, rng: np.random.Generator, progress: Progress
) -> Iterator[Family]:
    """All families of the scan, each with its maximum under every labelling."""
    d = rows.tables.n_features
    sets = [AllSets(np.arange(d) if size == 1 else paired, size) for size in _sizes(d, params)]
    sets = [line for line in sets if len(line)]
    steps = len(sets) + 2

    def told(step: int) -> Callable[[float], None]:
        return lambda fraction: progress("scan", (step + fraction) / steps)

    progress("scan", 0.0)
    for step, line in enumerate(sets):
        n_seeds = _n_seeds(line, params) if step + 1 == len(sets) else 0
        counted = scan_windows(rows, line, n_seeds, params.rows_per_cell, told(step))
        yield counted.localised
        yield counted.pooled
    yield from contrast_families(rows, sets, rng, told(steps - 2))
    yield from grow_boxes(rows, counted.seeds, params.beam, params.max_features, rng)
    progress("scan", 1.0)


def _n_seeds(sets: AllSets, params: ScanParams) -> int:
    """Pairs are the seeds of wide data, where trying one feature more is dear: fewer of them."""
    return params.n_seeds if sets.size == MAX_SIZE else params.n_seeds // _FEWER_PAIRS


def _feature_sets(
    families: list[Family],
    null: NDArray[np.float64],
    rows: BinnedRows,
    names: tuple[str, ...],
    max_sets: int,
) -> Iterator[FeatureSet]:
    """The strongest sets of all families; of one feature set only its best statistic."""
    labellings, tables, n_reference = rows.labellings, rows.tables, rows.labellings.n_reference
    seen: set[tuple[int, ...]] = set()
    for p_value, value, family, s in _ranking(families, null, max_sets):
        features = tuple(family.sets[s].tolist())
        if features in seen:
            continue
        seen.add(features)
        box = family.boxes[s] if family.boxes is not None else _strongest_cell(rows, features)
        held = rows.inside(features, box)
        hits = int(np.sum((held >= n_reference) == labellings.current_counted))
        counted_excess = hits * labellings.n_rows > len(held) * labellings.counted
        yield FeatureSet(
            features=features,
            names=tuple(names[feature] for feature in features),
            statistic=family.statistic,
            side="current" if counted_excess == labellings.current_counted else "reference",
            value=value,
            evidence=float(
                half_deviance(hits, len(held), labellings.counted, labellings.xlogx)
                if family.statistic == "localised"
                else family.observed[s]
            ),
            unit=family.unit,
            p_value=p_value,
            box=tuple(tables.interval(feature, *box[axis]) for axis, feature in enumerate(features)),
            rows_reference=held[held < n_reference],
            rows_current=held[held >= n_reference] - n_reference,
            chance=family.chance,
        )
        if len(seen) == max_sets:
            return


def _ranking(
    families: list[Family], null: NDArray[np.float64], most: int
) -> Iterator[tuple[float, float, Family, int]]:
    """p-value, value, family and place of the best sets of each family, by p-value and then by evidence beyond chance.

    A family has a set but once: no more than `most` of its own can be among the `most` best of all.
    """
    places = [np.sort(np.argsort(-_beyond(family), kind="stable")[:most]) for family in families]
    values = [family.standardised(family.observed[at]) for family, at in zip(families, places, strict=True)]
    beyond = np.concatenate([_beyond(family)[at] for family, at in zip(families, places, strict=True)])
    p_value = p_values(np.concatenate(values), null)
    owner = np.repeat(np.arange(len(families)), [len(line) for line in values])
    place = np.concatenate(places)
    value = np.concatenate(values)
    for at in np.lexsort((-beyond, p_value)):
        yield float(p_value[at]), float(value[at]), families[owner[at]], int(place[at])


def _beyond(family: Family) -> NDArray[np.float64]:
    return family.observed - family.chance


def _strongest_cell(rows: BinnedRows, features: tuple[int, ...]) -> NDArray[np.int64]:
    """Codes of the cell whose labels deviate most: (size, 2).

    Cells are quarters of a number's range, and each level and each missing value has cells of its own.
    """
    labellings, limits = rows.labellings, [_cells(rows.tables, feature) for feature in features]
    cells, n, k = rows.cells(features, limits)
    deviances = [
        half_deviance(hits, held, labellings.counted, labellings.xlogx) for hits, held in zip(k, n, strict=True)
    ]
    at = np.unravel_index(cells[int(np.argmax(deviances))], tuple(len(low) for low in limits))
    bounds = (np.append(low, MAX_BINS) for low in limits)
    return np.array([(limit[i], limit[i + 1] - 1) for limit, i in zip(bounds, at, strict=True)], dtype=np.int64)


def _cells(tables: BinTables, feature: int) -> NDArray[np.int64]:
    """First code of each cell along a feature, increasing."""
    if tables.categories[feature]:
        return np.arange(MAX_BINS)
    quarters = np.arange(0, MAX_BINS, MAX_BINS // _BROAD_BINS)
    return np.union1d(quarters, [1]) if np.isneginf(tables.smallest[feature, 0]) else quarters


def _pair_map(families: list[Family], paired: NDArray[np.int64], d: int) -> NDArray[np.float64]:
    """Largest value of each pair of the `paired` features, symmetric; of each single feature on the diagonal."""
    place = np.full(d, -1)
    place[paired] = np.arange(len(paired))
    best = np.full((len(paired), len(paired)), -np.inf)
    for family in (family for family in families if family.size <= 2):
        for part in blocks(len(family.sets), SETS_AT_ONCE):
            at = place[family.sets[part]]
            shown = (at >= 0).all(axis=1)
            rows, columns = at[shown, 0], at[shown, -1]
            values = family.standardised(family.observed[part])[shown]
            best[rows, columns] = np.maximum(best[rows, columns], values)
    return np.asarray(np.maximum(best, best.T))
