"""Inputs in the form that kernels take."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

from hilbertlearn import kernels
from hilbertlearn.machine.inputs import check_inputs

X = np.arange(12.0).reshape(6, 2)


def read(X, kernel="rbf", reset=True, owner=None, **options):
    return check_inputs(BaseEstimator() if owner is None else owner, X, [kernel], reset=reset, **options)


def test_rows_of_numbers():
    assert_array_equal(read(X.astype(int)), X)
    assert_array_equal(read(X.tolist()), X)
    assert scipy.sparse.issparse(read(scipy.sparse.csr_matrix(X)))
    assert read(X.astype(np.float32), dtype=[np.float64, np.float32]).dtype == np.float32


def test_features_are_remembered_and_compared():
    owner = BaseEstimator()
    read(pd.DataFrame(X, columns=["a", "b"]), owner=owner)
    assert owner.n_features_in_ == 2 and list(owner.feature_names_in_) == ["a", "b"]
    with pytest.raises(ValueError, match="feature"):
        read(np.zeros((3, 5)), owner=owner, reset=False)


def test_curves_are_rows_to_a_kernel_of_vectors():
    assert read(np.zeros((4, 5, 2))).shape == (4, 10)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.where(X > 5, np.nan, X), "contains NaN"),
        (["ab", "cd"], "kernels.NGram"),
        ([object(), object()], r"kernels.Pairwise"),
        (np.full((3, 2), 1e-320), "too small"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), "are not numbers"),
    ],
)
def test_what_a_kernel_of_vectors_refuses(given, message):
    with pytest.raises(ValueError, match=message):
        read(given)


def test_gram_matrices_are_square_at_fit():
    with pytest.raises(ValueError, match="square Gram matrix"):
        read(X, "precomputed")
    assert_array_equal(read(X, "precomputed", reset=False), X)


def test_kernels_of_objects_take_lists_as_they_are():
    words = ["ab", "cd"]
    assert read(words, kernels.NGrams()) == words


def test_tables_for_kernels_by_columns():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    owner, kernel = BaseEstimator(), kernels.Columns([("rbf", "a"), (kernels.CategoricalKernel(), "b")])
    table = read(frame, kernel, owner=owner)
    assert list(table.names) == ["a", "b"] and owner.X_names_ == ("a", "b")
