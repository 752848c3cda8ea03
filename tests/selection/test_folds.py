"""The search of alpha over folds: no fold decides alone, and bad alphas on the way do not end the search."""

import numpy as np
import pytest
from helpers.machines import prepare

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.losses import Squared
from hilbertlearn.selection import folds
from hilbertlearn.training import Options

rng = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def same_draws():
    """Each test draws the same whatever ran before it."""
    global rng
    rng = np.random.default_rng(7)


def spectra(n=60, bands=80, noise=1e-3, seed=0):
    """Absorbances of mixtures: a large baseline that says nothing, and small bands that say all."""
    draw = np.random.default_rng(seed)
    t = np.linspace(0, 1, bands)
    parts = draw.dirichlet(np.ones(3), n)
    shapes = np.exp(-((t - np.array([[0.3], [0.5], [0.7]])) ** 2) / 0.02)
    baseline = 3 + draw.normal(size=(n, 1)) + draw.normal(size=(n, 1)) * t
    return baseline + 0.1 * parts @ shapes + noise * draw.normal(size=(n, bands)), parts


@pytest.mark.parametrize("missing", [0, 1, 10])
def test_a_value_that_is_missing_changes_little(missing):
    X, Y = spectra()
    X_new, Y_new = spectra(seed=1)
    gaps = Y.copy()
    gaps.flat[rng.choice(gaps.size, missing, replace=False)] = np.nan
    for operator in (None, np.array([[1.0, 0.3, 0.3], [0.3, 1.0, 0.3], [0.3, 0.3, 1.0]])):
        model = OperatorKernelRegressor("linear", operator=operator).fit(X, gaps)
        assert model.score(X_new, Y_new) > 0.9


class Scripted:
    """Errors over log alpha, by fold: in the first they rise before they fall, in the last they are not finite."""

    def __init__(self, best):
        self.best = best

    def __call__(self, training, found, test):
        x = np.log10(found.alpha / self.best)
        fold = test[0] % 5
        error = 1.0 + 0.1 * min(abs(x), 4.0)
        if fold == 0 and 1 < x < 4:
            error += 5.0
        return np.nan if fold == 4 and x < 0.3 else error


@pytest.mark.parametrize("away", [1e-6, 1e-3, 1.0, 1e3, 1e5])
def test_one_fold_does_not_decide(monkeypatch, away):
    """The search begins far from the best alpha, and must pass a hill of one fold on its way."""
    X, Y = rng.normal(size=(25, 2)), rng.normal(size=(25, 2))
    model = OperatorKernelRegressor("rbf", gamma=0.5, operator=np.array([[1.0, 0.5], [0.5, 1.0]]))
    training = prepare(model, X, Y)
    best = 1e-4
    monkeypatch.setattr(folds, "fold_error", Scripted(best))
    alone = [(np.delete(np.arange(25), i), np.array([i])) for i in range(5)]
    monkeypatch.setattr(folds, "shuffled_folds", lambda *_: alone)
    found, trials = folds.search_folds(training, Squared(), best * away, Options())
    assert 0.3 < found / best < 3
    assert all(np.isfinite(trial.error) for trial in trials)


def test_a_search_near_an_alpha_goes_up_until_a_model_is_solved(monkeypatch):
    """Models without noise that the solver leaves far from their optimum have no error."""
    X, Y = rng.normal(size=(25, 2)), rng.normal(size=(25, 2))
    training = prepare(OperatorKernelRegressor("rbf", gamma=0.5), X, Y)
    monkeypatch.setattr(folds, "fold_error", lambda _, found, test: found.alpha if found.alpha >= 1e-3 else np.inf)
    search = folds.FoldSearch(training, Squared(), Options())
    search.evaluate_near(1e-7)
    assert 1e-3 <= search.best() < 2e-3


def problem(seed):
    """Random data with gaps or several terms, and a kernel."""
    draw = np.random.default_rng(seed)
    n, p, d = draw.integers(100, 150), draw.integers(1, 6), draw.integers(1, 4)
    X = draw.uniform(-1, 1, size=(n + 200, p)) + draw.normal(size=p)
    W = draw.normal(size=(p, d))
    T = X @ W + np.sin(2 * X @ W) * draw.uniform(0, 1)
    T += draw.choice([0.01, 0.1, 0.3, 0.6]) * draw.normal(size=T.shape)
    Y = T[:n].copy()
    if draw.random() < 0.7:
        Y[draw.random(Y.shape) < 0.1] = np.nan
        Y[0] = T[0]
    kernel = draw.choice(["linear", "poly", "rbf", "sum", "operator"])
    M = 0.5 * np.eye(d) + 0.5
    settings = {
        "sum": {"kernel": [("rbf", None), ("linear", None)]},
        "operator": {"kernel": [("rbf", M), ("linear", None)]},
    }.get(kernel, {"kernel": str(kernel)})
    if kernel == "rbf" and draw.random() < 0.5:
        settings["operator"] = M
    return settings, X[:n], Y, X[n:], T[n:]


@pytest.mark.parametrize("seed", range(60))
def test_auto_is_never_far_from_the_best_alpha(seed):
    """Never worse than twice the best alpha of a fine grid in hindsight, for the kernel that was chosen."""
    settings, X, Y, X_new, T_new = problem(seed)
    model = OperatorKernelRegressor(**settings).fit(X, Y)
    gammas = [gamma for gamma in np.atleast_1d(np.asarray(model.gamma_, dtype=object)) if gamma is not None]
    fixed = OperatorKernelRegressor(**settings, gamma=gammas[0] if gammas else "median", tol=1e-4, max_iter=300)

    def error(fitted):
        return np.mean((fitted.predict(X_new) - T_new) ** 2)

    alphas = model.alpha_ * np.geomspace(1e-6, 1e6, 13)
    least = min(error(fitted) for fitted in fixed.fit_path(X, Y, alphas[::-1]))
    assert error(model) <= 2 * least
