"""Decoders that users give: functions and objects."""

import numpy as np
import pytest
from helpers.refusals import assert_refused
from helpers.structured_data import LABELS, NEW, OBJECTS, SETS, STRINGS, VECTORS, X, predictor, ridge_weights
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV

from hilbertlearn import kernels
from hilbertlearn.output_losses import (
    ZeroOne,
)

# ------------------------------------------------------------------ decoders of users


def second_best(weights, outputs, loss):
    """The second of the outputs in order of weighted losses."""
    losses = loss(loss.check_predictions(outputs), loss.check(outputs))
    order = np.argsort(weights @ losses.T, axis=1, kind="stable")
    return [outputs[i] for i in order[:, 1]]


class Constant(BaseEstimator):
    def __init__(self, index=0):
        self.index = index

    def decode(self, weights, outputs, loss):
        return [outputs[self.index]] * len(weights)


@pytest.mark.parametrize(
    ("settings", "y"),
    [
        ({"output_loss": "edit"}, STRINGS),
        ({"output_loss": "zero_one"}, LABELS),
        ({"output_loss": "f1"}, SETS),
        ({"output_loss": "f1"}, OBJECTS),
        ({"output_kernel": kernels.NGrams(2)}, STRINGS),
        ({"output_kernel": "rbf", "output_loss": "squared"}, VECTORS),
    ],
    ids=["strings", "labels", "rows", "sets", "kernel", "both"],
)
def test_a_function_decodes(settings, y):
    model = predictor(decoder=second_best, **settings).fit(X, y)
    assert model.decoder_ is second_best
    found = model.predict(NEW)
    second = [outputs[1] for outputs in predictor(**settings).fit(X, y).predict_topk(NEW, 2)[0]]
    assert type(found) is type(y) and np.array_equal(found, second)
    if not isinstance(y, list):
        assert found.dtype == y.dtype
    clone(model).fit(X, y)
    assert np.isfinite(model.score(X, y))


def test_weights_that_a_decoder_is_given():
    seen = {}

    def keep(weights, outputs, loss):
        seen.update(weights=weights, outputs=outputs, loss=loss)
        return ["x"] * len(weights)

    model = predictor(output_loss="zero_one", decoder=keep).fit(X, STRINGS)
    assert model.predict(NEW) == ["x"] * len(NEW)
    outputs = list(dict.fromkeys(STRINGS))
    assert seen["outputs"] == outputs and isinstance(seen["loss"], ZeroOne)
    one_hot = np.array([[word == other for other in outputs] for word in STRINGS])
    assert_allclose(seen["weights"], ridge_weights() @ one_hot, atol=1e-9)
    assert model.predict(NEW, candidates=["abc"]) == ["abc"] * len(NEW)


def test_an_object_decodes_and_its_settings_are_searched():
    model = predictor(output_loss="zero_one", decoder=Constant()).fit(X, LABELS)
    assert_array_equal(model.predict(NEW), LABELS[0])
    common = int(np.bincount(LABELS).argmax())
    order = list(dict.fromkeys(LABELS.tolist()))
    search = GridSearchCV(model, {"decoder__index": range(4)}, cv=[(np.arange(40), np.arange(40))]).fit(X, LABELS)
    assert order[search.best_params_["decoder__index"]] == common


def test_decoders_that_are_refused():
    def fit(decoder, **settings):
        return predictor(output_loss="zero_one", decoder=decoder, **settings).fit(X, LABELS)

    for wrong in (3, Constant):
        assert_refused(lambda wrong=wrong: fit(wrong), ["decoder", "(weights, outputs, loss)"], TypeError)
    assert_refused(lambda: fit("nearest"), ["decoder", "nearest"])
    assert_refused(lambda: fit(second_best, candidates=[3, 4]), ["candidates", "None"])
    assert_refused(lambda: fit(lambda W, Y, loss: Y[:2]).predict(NEW), ["2 outputs", "15 queries"])
    assert_refused(lambda: fit(lambda W, Y, loss: None).predict(NEW), ["15 outputs", "NoneType"], TypeError)
    some = [3.0] * 14 + [None]
    assert_refused(lambda: fit(lambda W, Y, loss: some).predict(NEW), ["None or NaN", "query 14"])
