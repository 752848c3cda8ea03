"""Losses on labels, strings and objects against double loops over their definitions."""

import numpy as np
import pytest
from helpers.loss_matrices import assert_pairs, by_pairs
from helpers.refusals import assert_refused
from numpy.testing import assert_array_equal
from sklearn.metrics.pairwise import polynomial_kernel

from hilbertlearn import kernels
from hilbertlearn.output_losses import (
    Edit,
    KernelLoss,
    ZeroOne,
    as_output_loss,
)

rng = np.random.default_rng(5)
NAN = np.nan


# ------------------------------------------------------------------ labels and objects


@pytest.mark.parametrize(
    "outputs",
    [
        np.array([0.0, 1, 2, 1, -0.0]),
        ["a", "b", "a", "cc"],
        np.array([[0.0, 1], [1, 0], [0, 1]]),
        [{1, 2}, {2, 1}, set(), {3}],
        [(1, "a"), (1, "b"), (1, "a")],
    ],
    ids=["labels", "strings", "rows", "sets", "tuples"],
)
def test_zero_one_is_whether_outputs_differ(outputs):
    assert_pairs(ZeroOne(), lambda z, y: not np.all(np.array(z == y)), outputs, outputs[::-1])


def squared_feature_distance(kernel):
    return lambda z, y: kernel(z, z) - 2 * kernel(z, y) + kernel(y, y)


def test_kernel_loss_of_named_kernels():
    Z, Y = rng.normal(size=(5, 3)), rng.normal(size=(150, 3))
    assert_pairs(
        KernelLoss("rbf", gamma=0.3), squared_feature_distance(lambda z, y: np.exp(-0.3 * ((z - y) ** 2).sum())), Z, Y
    )
    assert_pairs(KernelLoss("linear"), lambda z, y: ((z - y) ** 2).sum(), Z, Y)
    assert_pairs(
        KernelLoss("poly", gamma=0.5), squared_feature_distance(lambda z, y: (0.5 * z @ y + 1) ** 3), Z[:, :2], Y[:, :2]
    )


def test_kernel_loss_of_objects_and_callables():
    words = ["abc", "ab", "", "cab", "zz"]
    shared = lambda z, y: 3 * len(set(z) & set(y)) + 1.0  # noqa: E731
    matrix = lambda Z, Y: by_pairs(shared, Z, Y)  # noqa: E731
    for kernel in (kernels.PairwiseKernel(shared), matrix):
        assert_pairs(KernelLoss(kernel), squared_feature_distance(shared), words, words[::-1])
    Z = rng.integers(0, 2, size=(4, 6)).astype(float)
    tanimoto = lambda z, y: z @ y / (z @ z + y @ y - z @ y)  # noqa: E731
    Z[:, 0] = 1
    assert_pairs(KernelLoss(kernels.Tanimoto()), squared_feature_distance(tanimoto), Z, Z)
    assert_pairs(KernelLoss(polynomial_kernel), squared_feature_distance(lambda z, y: (z @ y / 6 + 1) ** 3), Z, Z)


def levenshtein(z, y):
    """By its recursion."""
    if not z or not y:
        return len(z) + len(y)
    replace = levenshtein(z[1:], y[1:]) + (z[0] != y[0])
    return min(replace, levenshtein(z[1:], y) + 1, levenshtein(z, y[1:]) + 1)


def test_edit_distance():
    words = ["".join(rng.choice(list("abc"), size=size)) for size in (0, 1, 2, 3, 4, 5, 5, 6)]
    assert_pairs(Edit(), levenshtein, words, words[::-1])
    assert_array_equal(Edit()(["kitten", "naïve", "日本"], ["sitting", "naive", "日本語"]).diagonal(), [3, 1, 1])
    assert_array_equal(Edit()(["abc"], ["", ""]), [[3, 3]])


RATINGS = rng.integers(1, 6, size=(12, 6)).astype(float)
RATINGS[rng.random(RATINGS.shape) < 0.3] = NAN
RATINGS[0], RATINGS[1], RATINGS[2] = 3, [NAN, NAN, 4, NAN, NAN, NAN], [1, 2, 3, 4, 5, 6]


def test_callables_must_return_finite_matrices():
    assert_refused(lambda: as_output_loss(lambda Z, Y: [1.0, 2.0])(["a"], ["b"]), ["output_loss", "(1, 1)", "(2,)"])
    assert_refused(lambda: as_output_loss(lambda Z, Y: [[NAN]])(["a"], ["b"]), ["output_loss", "NaN"])
