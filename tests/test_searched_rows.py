from __future__ import annotations

import numpy as np
import pytest

import shiftscope as ss
from shiftscope.full_space.equalise import equalise_graph
from shiftscope.full_space.score import score_others
from shiftscope.full_space.shrinking_graph import ShrinkingGraph
from shiftscope.params import EqualiseParams, ScanParams
from shiftscope.searched_rows import SearchedRows, draw_searched_rows
from tests.pairs import job_of

QUICK = {
    "n_permutations": 199,
    "scan": ScanParams(n_permutations=199, max_features=3),
    "equalise": EqualiseParams(k_max=60, n_permutations=99),
}


def injected(seed: int, n: int = 3000, extra: int = 240, d: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    reference, current = rng.standard_normal((n, d)), rng.standard_normal((n, d))
    current[:extra, :3] = 1.0 + 0.15 * rng.standard_normal((extra, 3))
    return reference, current


def test_small_pools_are_searched_as_a_whole() -> None:
    searched = draw_searched_rows(30, 70, 100, 0)
    assert searched.whole
    assert searched.others.size == 0


@pytest.mark.parametrize(("n_reference", "n_current", "reference"), [(500, 500, 100), (900, 40, 160), (30, 900, 30)])
def test_large_pools_give_as_many_rows_of_both_samples_as_they_have(
    n_reference: int, n_current: int, reference: int
) -> None:
    searched = draw_searched_rows(n_reference, n_current, 200, 5)
    assert searched.rows.size == 200
    assert len(np.unique(searched.rows)) == 200
    assert np.sum(searched.rows < n_reference) == reference
    np.testing.assert_array_equal(np.sort(np.append(searched.rows, searched.others)), np.arange(searched.n_rows))
    np.testing.assert_array_equal(draw_searched_rows(n_reference, n_current, 200, 5).rows, searched.rows)
    assert draw_searched_rows(n_reference, n_current, 200, 6).rows.tolist() != searched.rows.tolist()
    np.testing.assert_array_equal(searched.order[:200], searched.rows)


def test_the_searched_rows_of_a_part_are_those_it_has_of_them() -> None:
    part = SearchedRows(np.array([1, 4, 6]), 8).within(np.array([0, 1, 5, 6, 7]))
    assert part.rows.tolist() == [1, 3]
    assert part.order.tolist() == [1, 3, 0, 2, 4]


def test_equalisation_that_looks_at_some_rows_prunes_all() -> None:
    reference, current = injected(4)
    points, is_current = np.vstack([reference, current]), np.arange(6000) >= 3000
    order = draw_searched_rows(3000, 3000, 1500, 2).order
    graph = ShrinkingGraph(points[order], is_current[order], 60, rows=np.arange(1500), own_position=order % 3000)
    done = equalise_graph(graph, QUICK["equalise"])
    assert done.converged
    assert np.mean(done.removed_current < 240) > 0.7
    assert np.isin(np.arange(240), done.removed_current).mean() > 0.6
    kept = np.sort(np.append(done.kept_current, done.removed_current))
    np.testing.assert_array_equal(kept, np.arange(3000))


def test_rows_outside_are_scored_by_searched_rows_mixed_like_the_pool() -> None:
    rng = np.random.default_rng(1)
    table = rng.integers(0, 9, (700, 2)).astype(float)
    params = ss.CompareParams(full_space_rows=200, equalise=EqualiseParams(k_max=25))
    job = job_of(table[:500], table[500:], params)
    points, is_current, searched = job.points, job.is_current, job.searched
    inside = ShrinkingGraph(points[searched.order], is_current[searched.order], 25, rows=np.arange(200)).full_scores()
    scores = score_others(job, inside)
    seen = searched.mixed_like_the_pool(is_current, np.random.default_rng([0, 200, 700]))
    assert np.isin(seen, searched.rows).all()
    assert np.mean(is_current[seen]) == pytest.approx(2 / 7, abs=0.004)  # as in the pool, not 1 / 2 as searched
    tables = scores.nulls.tables
    for row in searched.others[::7]:
        squares = np.sum((points[seen] - points[row]) ** 2, axis=1)
        best = 0.0
        for radius in np.unique(squares):
            near = squares <= radius
            if near.sum() <= 25:
                same = int(np.sum(is_current[seen][near] == is_current[row]))
                best = max(best, tables[int(is_current[row]), int(near.sum()), same])
        found = scores.current[row - 500] if is_current[row] else scores.reference[row]
        assert found == best
    everyone = np.append(scores.reference, scores.current)
    own = is_current[searched.rows]
    np.testing.assert_array_equal(everyone[searched.rows[own]], inside.current)
    np.testing.assert_array_equal(everyone[searched.rows[~own]], inside.reference)


@pytest.mark.parametrize(("n_reference", "n_current"), [(6000, 3000), (2500, 6500), (4500, 4500), (8000, 400)])
def test_one_null_holds_for_all_rows_in_and_out_of_the_search(n_reference: int, n_current: int) -> None:
    """As a user calls it, without any shift: as many rows of either sample reach a threshold as its null says."""
    rng = np.random.default_rng(5)
    reference, current = rng.standard_normal((n_reference, 3)), rng.standard_normal((n_current, 3))
    params = ss.CompareParams(full_space_rows=1500, scan=None, n_permutations=99, equalise=EqualiseParams(k_max=100))
    scores = ss.compare(reference, current, params=params).scores
    for values, null in ((scores.reference, scores.nulls.reference), (scores.current, scores.nulls.current)):
        # Rows share neighbours, so these shares spread: over 16 draws from 0.43 to 0.56, and from 0.06 to 0.21.
        assert np.mean(values >= null.threshold(0.5)) == pytest.approx(0.5, abs=0.12)
        assert 0.03 < np.mean(values >= null.threshold(0.1)) < 0.3
        assert np.sum(values >= null.threshold(1e-5)) <= 1


def test_a_search_of_fewer_rows_than_a_neighbourhood_has_still_scores_all() -> None:
    rng = np.random.default_rng(2)
    params = ss.CompareParams(full_space_rows=150, scan=None)  # k_max = 400
    scores = ss.compare(*rng.standard_normal((2, 400, 2)), params=params).scores
    assert np.isfinite(scores.current).all()
    assert scores.current.max() > 0


def test_a_large_pool_is_compared_on_a_part_and_answers_for_all_rows() -> None:
    reference, current = injected(0)
    result = ss.compare(reference, current, params=ss.CompareParams(full_space_rows=2000, **QUICK))
    assert result.detected
    assert (result.searched_reference, result.searched_current) == (1000, 1000)
    assert len(result.notes) == 1
    for part in ("1,000 reference", "1,000 current", "full_space_rows = 2,000", "4,000 rows"):
        assert part in result.notes[0]
        assert part in " ".join(str(result).split())
    assert set(result.modes[0].features) == {"x0", "x1", "x2"}
    assert np.mean(result.modes[0].rows < 240) > 0.8
    assert result.scores.current.shape == (3000,)
    assert result.scores.current[:240].mean() > 4 * result.scores.current[240:].mean()
    assert result.kept_reference.size > 2800
    assert np.mean(result.kept_current < 240) < 0.03
    back = ss.compare(current, reference, params=ss.CompareParams(full_space_rows=2000, **QUICK))
    assert back.p_value == result.p_value
    np.testing.assert_array_equal(back.kept_reference, result.kept_current)


def test_what_the_full_space_prunes_lies_outside_of_the_searched_rows_too() -> None:
    reference, current = injected(3, extra=450)
    localise = ss.LocaliseParams(epochs=100)  # the same rows are kept as after 1,000
    params = ss.CompareParams(full_space_rows=1500, localise=localise, **{**QUICK, "scan": None, "max_modes": 1})
    result = ss.compare(reference, current, params=params)
    assert result.detected
    kept = np.isin(np.arange(450), result.kept_current).mean()
    assert kept < 0.3
    assert result.kept_current.size > 2300


def test_the_part_is_called_different_as_often_as_allowed() -> None:
    rng = np.random.default_rng(8)
    params = ss.CompareParams(
        alpha=0.1, full_space_rows=200, n_permutations=39, scan=None, equalise=EqualiseParams(k_max=20)
    )
    p = [ss.compare(*rng.standard_normal((2, 300, 3)), params=params, random_state=seed).p_value for seed in range(60)]
    assert np.sum(np.array(p) <= 0.1) <= 14  # binomial(60, 0.1): 14 or fewer with probability 0.9993
    assert np.sum(np.array(p) <= 0.5) >= 16
