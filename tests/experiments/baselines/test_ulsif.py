from __future__ import annotations

import numpy as np
import pytest

from experiments.baselines import ulsif


def slow_ratio(current, reference, centres, width, ridge):
    """The estimator from its definition, one entry after the other."""
    b = len(centres)

    def phi(x):
        return [np.exp(-sum((x - c) ** 2) / (2 * width**2)) for c in centres]

    values = [phi(x) for x in reference]
    second = [[np.mean([v[i] * v[j] for v in values]) for j in range(b)] for i in range(b)]
    first = np.mean([phi(x) for x in current], axis=0)
    solution = np.linalg.solve(np.array(second) + ridge * np.eye(b), first)
    return np.where(solution > 0, solution, 0.0), np.array(second), first


def test_ulsif_against_its_definition():
    rng = np.random.default_rng(0)
    reference, current = rng.standard_normal((30, 2)), rng.standard_normal((25, 2)) + 0.5
    centres, width, ridge = current[:6], 0.8, 0.01
    expected, second, first = slow_ratio(current, reference, centres, width, ridge)
    assert np.allclose(ulsif.mean_product(reference, centres, width), second)
    assert np.allclose(ulsif.mean_kernel(current, centres, width), first)
    assert np.allclose(ulsif.solve(second, first, ridge), expected)
    model = ulsif.Ratio(centres, expected, width, ridge)
    row = reference[3]
    by_hand = sum(a * np.exp(-sum((row - c) ** 2) / (2 * width**2)) for a, c in zip(expected, centres, strict=True))
    assert model(reference)[3] == pytest.approx(by_hand)


def test_ulsif_folds_against_their_definition():
    rng = np.random.default_rng(1)
    parts = [(rng.standard_normal((20, 2)), rng.standard_normal((20, 2)) + 1) for _ in range(ulsif.FOLDS)]
    centres, width = parts[0][1][:4], 1.0
    second = np.array([ulsif.mean_product(reference, centres, width) for reference, _ in parts])
    first = np.array([ulsif.mean_kernel(current, centres, width) for _, current in parts])
    expected = []
    for ridge in ulsif.RIDGES:
        errors = []
        for held in range(ulsif.FOLDS):
            others = [part for number, part in enumerate(parts) if number != held]
            train = [np.vstack(side) for side in zip(*others, strict=True)]
            a, _, _ = slow_ratio(train[1], train[0], centres, width, ridge)
            r = [ulsif.kernel(side, centres, width) @ a for side in parts[held]]
            errors.append(np.mean(r[0] ** 2) / 2 - np.mean(r[1]))
        expected.append(np.mean(errors))
    assert np.allclose(ulsif.held_out_errors(second, first), expected)


def test_ulsif_finds_a_known_ratio():
    rng = np.random.default_rng(0)
    reference, current = rng.standard_normal((3000, 1)), 0.5 + 0.5 * rng.standard_normal((3000, 1))
    rows, label = np.vstack([reference, current]), np.arange(6000) >= 3000
    model = ulsif.fit_ratio(rows, label, seed=0, n_centres=50)
    grid = np.linspace(-1.5, 2.0, 60)[:, None]
    truth = 2.0 * np.exp(-2.0 * (grid[:, 0] - 0.5) ** 2 + grid[:, 0] ** 2 / 2)
    assert np.abs(model(grid) - truth).max() < 0.2 * truth.max()
