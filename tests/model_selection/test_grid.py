"""RegularizationPathCV over alpha and constants of the loss: against fits made one by one, and GridSearchCV."""

import numpy as np
import pytest
from helpers.machines import prepare
from helpers.small_data import reweighted
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GridSearchCV, KFold

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, RegularizationPathCV, losses
from hilbertlearn.model_selection.grid import error_curve, select_model
from hilbertlearn.training import fit, fit_grid

rng = np.random.default_rng(3)
N, GAMMA = 25, 0.4
X = rng.normal(size=(N, 2))
Y = np.c_[np.sin(2 * X[:, 0]), X[:, 1]] + 0.2 * rng.normal(size=(N, 2)) + [3, 0]
Y[::7] += 3
GRID = np.linspace(0, 1, 15)
CURVES = np.sin(4 * GRID + X[:, :1]) + X[:, 1:] * GRID + 0.05 * rng.normal(size=(N, 15))
CURVES[3] += 2
ALPHAS = np.array([1e-3, 1e-1, 1e-2])  # any order
KAPPAS = [1.0, 0.1, 0.3]
FOLDS = KFold(4, shuffle=True, random_state=0)
EXACT = {"tol": 1e-9, "max_iter": 20_000}


def vectors(loss, **settings):
    return OperatorKernelRegressor("rbf", gamma=GAMMA, loss=loss, **EXACT, **settings)


def squared_errors(model, X, y):
    return ((np.asarray(y) - model.predict(X)) ** 2).sum(axis=1)


def huber_losses(kappa):
    """Twice the Huber loss of rows, written out."""

    def errors(model, X, y):
        r = np.sqrt(squared_errors(model, X, y))
        return np.where(r <= kappa, r**2, 2 * kappa * r - kappa**2)

    return errors


def errors_by_refits(estimator, name, values, error):
    """Errors (n_folds, n_alphas, n_values) of models fitted one by one, each from a cold start."""
    out = np.empty((4, len(ALPHAS), len(values)))
    for k, (train, test) in enumerate(FOLDS.split(X)):
        for i, alpha in enumerate(ALPHAS):
            for j, value in enumerate(values):
                model = estimator.set_params(alpha=alpha, **{f"loss__{name}": value}).fit(X[train], Y[train])
                out[k, i, j] = error(model, X[test], Y[test]).mean()
    return out


def loo(alpha, weights):
    return vectors("squared", alpha=alpha, scale=False).fit(X, Y, weights).loo_residuals()


def median_norm(residuals):
    return np.median(np.linalg.norm(residuals, axis=1))


def auto_kappa():
    """The median norm of leave-one-out residuals of a reweighted ridge regression.

    At the alpha of the least mean norm, the largest of those that are as good.
    """
    distances = np.linalg.norm(Y - np.median(Y, axis=0), axis=1)
    weights = np.minimum(1, np.median(distances) / distances)
    errors = np.array([np.linalg.norm(loo(alpha * N / weights.sum(), weights), axis=1).mean() for alpha in ALPHAS])
    return median_norm(reweighted(loo, Y, ALPHAS[errors < (1 + 1e-4) * errors.min()].max(), median_norm))


def test_errors_equal_cold_refits_compared_by_one_loss():
    path = RegularizationPathCV(vectors(losses.Huber()), ALPHAS, loss_params={"kappa": KAPPAS}, cv=FOLDS).fit(X, Y)
    errors = errors_by_refits(vectors(losses.Huber()), "kappa", KAPPAS, huber_losses(auto_kappa()))
    assert path.errors_.shape == path.standard_errors_.shape == (3, 3)
    assert_allclose(path.errors_, errors.mean(axis=0), rtol=1e-4)
    assert_allclose(path.standard_errors_, errors.std(axis=0) / 2, rtol=1e-3)
    i, j = np.unravel_index(errors.mean(axis=0).argmin(), (3, 3))
    assert (path.alpha_, path.loss_params_) == (ALPHAS[i], {"kappa": KAPPAS[j]})
    assert path.loss_.kappa == path.best_estimator_.loss_.kappa == KAPPAS[j]
    assert path.loss_grid_ == [{"kappa": kappa} for kappa in KAPPAS]
    cold = vectors(losses.Huber(KAPPAS[j]), alpha=ALPHAS[i]).fit(X, Y)
    assert_allclose(path.predict(X), cold.predict(X), atol=1e-4)


def test_tubes_are_compared_by_squared_errors():
    values, model = [0.4, 0.05], vectors(losses.EpsilonInsensitive(0.1))
    path = RegularizationPathCV(model, ALPHAS, loss_params={"epsilon": values}, cv=FOLDS, aggregate="median").fit(X, Y)
    errors = errors_by_refits(vectors(losses.EpsilonInsensitive(0.1)), "epsilon", values, squared_errors)
    assert_allclose(path.errors_, np.median(errors, axis=0), rtol=1e-4)


