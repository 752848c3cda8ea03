"""Model files: every estimator says the same after loading, in another process, to the last bit."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.stored_models import (
    IN_BATCHES,
    NEW,
    VECTORS,
    X,
    answers,
    cases,
    common,
    fitted,
    inputs_for,
    plain,
    structured,
    vector,
)
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone

import hilbertlearn
from hilbertlearn import OperatorKernelRegressor, baselines, kernels, load, losses, outlier_report, save

CASES = cases()
NAMES = [*CASES, *IN_BATCHES]


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """{name: what the model says in another process}, and the folder of the files."""
    folder = tmp_path_factory.mktemp("models")
    for name, model in fitted().items():
        save(model, folder / f"{name}.hl", functions=True)
        (folder / f"{name}.inputs").write_bytes(pickle.dumps(inputs_for(name)))
    program = [sys.executable, "-m", "helpers.stored_models", str(folder)]
    run = subprocess.run(program, capture_output=True, text=True, cwd=Path(__file__).parent)
    assert run.returncode == 0, run.stderr
    return pickle.loads((folder / "answers").read_bytes()), folder


def test_every_estimator_is_here_in_two_settings():
    rooms = [hilbertlearn, baselines]
    public = {getattr(room, name) for room in rooms for name in room.__all__}
    estimators = {one for one in public if isinstance(one, type) and hasattr(one, "fit") and hasattr(one, "get_params")}
    assert len(estimators) >= 23
    kinds = [type(model) for model in fitted().values()]
    assert {one.__name__ for one in estimators if kinds.count(one) < 2} == set()


@pytest.mark.parametrize("name", NAMES)
def test_models_say_the_same_in_another_process(name, elsewhere):
    found, folder = elsewhere
    again = load(folder / f"{name}.hl", functions=True)
    assert save(again, folder / "again", functions=True).read_bytes() == (folder / f"{name}.hl").read_bytes()
    expected = plain(answers(fitted()[name], inputs_for(name)))
    assert any(not isinstance(answer, str) for answer in expected.values())
    assert found[name] == expected


@pytest.mark.parametrize("name", CASES)
def test_unfitted_models(name, tmp_path):
    model = clone(CASES[name][0])
    again = load(save(model, tmp_path / "model.hl", functions=True), functions=True)
    assert type(again) is type(model)
    assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert repr(again) == repr(model)


def test_a_loaded_model_is_one_like_any_other(tmp_path):
    model = vector(loss=losses.Huber("auto"), kernel="rbf").fit(X, VECTORS)
    again = load(save(model, tmp_path / "model.hl"))
    assert vars(again).keys() == vars(model).keys()
    assert again.get_params()["loss__kappa"] == "auto"
    assert repr(again.summary()) == repr(model.summary())
    for name in ("dual_coef_", "support_", "saturated_", "outlier_scores_", "center_"):
        assert_array_equal(getattr(again, name), getattr(model, name), strict=True)
    assert again.alpha_ == model.alpha_ and again.loss_.kappa == model.loss_.kappa
    assert_array_equal(outlier_report(again)["residual"], outlier_report(model)["residual"])
    assert_array_equal(again.score(X, VECTORS), model.score(X, VECTORS))
    assert_array_equal(clone(again).fit(X, VECTORS).predict(NEW), model.predict(NEW))  # fits are the same each time
    again.set_params(alpha=1.0).fit(X, VECTORS)
    assert model.alpha_ == 0.02


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


def test_saving_twice_gives_the_same_bytes(tmp_path):
    model = structured(output_kernel=common).fit(X, [frozenset("abc"[:n]) for n in np.arange(len(X)) % 3 + 1])
    one, other = (save(model, tmp_path / name, functions=True).read_bytes() for name in "ab")
    assert one == other


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
        (OperatorKernelRegressor(linear), "kernel", "test_persistence:linear"),
        (OperatorKernelRegressor(Doubled()), "kernel", "test_persistence:Doubled"),
        (OperatorKernelRegressor([("rbf", None), (linear, None)]), "kernel[1][0]", "test_persistence:linear"),
        (
            structured(output_loss=hilbertlearn.output_losses.CustomLoss(linear)),
            "output_loss.",
            "test_persistence:linear",
        ),
        (hilbertlearn.RegularizationPathCV(vector(kernel=Doubled())), "estimator.kernel", "test_persistence:Doubled"),
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
