"""Model files of estimators of scikit-learn whose attributes its compiled code, or that of scipy, follows unseen."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import SGDRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, RadiusNeighborsClassifier
from sklearn.preprocessing import KBinsDiscretizer, MultiLabelBinarizer, OneHotEncoder

from hilbertlearn import load, save
from hilbertlearn.persistence import ModelFileError

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
LABELS = rng.integers(0, 3, 40)
TEXTS = ["red green", "green blue blue", "red"]
COLOURS = np.array([["red", 1.0], ["green", np.nan], ["blue", 1.0], ["red", 2.0]], dtype=object)
MANY = np.array([[1.0], [1.0], [1.0], [2.0], [3.0], [4.0], [4.0], [4.0]])

HONEST = {
    "neighbours": (KNeighborsClassifier(3, algorithm="brute").fit(X, LABELS), "predict_proba", X),
    "neighbours of outputs": (KNeighborsClassifier(3).fit(X, np.c_[LABELS, LABELS == 0]), "predict", X),
    "radius": (RadiusNeighborsClassifier(5.0).fit(X, LABELS), "predict_proba", X),
    "clusters": (KMeans(3, n_init=1, random_state=0).fit(X), "predict", X),
    "batches": (MiniBatchKMeans(3, n_init=1, random_state=0).partial_fit(X), "predict", X),
    "line": (SGDRegressor(average=True, random_state=0).partial_fit(X, LABELS), "predict", X),
    "words": (CountVectorizer().fit(TEXTS), "transform", TEXTS),
    "weights": (TfidfVectorizer(vocabulary=["blue", "red"]).fit(TEXTS), "transform", TEXTS),
    "entries": (DictVectorizer().fit([{"a": 1, "b": "x"}]), "transform", [{"a": 2.0, "b": "x"}]),
    "labels": (MultiLabelBinarizer().fit([("a", "b"), ("c",)]), "transform", [("c", "a")]),
    "one hot": (OneHotEncoder(drop="if_binary").fit(COLOURS), "transform", COLOURS),
    "dropped": (OneHotEncoder(drop="first", sparse_output=False).fit(COLOURS), "transform", COLOURS),
    "missing": (OneHotEncoder().fit([[np.nan], [1.0]]), "transform", [[1.0], [np.nan]]),
    "infrequent": (OneHotEncoder(min_frequency=2, drop="first").fit(MANY), "transform", MANY),
    "bins": (KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf").fit(X), "transform", X),
}
HONEST["labels"][0].transform([("a",)])  # keeps a dictionary from then on


def dense(answer):
    return answer.toarray() if hasattr(answer, "toarray") else answer


@pytest.mark.parametrize("name", HONEST)
def test_honest_files(name, tmp_path):
    model, method, inputs = HONEST[name]
    again = load(save(model, tmp_path / "model.hl"))
    assert_array_equal(dense(getattr(again, method)(inputs)), dense(getattr(model, method)(inputs)))


FORGED = [
    (KNeighborsClassifier(3, algorithm="brute").fit(X, LABELS), {"_y": np.full(40, 10**9)}),
    (KNeighborsClassifier(3).fit(X, LABELS), {"_y": np.full(40, -1)}),
    (KNeighborsClassifier(3).fit(X, LABELS), {"_y": LABELS[:5]}),
    (RadiusNeighborsClassifier(5.0).fit(X, LABELS), {"classes_": np.arange(2)}),
    (KNeighborsRegressor(3, algorithm="kd_tree").fit(X, LABELS), {"n_neighbors": 0}),
    (KMeans(3, n_init=1).fit(X), {"_n_threads": 10**6}),
    (KMeans(3, n_init=1).fit(X), {"cluster_centers_": np.ones((3, 1))}),
    (MiniBatchKMeans(3, n_init=1).partial_fit(X), {"_counts": np.zeros(1)}),
    (SGDRegressor(average=True).partial_fit(X, LABELS), {"_average_coef": np.zeros(1)}),
    (SGDRegressor(average=True).partial_fit(X, LABELS), {"_standard_coef": np.zeros(1)}),
    (CountVectorizer().fit(TEXTS), {"vocabulary_": {"red": 10**9}}),
    (CountVectorizer().fit(TEXTS), {"vocabulary_": {"red": -1}}),
    (TfidfVectorizer().fit(TEXTS), {"vocabulary_": {"red": 0, "blue": 2}}),
    (CountVectorizer().fit(TEXTS), {"input": "filename"}),
    (DictVectorizer().fit([{"a": 1}]), {"vocabulary_": {"a": 10**9}}),
    (MultiLabelBinarizer().fit([("a", "b")]), {"_cached_dict": {"a": 10**9}}),
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
