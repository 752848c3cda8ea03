"""alpha that falls with the number of samples, as a setting."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from hilbertlearn import (
    FunctionalRegressor,
    KernelAutoencoder,
    LinkPredictor,
    OperatorKernelRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    bounds,
    losses,
    streams,
)

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(36, 2)), RNG.normal(size=(36, 3))
ESTIMATORS = [
    (OperatorKernelRegressor("rbf", gamma=1.0), Y),
    (OperatorKernelRegressor("rbf", gamma=1.0, loss=losses.Huber(0.5)), Y),
    (OperatorKernelRegressor(), Y),
    (OperatorKernelRegressor("rbf", gamma=1.0, feature_map=10), Y),
    (FunctionalRegressor("rbf", gamma=1.0), RNG.normal(size=(36, 8))),
    (StructuredPredictor("rbf", gamma=1.0), list("abc" * 12)),
    (StructuredPredictor("rbf", gamma=1.0, output_loss="absolute"), Y[:, 0]),
    (StructuredPredictor("rbf", gamma=1.0, output_kernel="rbf"), Y),
]


@pytest.mark.parametrize(("rate", "power"), [("n^-1/2", 1 / 2), ("n^-1/4", 1 / 4)])
@pytest.mark.parametrize(("model", "y"), ESTIMATORS)
def test_schedules_are_numbers_at_fit(model, y, rate, power):
    found = clone(model).set_params(alpha=rate).fit(X, y)
    given = clone(model).set_params(alpha=36**-power).fit(X, y)
    assert found.alpha_ == pytest.approx(36**-power)
    assert found.alpha == rate
    assert np.array_equal(np.asarray(found.predict(X[:5])), np.asarray(given.predict(X[:5])))
    assert bounds.schedule(36, rate) == pytest.approx(36**-power)


def test_only_samples_that_count_are_counted():
    y, weights = Y[:, 0].copy(), np.ones(36)
    y[:6], weights[6:11] = np.nan, 0.0
    assert OperatorKernelRegressor("rbf", alpha="n^-1/2").fit(X, y, weights).alpha_ == pytest.approx(0.2)
    assert OperatorKernelRegressor("rbf", alpha="n^-1/2").fit(X, y, 7 * weights).alpha_ == pytest.approx(0.2)


def test_rows_in_pieces():
    model = OperatorKernelRegressor("rbf", gamma=1.0, alpha="n^-1/2", feature_map=8)
    assert model.partial_fit(X[:16], Y[:16]).alpha_ == pytest.approx(0.25)
    assert model.partial_fit(X[16:], Y[16:]).alpha_ == pytest.approx(1 / 6)
    for loss in ("squared", losses.Huber(0.5)):
        source = streams.from_arrays(X, Y, batch_size=10)
        assert clone(model).set_params(loss=loss).fit(source).alpha_ == pytest.approx(1 / 6)


def test_other_estimators():
    A = np.triu(RNG.random((36, 36)) < 0.15, 1).astype(float)
    links = LinkPredictor("rbf", gamma=1.0, alpha="n^-1/2").fit(X, A + A.T)
    assert links.alpha_ == pytest.approx(1 / 6)
    codes = [KernelAutoencoder(1, alpha=alpha).fit(X).transform(X) for alpha in ("n^-1/2", 1 / 6)]
    assert np.array_equal(*codes)
    path = RegularizationPathCV(OperatorKernelRegressor(alpha="n^-1/2"), alphas=[0.1, 1.0]).fit(X, Y)
    assert path.alpha_ in (0.1, 1.0)
    search = GridSearchCV(OperatorKernelRegressor("rbf", gamma=1.0), {"alpha": ["n^-1/2", "n^-1/4", 0.1]}, cv=3)
    assert search.fit(X, Y).best_params_["alpha"] in ("n^-1/2", "n^-1/4", 0.1)


@pytest.mark.parametrize("alpha", ["n^-1/3", "n", "n**-0.5", "", -1.0, 0, None])
@pytest.mark.parametrize("model", [OperatorKernelRegressor(), FunctionalRegressor(), StructuredPredictor()])
def test_other_names_are_refused(model, alpha):
    with pytest.raises(ValueError, match=r"alpha must be a finite number > 0 or 'auto' or 'n\^-1/2' or 'n\^-1/4'"):
        clone(model).set_params(alpha=alpha).fit(X, Y)


def test_other_names_are_refused_elsewhere():
    with pytest.raises(ValueError, match=r"alpha must be .* 'auto' or 'n\^-1/2'"):
        LinkPredictor(alpha="n^-1/3").fit(X, np.zeros((36, 36)))
    for alpha in ("n^-1/3", "auto"):
        with pytest.raises(ValueError, match=r"alpha must be a finite number > 0 or 'n\^-1/2'"):
            KernelAutoencoder(1, alpha=alpha).fit(X)


@pytest.mark.parametrize("alpha", ["n^-1/2", 0.02])
def test_an_alpha_that_is_given_is_that_of_every_output(alpha):
    model = OperatorKernelRegressor("rbf", gamma=1.0, alpha=alpha, alpha_per_output=True).fit(X, Y)
    expected = OperatorKernelRegressor("rbf", gamma=1.0, alpha=0.02 if alpha == 0.02 else 1 / 6).fit(X, Y)
    assert model.alpha_ == pytest.approx(expected.alpha_)
    np.testing.assert_allclose(model.predict(X), expected.predict(X))
