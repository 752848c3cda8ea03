"""Saved models: every estimator predicts the same after loading, in another process, to the last bit."""

import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from helpers.model_files import forge
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
from sklearn.base import clone
from sklearn.linear_model import Ridge

import hilbertlearn
from hilbertlearn import baselines, load, losses, outlier_report, save

CASES = cases()
NAMES = [*CASES, *IN_BATCHES]


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Answers of the models in another process, by name, and the folder of the files."""
    folder = tmp_path_factory.mktemp("models")
    for name, model in fitted().items():
        save(model, folder / f"{name}.hl", functions=True)
        (folder / f"{name}.inputs").write_bytes(pickle.dumps(inputs_for(name)))
    program = [sys.executable, "-m", "helpers.stored_models", str(folder)]
    run = subprocess.run(program, capture_output=True, text=True, cwd=Path(__file__).parents[1])
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
def test_models_predict_the_same_in_another_process(name, elsewhere):
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


def test_saving_twice_gives_the_same_bytes(tmp_path):
    model = structured(output_kernel=common).fit(X, [frozenset("abc"[:n]) for n in np.arange(len(X)) % 3 + 1])
    one, other = (save(model, tmp_path / name, functions=True).read_bytes() for name in "ab")
    assert one == other


def test_another_version_of_scikit_learn_warns_only_where_it_matters(small, file, tmp_path):
    def same(model, members):
        return None

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(forge(file, same, **{"scikit-learn": "0.24.1"}))  # has nothing of it
        other = save(Ridge(), tmp_path / "ridge.hl")
        load(other)
    with pytest.warns(UserWarning, match=r"scikit-learn 0\.24\.1.*fit again") as told:
        load(forge(other, same, **{"scikit-learn": "0.24.1"}))
    assert told[0].filename == __file__
