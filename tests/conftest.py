from __future__ import annotations

import numba
import pytest
from hypothesis import settings

# No deadline: the first example of a test may compile kernels. The same examples every time: a failure is a fault.
settings.register_profile("shiftscope", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("shiftscope")


@pytest.fixture
def threads():
    """Set the number of Numba threads; the former number is restored afterwards."""
    before = numba.get_num_threads()
    yield numba.set_num_threads
    numba.set_num_threads(before)
