"""Corruptions change what they say and nothing else; gaps are filled by interpolation."""

import math

import numpy as np
import pytest
from helpers.refusals import assert_refused
from scipy import stats

from hilbertlearn import datasets

rng = np.random.default_rng(5)
Y = rng.normal(size=(100, 40))
GAPS = Y.copy()
GAPS[rng.random(Y.shape) < 0.3] = np.nan


def assert_uniform(values, low, high):
    assert low <= values.min() and values.max() <= high
    assert stats.kstest(values, "uniform", (low, high - low)).pvalue > 1e-3


def gaussian_covariance(grid, width):
    return np.array([[math.exp(-((s - t) ** 2) / (2 * width**2)) for t in grid] for s in grid])


def test_type_1_is_a_cycle_of_negated_curves():
    corrupted, changed = datasets.corrupt_labels(Y, 0.29, random_state=0)
    assert changed.sum() == 29  # although 0.29 * 100 < 29 in floating point
    np.testing.assert_array_equal(corrupted[~changed], Y[~changed])
    source = {int(i): int(np.flatnonzero((corrupted[i] == -Y).all(axis=1))[0]) for i in np.flatnonzero(changed)}
    cycle = [next(iter(source))]
    while source[cycle[-1]] not in cycle:
        cycle.append(source[cycle[-1]])
    assert len(cycle) == 29 and source[cycle[-1]] == cycle[0]


def test_type_1_moves_gaps_and_leaves_its_argument():
    before = GAPS.copy()
    corrupted, changed = datasets.corrupt_labels(GAPS, 0.02, random_state=0)
    np.testing.assert_array_equal(GAPS, before)
    i, j = np.flatnonzero(changed)
    np.testing.assert_array_equal(corrupted[[i, j]], -GAPS[[j, i]])
    alone, changed = datasets.corrupt_labels(Y, 0.01, random_state=0)
    np.testing.assert_array_equal(alone[changed], -Y[changed])


def test_type_2_has_the_law_of_the_outliers():
    r, n, intensity = 2000, 2000, 3.0
    outliers, changed = datasets.corrupt_curves(
        np.zeros((n, 5)), 1.0, intensity=intensity, widths=(0.4,) * r, random_state=0
    )
    assert changed.all()
    scale = r * intensity**2 / 12
    covariance = gaussian_covariance(np.linspace(0, 1, 5), 0.4)
    np.testing.assert_allclose(outliers.T @ outliers / n / scale, covariance, atol=0.13)
    outliers, _ = datasets.corrupt_curves(np.zeros((3000, 5)), 1.0, intensity=intensity, widths=(0.4,), random_state=0)
    assert_uniform(outliers[:, 0] / np.abs(outliers[:, 0]).max(), -1, 1)


def test_type_2_adds_or_replaces():
    added, changed = datasets.corrupt_curves(GAPS, 0.25, random_state=1)
    replaced, same = datasets.corrupt_curves(GAPS, 0.25, mode="replace", random_state=1)
    assert changed.sum() == 25
    np.testing.assert_array_equal(changed, same)
    np.testing.assert_allclose(added[changed], GAPS[changed] + replaced[changed])  # NaN where GAPS has
    for corrupted in (added, replaced):
        np.testing.assert_array_equal(corrupted[~changed], GAPS[~changed])
        np.testing.assert_array_equal(np.isnan(corrupted), np.isnan(GAPS))
    outliers, _ = datasets.corrupt_curves(Y, 0.25, mode="replace", random_state=1)
    assert np.linalg.matrix_rank(outliers[changed]) == 4  # four functions that all outliers share


