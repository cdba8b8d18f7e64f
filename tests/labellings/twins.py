"""Slow, obvious twins of p-values."""

from __future__ import annotations

from statistics import fmean, pstdev


def slow_smallest_p_value(observed, permuted):
    """Rank every labelling by its smallest upper rank, then by its largest standardised statistic; count."""
    together = [list(map(float, one)) for one in (observed, *permuted)]
    columns = list(zip(*together, strict=True))
    ranks = [min(sum(v >= one[s] for v in columns[s]) for s in range(len(columns))) for one in together]
    spreads = [pstdev(column) for column in columns]
    largest = [max((one[s] - fmean(columns[s])) / (spreads[s] or 1.0) for s in range(len(columns))) for one in together]
    extreme = [
        rank < ranks[0] or (rank == ranks[0] and (high >= largest[0] - 1e-12))
        for rank, high in zip(ranks, largest, strict=True)
    ]
    return sum(extreme) / len(together)
