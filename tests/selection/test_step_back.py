"""Selected settings are solved to the tolerance, and are nearly as good as the best alpha in hindsight."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import (
    ConformalPredictor,
    FunctionalRegressor,
    LinkPredictor,
    OperatorKernelRegressor,
    QuantileRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    datasets,
    features,
    kernels,
    losses,
    operators,
    spaces,
)
from hilbertlearn.data.functions import IrregularFunctions
from hilbertlearn.machine.wrapping import fit_with_parts
from hilbertlearn.selection.step_back import automatic_bounds, step_back, with_larger_constants

TOL = 1e-6
PROBLEMS = {}


def problem(build):
    """Register a problem: a function that returns (estimator, X, Y, error of a fitted estimator)."""
    PROBLEMS[build.__name__] = build
    return build


def root_mean_square(X, truth):
    return lambda model: float(np.sqrt(np.mean((np.asarray(model.predict(X)) - truth) ** 2)))


def vectors(estimator, n=100, noise=0.1, outliers=0, gaps=0.0, seed=0):
    """Three smooth functions of three inputs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 300, 3))
    truth = np.sin(X @ rng.normal(size=(3, 3))) + 0.5 * np.cos(X[:, :1])
    Y = truth[:n] + noise * rng.normal(size=(n, 3))
    Y[:outliers] += 8 * rng.normal(size=(outliers, 3))
    Y[rng.random(Y.shape) < gaps] = np.nan
    return estimator, X[:n], Y, root_mean_square(X[n:], truth[n:])


def curves(estimator, n=80, noise=0.05, outliers=0, points=0.0, gaps=0.0, seed=0):
    """Sine waves whose phase and amplitude depend on two inputs, on 30 points."""
    rng = np.random.default_rng(seed)
    X, t = rng.normal(size=(n + 200, 2)), np.linspace(0, 1, 30)
    truth = np.sin(2 * np.pi * (t + X[:, :1] / 4)) * (1 + 0.5 * X[:, 1:])
    Y = truth[:n] + noise * rng.normal(size=(n, 30))
    Y[:outliers] = 4 * rng.normal(size=(outliers, 1)) + rng.normal(size=(outliers, 30))
    spoilt = rng.random(Y.shape) < points
    Y[spoilt] += 5 * rng.normal(size=spoilt.sum())
    Y[rng.random(Y.shape) < gaps] = np.nan
    return estimator, X[:n], Y, root_mean_square(X[n:], truth[n:])


@problem
def squared_loss():
    return vectors(OperatorKernelRegressor())


@problem
def no_noise():
    return vectors(OperatorKernelRegressor(), noise=0.0)


@problem
def gaps():
    return vectors(OperatorKernelRegressor(), gaps=0.2)


@problem
def outliers_under_the_squared_loss():
    return vectors(OperatorKernelRegressor(), outliers=8)


@problem
def one_output():
    model, X, Y, _ = vectors(OperatorKernelRegressor(), n=400)
    return model, X[:100], Y[:100, 0], root_mean_square(X[100:], Y[100:, 0])


@problem
def outputs_of_other_units():
    model, X, Y, error = vectors(OperatorKernelRegressor(), n=100)
    units = np.array([1e-6, 1.0, 1e6])

    class InUnits:
        def __init__(self, fitted):
            self.fitted = fitted

        def predict(self, X):
            return self.fitted.predict(X) / units

    return model, X, Y * units, lambda fitted: error(InUnits(fitted))


@problem
def repeated_samples():
    model, X, Y, error = vectors(OperatorKernelRegressor(), n=60)
    return model, np.repeat(X, 2, axis=0), np.repeat(Y, 2, axis=0), error


@problem
def single_precision():
    model, X, Y, error = vectors(OperatorKernelRegressor())
    return model, X.astype(np.float32), Y, lambda fitted: error(fitted)


@problem
def landmarks():
    return vectors(OperatorKernelRegressor(feature_map=features.Landmarks(60, random_state=0)))