@pytest.mark.parametrize("values", [Y, GAPS, GAPS.reshape(100, 20, 2)], ids=["full", "gaps", "several"])
def test_type_3_replaces_points(values):
    corrupted, changed = datasets.corrupt_points(values, 0.5, points_fraction=0.3, random_state=0)
    assert changed.shape == values.shape and not np.isnan(values[changed]).any()
    np.testing.assert_array_equal(corrupted[~changed], values[~changed])
    assert (corrupted[changed] != values[changed]).all()
    per_curve = changed.reshape(100, -1).sum(axis=1)
    observed = (~np.isnan(values)).reshape(100, -1).sum(axis=1)
    hit = per_curve > 0
    assert hit.sum() == 50
    np.testing.assert_array_equal(per_curve[hit], np.floor(0.3 * observed[hit] + 1e-9))
    bound = np.nanmax(np.abs(values))
    assert_uniform(corrupted[changed], -bound, bound)


def test_dropped_points_are_a_share_of_each_curve():
    dropped_often = np.zeros(40)
    for seed in range(30):
        sparse, dropped = datasets.drop_points(Y, 0.9, random_state=seed)
        assert (dropped.sum(axis=1) == 36).all()
        np.testing.assert_array_equal(np.isnan(sparse), dropped)
        np.testing.assert_array_equal(sparse[~dropped], Y[~dropped])
        dropped_often += dropped.sum(axis=0)
    assert np.abs(dropped_often / 3000 - 0.9).max() < 4 * math.sqrt(0.09 / 3000)
    sparse, dropped = datasets.drop_points(GAPS, 0.5, random_state=0)
    np.testing.assert_array_equal(dropped.sum(axis=1), (~np.isnan(GAPS)).sum(axis=1) // 2)
    np.testing.assert_array_equal(np.isnan(sparse), np.isnan(GAPS) | dropped)


@pytest.mark.parametrize(
    "corrupt", [datasets.corrupt_labels, datasets.corrupt_curves, datasets.corrupt_points, datasets.drop_points]
)
def test_corruptions_share_an_interface(corrupt):
    same = [corrupt(Y, 0.4, random_state=7) for _ in range(2)]
    np.testing.assert_array_equal(*(values for values, _ in same))
    values, changed = corrupt(Y, 0, random_state=0)
    np.testing.assert_array_equal(values, Y)
    assert not changed.any()
    assert_refused(lambda: corrupt(Y, 1.5), ["fraction", "between 0 and 1", "1.5"])
    assert_refused(lambda: corrupt(Y, "half"), ["fraction", "'half'"])


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda: datasets.make_gaussian_process_curves(5, widths_in=(1,)), ["widths_in", "widths_out", "1 and 4"]),
        (lambda: datasets.make_gaussian_process_curves(5, widths_in=(1, 2, 3, 0)), ["widths_in", "> 0", "0"]),
        (lambda: datasets.make_gaussian_process_curves(0), ["n_samples", "0"]),
        (lambda: datasets.make_gaussian_process_curves(5, n_points_out=2.5), ["n_points_out", "2.5"]),
        (lambda: datasets.make_frequency_curves(5, n_frequencies=11), ["n_frequencies", "11", "10"]),
        (lambda: datasets.make_frequency_curves(5, width=0), ["width", "> 0"]),
        (lambda: datasets.corrupt_curves(Y, 0.1, mode="swap"), ["mode", "'swap'", "'add'", "'replace'"]),
        (lambda: datasets.corrupt_curves(Y[:, :, None], 0.1), ["Y", "(n, m)", "(100, 40, 1)"]),
        (lambda: datasets.corrupt_points(Y, 0.1, points_fraction=2), ["points_fraction", "2"]),
    ],
)
def test_bad_settings(action, words):
    assert_refused(action, words)


def test_fill_gaps():
    grid = np.sort(rng.random(40))
    filled = datasets.fill_gaps(GAPS, grid)
    for row, curve in zip(filled, GAPS):
        seen = ~np.isnan(curve)
        np.testing.assert_allclose(row, np.interp(grid, grid[seen], curve[seen]))
    np.testing.assert_allclose(datasets.fill_gaps([[np.nan, 1, np.nan, np.nan, 4]]), [[1, 1, 2, 3, 4]])
    assert_refused(lambda: datasets.fill_gaps(np.full((2, 3), np.nan)), ["Y", "row 0", "leave"])
    assert_refused(lambda: datasets.fill_gaps(GAPS, grid[:-1]), ["grid", "40", "39"])
