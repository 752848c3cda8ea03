"""Weighted sums of output losses."""

from itertools import product

import numpy as np
import pytest
from helpers.refusals import assert_refused
from helpers.structured_data import NEW, NUMBERS, OBJECTS, SETS, STRINGS, VECTORS, X, predictor, ridge_weights
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from hilbertlearn.output_losses import (
    F1,
    Absolute,
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