@problem
def coupled_outputs():
    return vectors(OperatorKernelRegressor("rbf", operator=operators.Covariance()))


@problem
def sum_of_kernels():
    return vectors(OperatorKernelRegressor([("rbf", None), ("linear", None)]))


@problem
def huber_with_outliers():
    return vectors(OperatorKernelRegressor(loss="huber"), outliers=8)


@problem
def huber_without_noise_with_gaps():
    """The leave-one-out error falls to the end of the grid, where the iterations do not converge."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(380, 3))
    truth = np.c_[X[:, 0], np.sin(X[:, 1])]
    Y = truth[:80].copy()
    Y[::9, 1] = np.nan
    return OperatorKernelRegressor("rbf", loss="huber"), X[:80], Y, root_mean_square(X[80:], truth[80:])


@problem
def huber_of_entries():
    return vectors(OperatorKernelRegressor(loss=losses.Huber(p=1)), n=150)


@problem
def epsilon_insensitive():
    return vectors(OperatorKernelRegressor(loss="epsilon_insensitive"))


@problem
def epsilon_svr_with_outliers():
    return vectors(OperatorKernelRegressor(loss="epsilon_svr"), outliers=8)


@problem
def norm_without_noise_with_gaps():
    return vectors(OperatorKernelRegressor(loss="norm"), n=80, noise=0.0, gaps=0.1)


@problem
def vector_field():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(360, 2))
    truth = np.c_[-X[:, 1], X[:, 0]] * np.exp(-2 * (X**2).sum(axis=1))[:, None]
    Y = truth[:60] + 0.03 * rng.normal(size=(60, 2))
    return (
        OperatorKernelRegressor(kernels.DivergenceFreeKernel(gamma=1.0)),
        X[:60],
        Y,
        root_mean_square(X[60:], truth[60:]),
    )


@problem
def unlabelled_samples():
    model, X, Y, error = vectors(OperatorKernelRegressor("rbf", manifold=1e-4), n=120)
    Y[60:] = np.nan
    return model, X, Y, error


@problem
def batches():
    model, X, Y, error = vectors(OperatorKernelRegressor("rbf", feature_map=features.Landmarks(60, random_state=0)))
    return model, _Batches(X, Y), None, error


class _Batches:
    def __init__(self, X, Y):
        self.X, self.Y = X, Y

    def __call__(self):
        return ((self.X[i : i + 40], self.Y[i : i + 40]) for i in range(0, len(self.X), 40))


@problem
def curves_on_a_grid():
    return curves(FunctionalRegressor("rbf"))


@problem
def curves_with_gaps():
    return curves(FunctionalRegressor("rbf"), gaps=0.2)


@problem
def curves_in_a_basis():
    return curves(FunctionalRegressor("rbf", space=spaces.Fourier(7)))


@problem
def curves_at_points_of_their_own():
    model, X, Y, error = curves(FunctionalRegressor("rbf"), n=40)
    t, rng = np.linspace(0, 1, 30), np.random.default_rng(0)
    chosen = [np.sort(rng.choice(30, 12, replace=False)) for _ in Y]
    irregular = IrregularFunctions([t[one] for one in chosen], [row[one] for row, one in zip(Y, chosen)])

    class OnGrid:
        def __init__(self, fitted):
            self.fitted = fitted

        def predict(self, X):
            return np.array(self.fitted.predict(X, grid=t).values)

    return model, X, irregular, lambda fitted: error(OnGrid(fitted))


@problem
def huber_with_outlying_curves():
    return curves(FunctionalRegressor("rbf", loss="huber"), outliers=8)


@problem
def huber_of_points_with_outlying_points():
    return curves(FunctionalRegressor("rbf", loss=losses.Huber(p=1)), points=0.05)


@problem
def huber_of_points_without_noise():
    """Smooth curves, one in ten of which is replaced by another function; the model interpolates the others."""
    X, truth, _, grid = datasets.make_gaussian_process_curves(80, random_state=1)
    Y, wrong = datasets.corrupt_curves(truth.copy(), 0.1, random_state=1)
    K = rbf_kernel(X, gamma=0.01)
    model = FunctionalRegressor(
        "precomputed",
        loss=losses.Huber(p=1),
        space=spaces.Grid("equal"),
        operator=operators.Integral("rbf", 100.0),
        grid=grid,
    )
    return model, K, Y, root_mean_square(K[~wrong], truth[~wrong])


@problem
def quantiles():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(600, 1))
    y = np.sin(2 * X[:, 0]) + (0.2 + 0.1 * X[:, 0]) * rng.normal(size=600)
    model = QuantileRegressor([0.1, 0.5, 0.9], kernel="rbf", coupling=1.0)
    return model, X[:80], y[:80], lambda fitted: 1 - fitted.score(X[80:], y[80:])


@problem
def rankings():
    X, y, *_ = datasets.make_label_rankings(260, random_state=0)
    return StructuredPredictor(output_loss="kendall"), X[:80], y[:80], lambda model: -model.score(X[80:], y[80:])


@problem
def label_sets():
    """So many new samples that the share of wrong labels is known to one part in a hundred."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5400, 4))
    Y = (X @ rng.normal(size=(4, 6)) + 0.5 * rng.normal(size=(5400, 6)) > 0.5).astype(int)
    return StructuredPredictor(), X[:400], Y[:400], lambda model: -model.score(X[400:], Y[400:])


