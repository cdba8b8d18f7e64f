from __future__ import annotations

import warnings

import pytest

from shiftscope.ignored_warnings import ignored_warning


def test_the_users_filters_stay_whatever_the_order_of_entering_and_leaving() -> None:
    before = list(warnings.filters)
    one, other = ignored_warning("Sending"), ignored_warning("Sending")
    one.__enter__()
    with warnings.catch_warnings():
        other.__enter__()
        one.__exit__(None, None, None)
        warnings.warn("Sending much", stacklevel=1)  # the second block still ignores it
        other.__exit__(None, None, None)
    assert list(warnings.filters) == before
    with pytest.warns(UserWarning, match="Sending"):
        warnings.warn("Sending much", stacklevel=1)


def test_a_filter_that_the_user_has_set_is_left_to_the_user() -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending")
        before = list(warnings.filters)
        with ignored_warning("Sending"):
            pass
        assert list(warnings.filters) == before
