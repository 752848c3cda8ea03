"""Loaded estimators of scikit-learn: attributes that compiled code follows without checks."""

import numpy as np
import pytest
from helpers.model_files import first_node, forge
from helpers.stored_models import assert_refused
from numpy.testing import assert_array_equal
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler

from hilbertlearn import load, save
from hilbertlearn.persistence import ModelFileError

X = np.random.default_rng(0).normal(size=(40, 3))
COLOURS = np.array([["red", 1.0], ["green", np.nan], ["blue", 1.0], ["red", 2.0]], dtype=object)
MANY = np.array([[1.0], [1.0], [1.0], [2.0], [3.0], [4.0], [4.0], [4.0]])
HONEST = {
    "one hot": (OneHotEncoder(drop="if_binary").fit(COLOURS), COLOURS),
    "dropped": (OneHotEncoder(drop="first", sparse_output=False).fit(COLOURS), COLOURS),
    "missing": (OneHotEncoder().fit([[np.nan], [1.0]]), [[1.0], [np.nan]]),
    "infrequent": (OneHotEncoder(min_frequency=2, drop="first").fit(MANY), MANY),
    "bins": (KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf").fit(X), X),
}


def dense(S):
    return S.toarray() if hasattr(S, "toarray") else S


@pytest.mark.parametrize("name", HONEST)
def test_honest_files(name, tmp_path):
    model, inputs = HONEST[name]
    again = load(save(model, tmp_path / "model.hl"))
    assert_array_equal(dense(again.transform(inputs)), dense(model.transform(inputs)))


FORGED = [
    (OneHotEncoder().fit(MANY), {"_n_features_outs": [1]}),
    (OneHotEncoder().fit(MANY), {"_n_features_outs": []}),
    (OneHotEncoder().fit(MANY), {"categories_": [np.array([4.0, 3.0, 2.0, 1.0])]}),
    (OneHotEncoder(drop="first").fit(MANY), {"_drop_idx_after_grouping": np.array([9], dtype=object)}),
    (OneHotEncoder(min_frequency=2).fit(MANY), {"_default_to_infrequent_mappings": [np.array([0, 9, 9, 1])]}),
    (OneHotEncoder(min_frequency=2).fit(MANY), {"_default_to_infrequent_mappings": [np.array([0, -9, 2, 1])]}),
]


@pytest.mark.parametrize(("model", "forged"), FORGED, ids=lambda one: str(one)[:40])
def test_forged_files(model, forged, tmp_path):
    path = save(model, tmp_path / "model.hl")
    load(path)
    vars(model).update(forged)
    with pytest.raises(ModelFileError):
        load(save(model, path))


def test_folders_of_pickles(tmp_path):
    model = make_pipeline(StandardScaler(), Ridge(), memory=str(tmp_path))
    with pytest.raises(TypeError, match="memory=None"):
        save(model, tmp_path / "model.hl")
    path = save(model.set_params(memory=None), tmp_path / "model.hl")

    def change(model, members):
        first_node(model, **{"class": "sklearn.pipeline.Pipeline"})["of"]["memory"] = str(tmp_path)

    assert_refused(forge(path, change), "pickles")
