"""Two samples as the stages take them, for tests of single stages."""

from __future__ import annotations

from shiftscope.encoding.encode import encode
from shiftscope.engines.local import LocalEngine, LocalPool
from shiftscope.job import Job
from shiftscope.params import CompareParams
from shiftscope.progress import silent
from shiftscope.tables.table import read_table


def encode_pair(reference, current, columns=None):
    """Both samples encoded, in the order given."""
    return encode(read_table(reference, "reference"), read_table(current, "current"), columns)


def job_of(reference, current, params=None, *, progress=silent, engine=None):
    """A comparison of two samples in the order given."""
    tables = read_table(reference, "reference"), read_table(current, "current")
    pool = LocalPool(encode(*tables), False, tables)
    return Job(pool, engine or LocalEngine(), 0, progress, params or CompareParams())


def job_on(points, is_current, params=None, *, progress=silent):
    """A comparison of pooled rows, which the encoding only standardises; the reference rows must come first."""
    assert (is_current == sorted(is_current)).all()
    return job_of(points[~is_current], points[is_current], params, progress=progress)