@problem
def links():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    near = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    A = np.triu(rng.random((120, 120)) < near, 1)
    A = (A | A.T).astype(float)
    pairs = np.triu_indices(60, 1)

    def error(model):
        return 1 - roc_auc_score(A[60:, 60:][pairs], model.pair_scores(X[60:])[pairs])

    return LinkPredictor(similarities=None), X[:60], A[:60, :60], error


def with_numbers(model):
    """The estimator with the selected kernel and constants of the loss as numbers, and alpha left open."""
    settings = {"loss": getattr(model, "loss_", None), "gamma": getattr(model, "gamma_", None)}
    is_averaged = isinstance(getattr(model, "kernel_", None), kernels.AverageKernel)
    if is_averaged or (isinstance(model.kernel, str) and model.kernel == "auto"):
        settings["kernel"] = model.kernel_
    if getattr(model, "scale_inputs", None) == "auto" and not is_averaged:
        settings["scale_inputs"] = any(kernel.scaling is not None for kernel in model.state_.kernels)
    if getattr(model, "scale", None) == "auto":
        settings["scale"] = model.space_.scale is not None
    known = model.get_params(deep=False)
    return clone(model).set_params(
        **{k: v for k, v in settings.items() if k in known and np.ndim(v) == 0 and v is not None}
    )


@pytest.mark.parametrize("name", PROBLEMS)
def test_automatic_settings_are_solved_and_nearly_the_best(name):
    """Against all alphas of a fine grid with which the solver converges, the other settings as selected."""
    estimator, X, Y, error = PROBLEMS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = clone(estimator).fit(X, Y)
    assert model.dual_gap_ <= TOL
    fixed, errors = with_numbers(model), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for factor in 10.0 ** np.arange(-2, 2.1, 0.5):
            other = fixed.set_params(alpha=model.alpha_ * factor).fit(X, Y)
            if other.dual_gap_ <= TOL:
                errors.append(error(other))
    assert error(model) <= 1.1 * min(errors)


def test_thirty_kinds_of_problems():
    assert len(PROBLEMS) >= 30


# ---------------------------------------------------------------- the rule itself


def converging_from(least):
    """A solver that converges where its settings are at least so large; it counts its calls."""
    calls = []

    def solve(factor):
        calls.append(factor)
        return factor, factor >= least

    return solve, calls


def test_the_first_settings_that_converge_are_taken():
    solve, calls = converging_from(20.0)
    factor, converged = step_back(solve, lambda found: found[1])
    assert converged and 20.0 <= factor < 20.0 * 10**0.5
    assert calls == sorted(calls) and calls[0] == 1.0


