from __future__ import annotations

import numpy as np

from shiftscope.subspaces.families import Family, family_wise


def test_families_are_compared_on_the_scale_of_their_own_maxima() -> None:
    rng = np.random.default_rng(4)
    sets = np.array([[0]])
    plain = Family("localised", sets, np.zeros(1), rng.gumbel(0, 1, 4001), None)
    far_and_wide = Family("broad", sets, np.zeros(1), 100 + 7 * plain.maxima, None)
    np.testing.assert_allclose(
        far_and_wide.standardised(far_and_wide.maxima), plain.standardised(plain.maxima), atol=0.1
    )
    larger = np.maximum(*(family.standardised(family.maxima) for family in (plain, far_and_wide)))
    np.testing.assert_array_equal(family_wise([plain, far_and_wide]), larger)
