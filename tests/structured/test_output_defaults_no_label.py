"""Integers that mean no label in semi-supervised learning, and integers that are classes."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.semi_supervised import LabelSpreading

from hilbertlearn import RegularizationPathCV, StructuredPredictor
from hilbertlearn.output_losses import CostMatrix, ZeroOne

RNG = np.random.default_rng(0)
TRUE = np.repeat([0, 1, 2], 20)
X = RNG.normal(size=(60, 2)) + 6 * np.array([[0, 0], [1, 0], [0, 1]])[TRUE]
LABELS = np.full(60, -1)
LABELS[[3, 9, 25, 31, 44, 52]] = TRUE[[3, 9, 25, 31, 44, 52]]
AS_NONE = [None if label == -1 else int(label) for label in LABELS]
MODEL = StructuredPredictor(manifold=0.1, gamma=0.5, alpha=1e-2)


@pytest.mark.parametrize("form", [np.array, lambda y: y.tolist(), pd.Series, lambda y: y[:, None].ravel()])
@pytest.mark.parametrize("loss", [None, "zero_one", CostMatrix(1 - np.eye(3))], ids=["default", "zero_one", "costs"])
def test_minus_one_is_none(form, loss):
    model = clone(MODEL).set_params(output_loss=loss)
    expected = clone(model).fit(X, AS_NONE)
    with pytest.warns(UserWarning, match="-1 stands for no label, of 54 samples") as said:
        model.fit(X, form(LABELS))
    assert len(said) == 1
    assert_array_equal(model.classes_, [0, 1, 2])
    assert_allclose(model.predict_weights(X), expected.predict_weights(X))
    assert_array_equal(model.predict(X), expected.predict(X))
    assert np.asarray(model.predict(X)).dtype.kind == "i"
    assert model.score(X, form(LABELS)) == expected.score(X, AS_NONE) > model.score(X, (TRUE + 1) % 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(model).fit(X, AS_NONE)


def test_as_label_spreading():
    expected = LabelSpreading(gamma=0.5).fit(X, LABELS).transduction_
    with pytest.warns(UserWarning, match="no label"):
        found = clone(MODEL).fit(X, LABELS).predict(X)
    assert np.mean(found == expected) > 0.9 and np.mean(found == TRUE) > 0.9


def test_settings_that_are_chosen():
    model, expected = (StructuredPredictor(manifold=0.1) for _ in range(2))
    with pytest.warns(UserWarning, match="no label"):
        model.fit(X, LABELS)
    assert model.alpha_ == expected.fit(X, AS_NONE).alpha_
    path = RegularizationPathCV(MODEL, [1e-3, 1e-1])
    with pytest.warns(UserWarning, match="no label"):
        errors = path.fit(X, LABELS).errors_
    assert_allclose(errors, clone(path).fit(X, AS_NONE).errors_)


CLASSES = {
    "without unlabelled samples": (clone(MODEL).set_params(manifold=0.0), LABELS),
    "two classes": (MODEL, np.where(TRUE == 0, -1, 1)),
    "negative classes": (MODEL, np.where(TRUE == 0, -1, -TRUE - 1)),
    "said to be": (clone(MODEL).set_params(output_loss=ZeroOne(labels=[-1, 0, 1, 2])), LABELS),
}


@pytest.mark.parametrize("case", CLASSES)
def test_minus_one_is_a_class(case):
    model, labels = CLASSES[case]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = clone(model).fit(X, labels)
    assert -1 in model.predict(X[labels == -1]) and -1 in list(model.classes_)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_numbers_are_no_labels(loss):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = clone(MODEL).set_params(output_loss=loss).fit(X, LABELS)
    assert model.predict(X).min() < 0