@pytest.mark.parametrize("p", [1, 2])
def test_same_choice_as_grid_search(p):
    model = FunctionalRegressor("rbf", gamma=GAMMA, loss=losses.Huber(1.0, p=p), center=True, tol=1e-8)
    shared = {"cv": FOLDS, "scoring": "neg_mean_absolute_error"}
    path = RegularizationPathCV(model, ALPHAS, loss_params={"kappa": KAPPAS}, **shared).fit(X, CURVES)
    search = GridSearchCV(model, {"alpha": ALPHAS, "loss__kappa": KAPPAS}, **shared).fit(X, CURVES)
    assert path.alpha_ == search.best_params_["alpha"]
    assert path.loss_params_["kappa"] == search.best_params_["loss__kappa"]
    assert_allclose(path.errors_, -search.cv_results_["mean_test_score"].reshape(3, 3), rtol=1e-3)
    assert_allclose(path.predict(X), search.predict(X), atol=1e-3)


def test_the_chosen_model_is_that_of_a_fit_with_its_settings():
    """Also where the centre of curves is smoothed as the loss says."""
    model = FunctionalRegressor("rbf", gamma=GAMMA, loss=losses.Huber(p=1), tol=1e-8)
    path = RegularizationPathCV(model, ALPHAS, loss_params={"kappa": "auto"}, cv=3).fit(X, CURVES)
    plain = FunctionalRegressor("rbf", gamma=GAMMA, loss=path.loss_, alpha=path.alpha_, tol=1e-8).fit(X, CURVES)
    assert_allclose(path.predict(X), plain.predict(X), atol=1e-4)
    assert path.best_estimator_.get_params()["loss__kappa"] == path.loss_params_["kappa"]


def test_several_constants_are_combined_in_order():
    loss = losses.InfConv(losses.Squared(), losses.Norm(1.0))
    params = {"second__scale": [0.3, 1.0], "first": [losses.Squared(), losses.EpsilonInsensitive(0.1)]}
    model = OperatorKernelRegressor("rbf", gamma=GAMMA, loss=loss)
    path = RegularizationPathCV(model, [1e-2], loss_params=params, cv=2).fit(X, Y)
    assert path.errors_.shape == (1, 4)
    assert [own["second__scale"] for own in path.loss_grid_] == [0.3, 0.3, 1.0, 1.0]


def test_auto_grid_is_multiples_of_the_losses_own_constant():
    path = RegularizationPathCV(vectors("huber"), ALPHAS, loss_params={"kappa": "auto"}, cv=3).fit(X, Y)
    found = [params["kappa"] for params in path.loss_grid_]
    assert_allclose(found, auto_kappa() * 2.0 ** np.arange(-3, 4), rtol=1e-6)


@pytest.mark.parametrize("space", ["grid", "eigen"])
def test_warm_starts_along_both_ways_reach_the_cold_solutions(space):
    """Also next to the squared loss, which in a basis has a column less."""
    model = FunctionalRegressor("rbf", gamma=GAMMA, loss="squared", space=space, **EXACT)
    training, options = prepare(model, X, CURVES), model.spec().options
    for tried in (
        [losses.Huber(np.inf), losses.Huber(0.5), losses.Huber(0.1)],
        [losses.EpsilonInsensitive(0.0), losses.EpsilonInsensitive(0.1)],
    ):
        alphas = [1e-1, 1e-2, 1e-3]
        found = [(j, one) for j, one in fit_grid(training, tried, alphas, options)]
        assert [j for j, _ in found] == np.repeat(np.arange(len(tried)), 3).tolist()
        for place, (j, one) in enumerate(found):
            cold = fit(training, tried[j], alphas[place % 3], options)
            assert one.alpha == alphas[place % 3] and one.solution.converged
            assert_allclose(one.problem.fitted(one.solution.dual), cold.problem.fitted(cold.solution.dual), atol=1e-4)


def test_warm_starts_save_iterations():
    model = FunctionalRegressor("rbf", gamma=GAMMA, loss="squared")
    training, options, alphas = prepare(model, X, CURVES), model.spec().options, np.geomspace(1, 1e-3, 7)
    for tried in (
        [losses.Huber(kappa) for kappa in np.geomspace(2, 0.5, 7)],
        [losses.EpsilonInsensitive(epsilon) for epsilon in np.geomspace(0.02, 0.1, 7)],
    ):
        warm = sum(one.solution.n_iter for _, one in fit_grid(training, tried, alphas, options))
        cold = sum(fit(training, loss, alpha, options).solution.n_iter for loss in tried for alpha in alphas)
        assert warm < 0.85 * cold


# ---------------------------------------------------------------- rules


