"""Candidate kernels of an estimator, and families of kernels up to a common rate."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from hilbertlearn import kernels
from hilbertlearn.kernels.family import as_kernel_object

rng = np.random.default_rng(0)
X = rng.normal(size=(12, 3))
CURVES = rng.normal(size=(5, 20, 2))
ROWS = ["rbf", "matern32", "matern12", "laplacian", "linear"]


def test_names_of_kernels_of_curves_and_strings_become_objects():
    curves = kernels.kernel_from_name("l2", 0.3)
    assert isinstance(curves, kernels.L2) and curves.gamma == 0.3
    assert isinstance(kernels.kernel_from_name("integrated", "auto"), kernels.IntegratedKernel)
    assert isinstance(kernels.kernel_from_name("ngrams", 0.3), kernels.NGrams)
    assert kernels.kernel_from_name("rbf", 0.3) == "rbf"
    (first, operator), (second, _) = kernels.kernel_from_name([("l2", "identity"), ("rbf", None)], 0.3)
    assert isinstance(first, kernels.L2) and operator == "identity" and second == "rbf"


def test_objects_of_named_kernels():
    assert as_kernel_object("rbf").get_params() == {"name": "rbf", "gamma": "auto"}
    assert isinstance(as_kernel_object("l2"), kernels.L2)
    assert as_kernel_object("linear") == "linear"  # it has no gamma


def test_candidates():
    assert kernels.candidate_kernels("auto", "auto", X) == ROWS
    assert kernels.candidate_kernels("auto", "auto", scipy.sparse.csr_array(X)) == [r for r in ROWS if r != "laplacian"]
    assert kernels.candidate_kernels("auto", 0.3, X) == ["rbf"]
    assert kernels.candidate_kernels("matern52", "auto", X) == ["matern52"]
    assert kernels.candidate_kernels(kernels.KernelSearch(["rbf", "linear"]), "auto", X) == ["rbf", "linear"]
    shapes = [kernel.shape for kernel in kernels.candidate_kernels("auto", "auto", CURVES)]
    assert shapes == ["rbf", "matern32", "matern12", "linear"]
    with pytest.raises(ValueError, match="kernels is empty"):
        kernels.candidate_kernels(kernels.KernelSearch([]), "auto", X)


@pytest.mark.parametrize(
    ("kernel", "gamma", "expected"),
    [
        ("rbf", "auto", True),
        ("rbf", "median", False),
        ("rbf", 0.3, False),
        ("linear", "auto", False),
        (kernels.Matern(), 0.3, True),
        (kernels.Matern(gamma=0.3), "auto", False),
        (kernels.Tanimoto(), "auto", False),
    ],
)
def test_searched_rates(kernel, gamma, expected):
    assert kernels.is_searched(kernel, gamma) is expected


@pytest.mark.parametrize(
    ("kernel", "gamma", "expected"),
    [
        ("rbf", "auto", True),  # selected
        ("rbf", 0.3, True),
        ("rbf", "median", False),  # a rule of the samples
        (kernels.Tanimoto(), "auto", True),
        (kernels.ChannelSum(), "auto", False),
    ],
)
def test_kernels_that_hold_for_subsets(kernel, gamma, expected):
    inputs = CURVES if isinstance(kernel, kernels.ChannelSum) else np.abs(X)
    resolved = kernels.InputKernel.from_settings(kernel, gamma, None, inputs)
    assert kernels.is_fixed(kernel, gamma, resolved) is expected


def test_a_family_changes_the_rates_that_are_searched():
    pairs = [("rbf", None), (kernels.Matern(gamma=0.7), None), ("linear", None)]
    family = kernels.KernelFamily.from_settings(pairs, "auto", None, X, np.ones(len(X)), False)
    assert family.is_searched and family.searched == (True, False, False)
    median = kernels.resolve_gamma("rbf", "median", X)
    rbf, matern, linear = family.at_rate(4.0)
    assert rbf.gamma == pytest.approx(4 * median) and matern.rate == 0.7 and linear.rate is None
    fixed = family.without_search()
    assert not fixed.is_searched and fixed.at_rate(4.0) == family.kernels


def test_shared_distances_give_the_gram_matrices():
    grams = kernels.SharedDistances(X)
    for gamma in (0.2, 1.3):
        several = [kernels.InputKernel(name, gamma) for name in ("rbf", "laplacian")] + [kernels.InputKernel("linear")]
        expected = [rbf_kernel(X, gamma=gamma), laplacian_kernel(X, gamma=gamma), X @ X.T]
        for found, wanted in zip(grams(several), expected, strict=True):
            assert_allclose(found, wanted, atol=1e-12)
