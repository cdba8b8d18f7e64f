from __future__ import annotations

import os

import numba
import pytest
from hypothesis import settings

# No deadline: the first example of a test may compile kernels. The same examples every time: a failure is a fault.
settings.register_profile("shiftscope", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("shiftscope")

COMPLETE = os.environ.get("CI", "").lower() == "true"  # here everything must be there: a skip is a failure


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Waking threads costs more than the small tasks of tests; what depends on threads asks for `threads`."""
    numba.set_num_threads(1)


@pytest.fixture
def threads():
    """Set the number of Numba threads for one test."""
    yield numba.set_num_threads
    numba.set_num_threads(1)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if item.get_closest_marker("outside_data") is None:
        refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    report = yield
    refuse_skip(report)
    return report


def refuse_skip(report):
    """With CI=true nothing may be missing; only data that is not part of the project may."""
    if COMPLETE and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI=true does not allow: {report.longrepr[-1]}"