def test_one_standard_error_takes_the_largest_alpha_then_the_most_robust_loss():
    alphas, tried = np.array([0.1, 1.0, 10.0]), [losses.Huber(kappa) for kappa in (3.0, 1.0, 2.0)]
    errors = np.array([[1.0, 2.0, 1.1], [1.4, 1.3, 1.2], [3.0, 2.0, 1.6]])
    spread = np.full((3, 3), 0.45)
    assert select_model(alphas, tried, errors, spread, "best") == (0, 0)
    assert select_model(alphas, tried, errors, spread, "one_standard_error") == (1, 1)
    assert select_model(alphas, tried, errors, 0.7 * np.ones((3, 3)), "one_standard_error") == (2, 2)


def test_one_standard_error_takes_the_widest_tube():
    tried = [losses.EpsilonInsensitive(epsilon) for epsilon in (0.1, 0.5, 0.3)]
    errors, spread = np.array([[1.0, 1.2, 1.1]]), np.full((1, 3), 0.15)
    assert select_model(np.ones(1), tried, errors, spread, "one_standard_error") == (0, 2)
    assert select_model(np.ones(1), tried, errors, 2 * spread, "one_standard_error") == (0, 1)


def test_one_standard_error_along_a_path():
    path = RegularizationPathCV(vectors("squared"), np.geomspace(1e-5, 10, 12)).fit(X, Y)
    simple = RegularizationPathCV(vectors("squared"), np.geomspace(1e-5, 10, 12), rule="one_standard_error").fit(X, Y)
    assert_array_equal(path.errors_, simple.errors_)
    best = path.errors_.argmin()
    within = path.errors_ <= path.errors_[best] + path.standard_errors_[best]
    assert simple.alpha_ == path.alphas_[within].max() >= path.alpha_
    assert simple.loss_params_ == {} and simple.loss_grid_ is None and simple.errors_.shape == (12,)


def test_error_curve_of_a_grid_is_that_of_its_columns():
    errors, weights = rng.uniform(size=(5, 3, 2)), np.ones(5)
    for aggregate in ("mean", "median"):
        whole = error_curve(errors, weights, aggregate)
        for j in range(2):
            for mine, theirs in zip(whole, error_curve(errors[:, :, j], weights, aggregate)):
                assert_allclose(mine[:, j], theirs)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss_params": [1, 2]}, "loss_params must be None or a dict"),
        ({"loss_params": {}}, "loss_params must be None or a dict"),
        ({"loss_params": {"epsilon": [1.0]}}, "has no setting 'epsilon'; it has 'kappa', 'p'"),
        ({"loss_params": {"kappa": []}}, "must be a list of values or 'auto'"),
        ({"loss_params": {"kappa": "many"}}, "must be a list of values or 'auto'"),
        ({"loss_params": {"kappa": [-1.0]}}, "kappa must be a finite number > 0"),
        ({"loss_params": {"p": "auto"}}, "'auto' is for constants"),
        ({"loss_params": {"kappa": [1.0]}, "cv": "loo"}, "cv='loo' has a closed form"),
        ({"rule": "simplest"}, "rule: unknown name 'simplest'"),
    ],
)
def test_errors_name_what_is_wrong(settings, words):
    with pytest.raises(ValueError) as error:
        RegularizationPathCV(vectors(losses.Huber(1.0)), ALPHAS, **settings).fit(X, Y)
    assert words in str(error.value)


@pytest.mark.parametrize("aggregate", ["mean", "median"])
def test_standard_errors_do_not_depend_on_the_unit_of_weights(aggregate):
    """Models do not, so the rule of one standard error must not; nor are samples that come twice more evidence."""
    weights = np.random.default_rng(3).uniform(0.5, 2.0, len(X))
    settings = {"alphas": np.logspace(-4, 2, 12), "rule": "one_standard_error", "aggregate": aggregate}

    def path(*data):
        return RegularizationPathCV(OperatorKernelRegressor("rbf", gamma=1.0), **settings).fit(*data)

    one = path(X, Y, weights)
    for unit in (1e-3, 1e3):
        other = path(X, Y, unit * weights)
        assert_allclose(other.standard_errors_, one.standard_errors_, rtol=1e-6)
        assert other.alpha_ == one.alpha_
    assert_allclose(path(np.vstack([X, X]), np.vstack([Y, Y])).standard_errors_, path(X, Y).standard_errors_, rtol=1e-6)
    if aggregate == "mean":  # of a weighted mean of errors with one variance each
        errors = np.array([0.0, 1.0, 4.0])[:, None]
        shares, centre = np.array([0.5, 0.25, 0.25]), 1.25
        expected = np.sqrt(sum(s**2 * (e - centre) ** 2 for s, e in zip(shares, errors[:, 0], strict=True)))
        assert_allclose(error_curve(errors, 8 * shares, "mean")[1], [expected])
