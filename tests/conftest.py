from __future__ import annotations

import numba
import pytest
from hypothesis import settings

# No deadline: the first example of a test may compile kernels. The same examples every time: a failure is a fault.
settings.register_profile("shiftscope", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("shiftscope")


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Waking threads costs more than the small tasks of tests; what depends on threads asks for `threads`."""
    numba.set_num_threads(1)


@pytest.fixture
def threads():
    """Set the number of Numba threads for one test."""
    yield numba.set_num_threads
    numba.set_num_threads(1)