def test_settings_stay_where_none_converge():
    solve, calls = converging_from(np.inf)
    assert step_back(solve, lambda found: found[1]) == (1.0, False)
    assert max(calls) <= 1e4 * (1 + 1e-12)


def test_settings_that_converge_are_solved_once():
    solve, calls = converging_from(0.0)
    assert step_back(solve, lambda found: found[1]) == (1.0, True) and calls == [1.0]


def test_bounds_of_losses_grow_and_tubes_do_not():
    """A wider tube of the epsilon-insensitive losses would cost accuracy and does not help a solver."""
    bounds = {
        losses.Huber(): ("kappa",),
        losses.Huber(p=1): ("kappa",),
        losses.Huber(0.3): (),
        losses.EpsilonInsensitive(): (),
        losses.EpsilonSVR(): (),
        losses.InfConv(losses.PowerNorm(1.5), losses.Huber()): ("second__kappa",),
    }
    for setting, names in bounds.items():
        loss = setting.resolve(np.array([[1.0], [2.0]])) if setting.needs_residuals else setting
        assert automatic_bounds(setting, loss) == names
        assert with_larger_constants(loss, names, 10.0).bound == pytest.approx(loss.bound * (10.0 if names else 1.0))


def unsolved():
    """A model whose leave-one-out error falls to the end of the grid, where its solver does not converge."""
    return PROBLEMS["huber_without_noise_with_gaps"]()


def test_given_settings_stay_and_warn():
    model, X, Y, _ = unsolved()
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        fitted = clone(model).set_params(alpha=1e-11, loss=losses.Huber(1e-3)).fit(X, Y)
    assert fitted.alpha_ == 1e-11 and fitted.loss_.kappa == 1e-3


def test_only_what_was_selected_changes():
    model, X, Y, _ = unsolved()
    fitted = clone(model).set_params(loss=losses.Huber(1e-3)).fit(X, Y)
    assert fitted.loss_.kappa == 1e-3 and fitted.dual_gap_ <= TOL


def test_few_iterations_step_back_less_far_than_the_smoothest_model():
    """With hardly any iterations nothing converges: the selected settings stay, with the warning."""
    model, X, Y, _ = unsolved()
    with pytest.warns(ConvergenceWarning):
        fitted = clone(model).set_params(max_iter=2).fit(X, Y)
    assert fitted.dual_gap_ > TOL


def test_paths_over_the_default_alphas_step_back():
    X, Y = unsolved()[1:3]
    base = OperatorKernelRegressor("rbf", loss="huber", gamma=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the folds
        path = RegularizationPathCV(base, cv=2).fit(X[:30], Y[:30])
    assert path.best_estimator_.dual_gap_ <= TOL
    assert path.alpha_ == path.best_estimator_.alpha_ and path.loss_ is path.best_estimator_.loss_


def test_models_of_folds_step_back_too():
    x = np.sort(np.random.default_rng(0).uniform(-3, 3, 60))[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = ConformalPredictor(OperatorKernelRegressor(loss="huber"), random_state=1).fit(x, np.sin(x[:, 0]))
    assert np.diff(model.predict_interval(x)).max() < 1e-3


def test_models_of_parts_have_the_settings_that_the_whole_fit_used():
    x = np.linspace(-3, 3, 40)[:, None]
    model = OperatorKernelRegressor(loss="huber", max_iter=65)
    part = fit_with_parts(model, x, np.sin(x[:, 0]))(np.delete(np.arange(40), 13))
    selected = OperatorKernelRegressor(loss="huber").fit(x, np.sin(x[:, 0])).alpha_
    n_steps = np.log10(model.alpha_ / selected) / 0.5
    assert n_steps > 0.9 and n_steps == pytest.approx(round(n_steps), abs=1e-3) and model.dual_gap_ <= TOL
    assert part.alpha_ == pytest.approx(40 / 39 * model.alpha_) and part.loss_.kappa == model.loss_.kappa
