"""Weighted sums of output losses, and decoders that users give."""

from itertools import product

import numpy as np
import pytest
from helpers.refusals import assert_refused
from helpers.structured_data import LABELS, NEW, NUMBERS, OBJECTS, SETS, STRINGS, VECTORS, X, predictor, ridge_weights
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from hilbertlearn import kernels
from hilbertlearn.output_losses import (
    F1,
    Absolute,
    CostMatrix,
    Edit,
    Hamming,
    Jaccard,
    Kendall,
    LossMultiple,
    LossSum,
    Spearman,
    SquaredError,
    ZeroOne,
)

POWER = np.array(list(product([0.0, 1.0], repeat=3)))


def weighted(W, Z, Y, loss):
    return np.einsum("qi,qi->q", W, loss(Z, Y))


def test_a_sum_has_the_weighted_losses_of_its_parts():
    loss = Hamming() + 0.5 * F1() * 3 + Jaccard()
    Z, Y = POWER[:5], SETS.astype(float)
    assert_allclose(loss(Z, Y), Hamming()(Z, Y) + 1.5 * F1()(Z, Y) + Jaccard()(Z, Y))
    assert [(w, type(part)) for w, part in loss.parts()] == [(1.0, Hamming), (1.5, F1), (1.0, Jaccard)]
    nested = 2 * (Hamming() + 0.25 * F1())
    assert [w for w, _ in nested.parts()] == [2.0, 0.5]
    assert isinstance(sum([Hamming(), F1()]), LossSum)
    for number in (np.float64(0.5), np.int64(2), 0):
        assert (number * F1()).parts()[0][0] == number == (F1() * number).parts()[0][0]


@pytest.mark.parametrize("loss", [Hamming() + 0.5 * F1(), 2 * F1(), 0.1 * Hamming() + Jaccard() + F1()])
def test_sets_of_a_sum_against_all_subsets(loss):
    model = predictor(output_loss=loss).fit(X, SETS)
    Z, W = model.predict(NEW), ridge_weights()
    assert Z.dtype == SETS.dtype and model.decoder_ == "sum"
    values = W @ loss(POWER, SETS).T
    found = weighted(W, Z, SETS, loss)
    assert (found <= (W @ loss(SETS, SETS).T).min(axis=1) + 1e-9).all()
    assert_allclose(found, values.min(axis=1), atol=1e-9)  # all eight sets are training outputs


def test_a_sum_is_not_worse_than_what_its_parts_propose():
    rng = np.random.default_rng(0)
    y = (rng.random((len(X), 9)) < 0.4).astype(int)  # few of 512 sets are training outputs
    loss = Hamming() + 0.5 * F1()
    Z, W = predictor(output_loss=loss).fit(X, y).predict(NEW), ridge_weights()
    found = weighted(W, Z, y, loss)
    best = (W @ loss(y, y).T).min(axis=1)
    for part in ("hamming", "f1"):
        best = np.minimum(best, weighted(W, predictor(output_loss=part).fit(X, y).predict(NEW), y, loss))
    assert_allclose(found, best, atol=1e-9)
    assert (found < (W @ loss(y, y).T).min(axis=1) - 1e-3).any()


def test_sums_of_losses_with_different_canonical_outputs():
    loss = Kendall() + Spearman() + 0.5 * SquaredError()
    model = predictor(output_loss=loss).fit(X, VECTORS)
    W, Z = ridge_weights(), model.predict(NEW)
    assert (weighted(W, Z, VECTORS, loss) <= (W @ loss(VECTORS, VECTORS).T).min(axis=1) + 1e-9).all()
    assert not model.output_loss_.discrete


def test_sums_on_numbers_labels_strings_and_sets():
    numbers = predictor(output_loss=SquaredError() + 0.1 * Absolute()).fit(X, NUMBERS)
    assert numbers.predict(NEW).dtype == float
    words = predictor(output_loss=Edit() + 2 * ZeroOne()).fit(X, STRINGS)
    assert {*words.predict(NEW)} <= {*STRINGS}
    named = [{"abc"[k] for k in members} for members in OBJECTS]
    sets = predictor(output_loss=Hamming() + F1()).fit(X, named).predict(NEW)
    rows = predictor(output_loss=Hamming() + F1()).fit(X, SETS).predict(NEW)
    assert sets == [{"abc"[k] for k in np.flatnonzero(row)} for row in rows]


def test_sums_of_costs_search_all_labels():
    C = np.random.default_rng(1).uniform(size=(7, 7))
    loss = CostMatrix(C) + 0.3 * ZeroOne()
    model = predictor(output_loss=loss).fit(X, LABELS)
    total = C + 0.3 * (1 - np.eye(7))
    scores = -ridge_weights() @ total[:, LABELS].T
    assert_array_equal(model.predict(NEW), scores.argmax(axis=1))
    assert_array_equal(model.classes_, np.arange(7))
    assert_allclose(model.predict_scores(NEW), scores, atol=1e-9)


def test_sums_clone_and_are_searched():
    loss = Hamming() + 0.5 * F1()
    assert clone(loss).get_params()["g__weight"] == 0.5
    search = GridSearchCV(predictor(output_loss=loss), {"output_loss__g__weight": [0.0, 2.0]}, cv=2).fit(X, SETS)
    assert search.best_params_["output_loss__g__weight"] == 0.0 and loss.g.weight == 0.5
    model = predictor(output_loss=loss, alpha="auto").fit(X, SETS)
    losses = [loss(z[None], y[None])[0, 0] for z, y in zip(model.predict(X), SETS)]
    assert model.score(X, SETS) == pytest.approx(-np.mean(losses))


def test_a_weight_of_zero_takes_a_loss_out():
    loss = Hamming() + 0 * F1()
    assert_array_equal(
        predictor(output_loss=loss).fit(X, SETS).predict(NEW),
        predictor(output_loss="hamming").fit(X, SETS).predict(NEW),
    )


def test_sums_that_are_refused():
    assert_refused(lambda: -1 * F1(), ["weight", "-1"])
    assert_refused(lambda: np.nan * F1(), ["weight", "nan"])
    assert_refused(lambda: predictor(output_loss=LossMultiple(F1(), -2.0)).fit(X, SETS), ["weight", "-2"])
    assert_refused(lambda: predictor(output_loss=Hamming() + Edit()).fit(X, SETS), ["strings"])
    for wrong in (lambda: F1() + 1, lambda: F1() + "hamming", lambda: "2" * F1(), lambda: F1() * F1()):
        with pytest.raises(TypeError):
            wrong()


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
