"""From a model to nodes: identity, functions of the user, and values that are refused."""

import sys

import numpy as np
import pytest
from helpers.stored_models import (
    NEW,
    VECTORS,
    X,
    structured,
    vector,
)
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

import hilbertlearn
from hilbertlearn import OperatorKernelRegressor, kernels, load, save


def test_what_was_one_object_is_one_again(tmp_path):
    kernel = kernels.L2(0.1)
    first, shared = [], np.arange(3.0)
    first.append(first)  # a cycle
    stored = {"kernels": [kernel, kernel], "arrays": (shared, shared, shared.copy()), "cycle": first, kernel: 1}
    again = load(save(stored, tmp_path / "parts"))
    assert again["kernels"][0] is again["kernels"][1] and again["kernels"][0] in again
    assert again["arrays"][0] is again["arrays"][1] and again["arrays"][0] is not again["arrays"][2]
    assert again["cycle"][0] is again["cycle"]


def test_arrays_are_stored_once(tmp_path):
    wide = np.random.default_rng(0).normal(size=(100, 100))
    once, twice = (save([wide] * n, tmp_path / "arrays").stat().st_size for n in (1, 2))
    assert twice - once < 100


class Doubled(BaseEstimator):
    """A kernel of the user's own, an object."""

    def __init__(self, rate=1.0, of=None):
        self.rate, self.of = rate, of

    def __call__(self, A, B):
        return 2 * np.exp(-self.rate * ((A[:, None] - B) ** 2).sum(axis=2))


def linear(A, B):
    return A @ B.T


class Words(list):
    """What cannot be stored by its attributes."""


@pytest.mark.parametrize(
    ("model", "path", "what"),
    [
        (OperatorKernelRegressor(linear), "kernel", "test_encode:linear"),
        (OperatorKernelRegressor(Doubled()), "kernel", "test_encode:Doubled"),
        (OperatorKernelRegressor([("rbf", None), (linear, None)]), "kernel[1][0]", "test_encode:linear"),
        (structured(output_loss=hilbertlearn.output_losses.CustomLoss(linear)), "output_loss.", "test_encode:linear"),
        (hilbertlearn.RegularizationPathCV(vector(kernel=Doubled())), "estimator.kernel", "test_encode:Doubled"),
    ],
)
def test_code_is_stored_by_its_name_when_asked(tmp_path, model, path, what):
    file = tmp_path / "model.hl"
    with pytest.raises(TypeError) as refused:
        save(model, file)
    assert str(refused.value).startswith(path) and what in str(refused.value)
    assert "functions=True" in str(refused.value) and not file.exists()
    save(model, file, functions=True)
    with pytest.raises(hilbertlearn.persistence.ModelFileError, match="if you trust the file") as refused:
        load(file)
    assert what in str(refused.value)
    again = load(file, functions=True)
    assert type(again) is type(model) and repr(again) == repr(model)


def test_own_kernels_predict_the_same(tmp_path):
    model = vector(kernel=Doubled(0.3, of={"a": (1, None)})).fit(X, VECTORS)
    again = load(save(model, tmp_path / "model.hl", functions=True), functions=True)
    assert_array_equal(again.predict(NEW), model.predict(NEW))
    assert again.kernel.of == {"a": (1, None)}


def test_code_without_a_name_is_refused(tmp_path):
    def local(A, B):
        return A @ B.T

    for kernel in (local, lambda A, B: A @ B.T, type("Local", (), {"__qualname__": "<local>"})()):
        with pytest.raises(TypeError, match=r"^kernel .*at the top of a module"):
            save(OperatorKernelRegressor(kernel), tmp_path / "model.hl", functions=True)
    for kernel in (Doubled().__call__, Words("ab"), iter([]), sys):
        with pytest.raises(TypeError, match=r"^kernel is .* stored; give"):
            save(OperatorKernelRegressor(kernel), tmp_path / "model.hl", functions=True)
    assert list(tmp_path.iterdir()) == []


def test_functions_of_scikit_learn_and_numpy_need_no_permission(tmp_path):
    from sklearn.metrics.pairwise import laplacian_kernel

    model = vector(kernel=laplacian_kernel).fit(X, VECTORS)
    assert_array_equal(load(save(model, tmp_path / "model.hl")).predict(NEW), model.predict(NEW))


def test_molecules_are_refused_with_the_remedy(tmp_path):
    chem = pytest.importorskip("rdkit.Chem")
    with pytest.raises(TypeError, match="SMILES"):
        save(structured(candidates=[chem.MolFromSmiles("CC")]), tmp_path / "model.hl")
    assert list(tmp_path.iterdir()) == []
