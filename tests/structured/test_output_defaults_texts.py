"""Strings as outputs: labels, or texts that are only selected."""

import numpy as np
from helpers.refusals import assert_refused
from helpers.structured_data import NEW, STRINGS, X, predictor
from numpy.testing import assert_array_equal
from sklearn.linear_model import Ridge

from hilbertlearn import kernels

# ------------------------------------------------------------------ strings


def test_strings_are_labels_or_texts_and_the_settings_decide():
    labels = predictor().fit(X, STRINGS)
    assert_array_equal(labels.classes_, sorted({*STRINGS}))
    assert labels.decoder_ == "classes"
    texts = predictor(output_kernel=kernels.NGrams()).fit(X, STRINGS)
    assert texts.decoder_ == "candidates" and texts.output_loss_ is None and not hasattr(texts, "classes_")
    once = [f"text {i}" for i in range(len(X))]
    assert predictor().fit(X, once).decoder_ == "candidates"
    assert predictor(output_loss="zero_one").fit(X, once).decoder_ == "classes"


def test_strings_are_judged_as_a_whole_and_not_fold_by_fold():
    words = ["a", "a", "b", "b", "c", "c"]
    points = np.arange(6.0)[:, None]
    model = predictor().fit(points, words, sample_weight=[1, 0, 1, 0, 1, 0])
    assert model.decoder_ == "classes"


def test_texts_are_chosen_and_not_made():
    once = [f"text {i}" for i in range(len(X))]
    assert_refused(lambda: predictor(decoder="gaussian").fit(X, once), ["gaussian", "give candidates"])
    model = predictor(candidates=["text 1", "other text"]).fit(X, once)
    assert {*model.predict(NEW)} <= {"text 1", "other text"}


def test_strings_that_recur_are_texts_where_labels_will_not_do():
    for settings in ({"loss": "huber"}, {"regressor": Ridge()}):
        model = predictor(**settings).fit(X, STRINGS)
        assert isinstance(model.output_kernel_, kernels.NGrams) and model.output_loss_ is None
