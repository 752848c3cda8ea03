"""Bad input is refused with a message that says what was wrong and what to do."""

import numpy as np
import pytest
import scipy.sparse
from helpers.refusals import GAPS, K, N, X, Y, assert_refused, changed
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF

from hilbertlearn import OperatorKernelRegressor, RegularizationPathCV, kernels, losses
from hilbertlearn._utils import validation
from hilbertlearn.metrics import r2_score

rng = np.random.default_rng(3)

# ---------------------------------------------------------------- data


@pytest.mark.parametrize("wrap", [lambda m: m, RegularizationPathCV], ids=["model", "path"])
@pytest.mark.parametrize(
    ("data", "words"),
    [
        ((changed(X, np.nan), Y), ["X contains NaN", "SimpleImputer", "drop these rows"]),
        ((changed(X, np.inf), Y), ["X contains infinity"]),
        ((X, changed(Y, np.inf)), ["y contains infinity"]),
        ((X, changed(Y, -np.inf)), ["y contains infinity"]),
        ((X, Y * np.nan), ["y has no observed entry", "NaN", "at least one sample"]),
        ((X, Y[:-1]), ["X and y", "12", "11"]),
        ((X[:-1], Y), ["X and y", "11", "12"]),
        ((X, None), ["requires y", "None"]),
        ((X[:, 0], Y), ["2D array", "reshape(-1, 1)"]),
        ((X[:0], Y[:0]), ["0 sample(s)", "minimum of 1"]),
        ((X, Y, -np.ones(N)), ["Negative", "sample_weight"]),
        ((X, Y, np.ones(N - 1)), ["sample_weight", "(11,)", "(12,)"]),
        ((X, Y, changed(np.ones(N), np.nan, 0)), ["sample_weight", "NaN"]),
        ((X, Y, np.zeros(N)), ["weight", "zero"]),
        ((X, changed(Y, np.nan, slice(3)), np.r_[np.ones(3), np.zeros(N - 3)]), ["y has no observed", "weight"]),
    ],
)
def test_data(data, words, wrap):
    assert_refused(lambda: wrap(OperatorKernelRegressor()).fit(*data), words)


@pytest.mark.parametrize("y", [np.ones((N, 2, 2)), np.ones((N, 0)), ["a"] * N], ids=["3-D", "no column", "words"])
def test_outputs_that_are_no_vectors(y):
    with pytest.raises(ValueError, match=r"\by\b"):
        OperatorKernelRegressor().fit(X, y)


def test_sparse_outputs():
    assert_refused(
        lambda: OperatorKernelRegressor().fit(X, scipy.sparse.csr_matrix(Y)), ["for y", "toarray"], TypeError
    )


@pytest.mark.parametrize("kernel", [kernels.Tanimoto(), RBF(), lambda A, B: A @ B.T])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_for_kernels_that_are_called(kernel, value):
    assert_refused(lambda: OperatorKernelRegressor(kernel).fit(changed(X, value), Y), ["X contains"])


@pytest.mark.parametrize("wrap", [lambda m: m, RegularizationPathCV], ids=["model", "path"])
def test_new_data(wrap):
    model = wrap(OperatorKernelRegressor()).fit(X, Y)
    assert_refused(lambda: model.predict(X[:, :2]), ["X has 2 features", "expecting 3"])
    assert_refused(lambda: model.predict(changed(X, np.nan)), ["X contains NaN"])
    assert_refused(lambda: model.predict(changed(X, np.inf)), ["X contains infinity"])
    assert_refused(lambda: model.predict(X[:0]), ["0 sample(s)"])
    assert_refused(lambda: model.score(X, Y[:, :1]), ["same shape", "(12, 1)", "(12, 2)"])
    given = wrap(OperatorKernelRegressor("precomputed")).fit(K, Y)
    assert_refused(lambda: given.predict(K[:, :5]), ["X has 5 features", "expecting 12"])


def test_scores_of_other_shapes():
    assert_refused(lambda: r2_score(Y, Y[:5]), ["y_true and y_pred", "(12, 2)", "(5, 2)"])


def test_unfitted():
    model, path = OperatorKernelRegressor(), RegularizationPathCV()
    for action in (lambda: model.predict(X), lambda: model.score(X, Y), model.loo_residuals, model.summary):
        assert_refused(action, ["OperatorKernelRegressor", "not fitted", "Call 'fit'"], NotFittedError)
    for action in (lambda: path.predict(X), lambda: path.score(X, Y)):
        assert_refused(action, ["RegularizationPathCV", "not fitted", "Call 'fit'"], NotFittedError)


# ---------------------------------------------------------------- Gram matrices and operators


@pytest.mark.parametrize(
    ("gram", "words"),
    [
        (X, ["X", "square", "kernel='precomputed'", "(12, 3)"]),
        (changed(K, 9, (0, 1)), ["X (kernel='precomputed')", "not symmetric", "transpose"]),
        (K - np.eye(N), ["X (kernel='precomputed')", "not positive semi-definite", "smallest eigenvalue -1", "add"]),
        (changed(K, np.nan), ["X contains NaN"]),
    ],
)
def test_precomputed(gram, words):
    assert_refused(lambda: OperatorKernelRegressor("precomputed").fit(gram, Y), words)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (lambda A, B: A @ B.T - 1, ["kernel", "not positive semi-definite", "smallest eigenvalue -"]),
        (lambda A, B: np.triu(A @ B.T), ["kernel", "not symmetric", "transpose"]),
        (lambda A, B: A @ B.T * np.nan, ["kernel returned NaN"]),
        (lambda A, B: 1.0, ["kernel", "(12, 12)", "got ()", "kernels.PairwiseKernel"]),
        (lambda A, B: A, ["kernel", "(12, 12)", "(12, 3)", "kernels.PairwiseKernel"]),
        ("additive_chi2", ["kernel", "not positive semi-definite"]),
        ("sigmoid", ["kernel", "not positive semi-definite"]),
    ],
)
def test_kernels_that_are_none(kernel, words):
    assert_refused(lambda: OperatorKernelRegressor(kernel).fit(np.abs(X), Y), words)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("params", [{"coef0": -50.0}, {"degree": 0.5, "coef0": -1}], ids=["negative", "roots"])
@pytest.mark.parametrize("alpha", ["auto", 1e-6])
def test_parameters_that_make_a_named_kernel_indefinite(params, alpha):
    model = OperatorKernelRegressor("poly", kernel_params=params, alpha=alpha)
    assert_refused(lambda: model.fit(X, Y), ["kernel"])


@pytest.mark.parametrize("params", [{"degre": 2}, {"gamma": 1.0}, 5], ids=["unknown", "has its argument", "no dict"])
def test_kernel_params(params):
    model = OperatorKernelRegressor("poly", kernel_params=params)
    assert_refused(lambda: model.fit(X, Y), ["kernel_params"], (ValueError, TypeError))


@pytest.mark.parametrize(
    ("operator", "words"),
    [
        (np.diag([1.0, -1.0]), ["not positive semi-definite", "smallest eigenvalue -1", "hilbertlearn.operators"]),
        (np.array([[1, 0.5], [0, 1]]), ["not symmetric", "0.5", "hilbertlearn.operators"]),
        (np.eye(3), ["shape (2, 2)", "(3, 3)"]),
        (np.ones(2), ["shape (2, 2)", "(2,)"]),
        (2.0, ["shape (2, 2)", "()"]),
        (np.diag([1, np.nan]), ["NaN"]),
        ("graph", ["unknown name 'graph'", "'identity'", "'task_graph'", "'covariance'", "'decay'"]),
        (object(), []),
    ],
)
def test_operators_that_are_none(operator, words):
    model = OperatorKernelRegressor(operator=operator)
    assert_refused(lambda: model.fit(X, Y), ["operator", *words], (ValueError, TypeError))


def test_too_large_for_memory(monkeypatch):
    """Refused before anything large is allocated, with the size and a way out."""
    monkeypatch.setattr(validation, "_physical_memory", lambda: 2.0**30)
    many = rng.normal(size=(20_000, 1))
    words = ["X has 20000 samples", "GiB", "this machine has 1 GiB", "feature_map='auto'", "landmarks"]
    exact = OperatorKernelRegressor(feature_map=None)
    for model in (exact, OperatorKernelRegressor(operator=np.eye(1), feature_map=None), RegularizationPathCV(exact)):
        assert_refused(lambda model=model: model.fit(many, many[:, 0]), words)
    OperatorKernelRegressor(alpha=1.0).fit(many[:500], many[:500, 0])


# ---------------------------------------------------------------- settings

KERNEL_NAMES = ["additive_chi2", "chi2", "cosine", "laplacian", "linear", "poly", "polynomial", "precomputed", "rbf"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kernel": "gauss"}, ["kernel", "'gauss'", *KERNEL_NAMES]),
        ({"kernel": []}, ["kernel", "(kernel, operator) pairs", "[]"]),
        ({"kernel": ["rbf", "linear"]}, ["kernel", "(kernel, operator) pairs", "'linear'"]),
        ({"kernel": [("rbf", None, 1)]}, ["kernel", "(kernel, operator) pairs"]),
        ({"kernel": [("gauss", None)]}, ["kernel", "'gauss'", *KERNEL_NAMES]),
        ({"kernel": [("rbf", None)], "operator": np.eye(2)}, ["operator must be None", "each of its terms"]),
        ({"kernel": [("rbf", np.eye(3)), ("linear", None)]}, ["operator", "(2, 2)", "(3, 3)"]),
        ({"kernel": kernels.OutputTensorKernel("vii")}, ["form", "'vii'", "'i'", "'vi'"]),
        ({"kernel": kernels.OutputTensorKernel(kernel="gauss")}, ["kernel", "'gauss'", *KERNEL_NAMES]),
        (
            {"kernel": kernels.OutputTensorKernel(), "operator": np.eye(2)},
            ["operator must be None", "OutputTensorKernel"],
        ),
        ({"kernel": kernels.OutputTensorKernel(weights=lambda Y: -np.ones(N))}, ["weights", "non-negative", "(12,)"]),
        ({"loss": "absolute"}, ["loss", "'absolute'", "squared", "huber", "epsilon_insensitive", "epsilon_svr"]),
        ({"loss": "absolute"}, ["hinge", "norm", "power", "log", "exp", "ball"]),
        ({"solver": "newton"}, ["solver", "'newton'", "'auto'", "'spectral'", "'splitting'", "'proximal_gradient'"]),
        ({"solver": "newton"}, ["'conjugate_gradient'", "'box_qp'"]),
        ({"solver": "box_qp"}, ["solver='box_qp'", "use 'auto'", "'spectral'"]),
        ({"solver": "spectral", "loss": "huber"}, ["solver='spectral'", "use 'auto'", "'splitting'"]),
    ],
)
def test_names_and_lists(settings, words):
    assert_refused(lambda: OperatorKernelRegressor(**settings).fit(X, Y), words)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kernel": None}, ["kernel must be a name", "callable", "None"]),
        ({"kernel": 3}, ["kernel must be a name", "callable", "3"]),
        ({"loss": 3}, ["loss must be a name", "hilbertlearn.losses", "int"]),
        ({"loss": losses.Huber}, ["loss must be a name", "hilbertlearn.losses", "type"]),
    ],
)
def test_settings_of_another_type(settings, words):
    assert_refused(lambda: OperatorKernelRegressor(**settings).fit(X, Y), words, TypeError)


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("alpha", [0, -1, np.nan, np.inf, "small", None, True, [1]], ["finite number > 0", "'auto'"]),
        ("tol", [0, -1e-6, np.nan, np.inf, "small", None], ["finite number > 0"]),
        ("max_iter", [0, -1, 1.5, "many", None], ["integer > 0"]),
        ("gamma", [0, -1, np.nan, np.inf, "mean", None], ["finite number > 0", "'median'", "'scale'"]),
    ],
)
def test_numbers(name, values, words):
    for value in values:
        model = OperatorKernelRegressor(**{name: value})
        assert_refused(lambda model=model: model.fit(X, Y), [f"{name} must be", *words, f"got {value!r}"])


@pytest.mark.parametrize(
    ("make", "name", "values"),
    [
        (losses.Huber, "kappa", [0, -1, np.nan, "small", None]),
        (losses.Huber, "p", [0.5, 0, -1, np.nan, "2", None]),
        (losses.EpsilonInsensitive, "epsilon", [-1, np.nan, "small", None]),
        (losses.EpsilonInsensitive, "p", [0.5, np.nan, "inf"]),
        (losses.EpsilonSVR, "epsilon", [-1, np.nan, "small", None]),
        (losses.PowerNorm, "eta", [1, 0.5, -2, np.nan, "2", "auto"]),
        *((make, "scale", [0, -1, np.nan, "auto"]) for make in (losses.Norm, losses.PowerNorm, losses.LogNorm)),
        *((make, "scale", [0, -1, np.nan, "auto"]) for make in (losses.ExpNorm, losses.Ball)),
    ],
)
def test_numbers_of_losses(make, name, values):
    for value in values:
        loss = make(**{name: value})
        words = [make.__name__, f"{name} must be a", "number", f"got {value!r}"]
        assert_refused(lambda loss=loss: OperatorKernelRegressor(loss=loss).fit(X, Y), words)
        inside = losses.InfConv(losses.Squared(), loss)
        if name != "p":
            assert_refused(lambda inside=inside: OperatorKernelRegressor(loss=inside).fit(X, Y), words)


@pytest.mark.parametrize(
    "loss",
    [
        losses.EpsilonInsensitive(np.inf),
        losses.EpsilonSVR(np.inf),
        losses.PowerNorm(np.inf),
        losses.PowerNorm(scale=np.inf),
        losses.Norm(np.inf),
        losses.LogNorm(np.inf),
        losses.ExpNorm(np.inf),
        losses.Ball(np.inf),
    ],
    ids=repr,
)
def test_infinite_numbers_of_losses(loss):
    """Only the Huber loss has a limit at infinity that is a loss: the squared one."""
    assert_refused(lambda: OperatorKernelRegressor(loss=loss, alpha=0.1).fit(X, Y), [type(loss).__name__, "inf"])
    limit = OperatorKernelRegressor(loss=losses.Huber(np.inf), alpha=0.1).fit(X, Y)
    assert_allclose(limit.predict(X), OperatorKernelRegressor(alpha=0.1).fit(X, Y).predict(X))


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        (losses.InfConv(losses.Squared(), losses.Hinge()), ["InfConv: second", "Euclidean", "Hinge()"]),
        (losses.InfConv(losses.Huber(1, p=1.5), losses.Squared()), ["InfConv: first", "p=2"]),
        (losses.InfConv(1, losses.Squared()), ["InfConv: first", "got 1"]),
        (losses.Hinge(margin=5), ["Hinge: margin", "value", "prox_conjugate", "got 5"]),
    ],
)
def test_compositions_of_losses(loss, words):
    assert_refused(lambda: OperatorKernelRegressor(loss=loss).fit(X, Y), words)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"cv": "folds"}, ["cv", "'folds'", "'loo'"]),
        ({"cv": 1}, ["cv must be an integer > 1", "got 1"]),
        ({"cv": -3}, ["cv must be an integer > 1", "got -3"]),
        ({"cv": 2.5}, ["cv", "2.5"]),
        ({"aggregate": "max"}, ["aggregate", "'max'", "'mean'", "'median'"]),
        ({"scoring": "best"}, ["scoring", "'best'"]),
        ({"alphas": []}, ["alphas must be positive", "np.logspace"]),
        ({"alphas": [1, 0]}, ["alphas must be positive", "0."]),
        ({"alphas": [1, -1]}, ["alphas must be positive", "-1."]),
        ({"alphas": [1, np.nan]}, ["alphas must be positive", "nan"]),
        ({"alphas": [1, np.inf]}, ["alphas must be positive", "inf"]),
        ({"alphas": [[1, 2]]}, ["alphas must be positive", "[[1., 2.]]"]),
        ({"alphas": "auto"}, ["alphas"]),
    ],
)
def test_path_settings(settings, words):
    assert_refused(lambda: RegularizationPathCV(OperatorKernelRegressor(), **settings).fit(X, Y), words)


def test_path_of_an_estimator_from_elsewhere():
    from sklearn.linear_model import Ridge

    assert_refused(lambda: RegularizationPathCV(Ridge()).fit(X, Y), ["estimator", "Ridge"], (ValueError, TypeError))


@pytest.mark.parametrize("alpha", [0, -1, np.nan, "auto"])
def test_fit_path_alphas(alpha):
    assert_refused(lambda: list(OperatorKernelRegressor().fit_path(X, Y, [1.0, alpha])), ["alphas", "> 0", repr(alpha)])


NO_CLOSED_FORM = {
    "huber": (OperatorKernelRegressor(loss="huber"), Y),
    "terms": (OperatorKernelRegressor([("rbf", None), ("linear", [[1.0, 0.3], [0.3, 1.0]])], alpha=0.1), Y),
    "gaps": (OperatorKernelRegressor(alpha=0.1, operator=[[1.0, 0.3], [0.3, 1.0]]), GAPS),
}


@pytest.mark.parametrize("case", NO_CLOSED_FORM)
def test_leave_one_out_without_a_closed_form(case):
    model, outputs = NO_CLOSED_FORM[case]
    words = ["closed form for the squared loss", "cv=5"]
    assert_refused(lambda: RegularizationPathCV(model, cv="loo").fit(X, outputs), ["cv='loo'", *words])
    assert_refused(model.fit(X, outputs).loo_residuals, ["loo_residuals()", *words])


# ---------------------------------------------------------------- a failure changes nothing


FAILURES = {
    "X with NaN": (changed(X, np.nan), Y),
    "y with infinity": (X, changed(Y, np.inf)),
    "other lengths": (X[:5], Y),
    "no output": (X, Y * np.nan),
    "fewer features, bad weights": (X[:, :2], Y, -np.ones(N)),
    "fewer features, other lengths": (X[:5, :2], Y),
    "fewer features, too few outputs for the operator": (X[:, :2], Y[:, 0]),
}


@pytest.mark.parametrize("case", FAILURES)
@pytest.mark.parametrize("wrap", [lambda m: m, RegularizationPathCV], ids=["model", "path"])
def test_failed_refit_keeps_the_model(case, wrap):
    model = wrap(OperatorKernelRegressor(operator=np.eye(2))).fit(X, Y)
    before, learnt = model.predict(X), {k for k in vars(model) if k.endswith("_")}
    with pytest.raises(ValueError):
        model.fit(*FAILURES[case])
    assert_array_equal(model.predict(X), before)
    assert {k for k in vars(model) if k.endswith("_")} == learnt


@pytest.mark.parametrize(
    "settings",
    [{"loss": "absolute"}, {"alpha": -1}, {"gamma": -1}, {"tol": 0}, {"solver": "box_qp"}, {"operator": np.eye(3)}],
)
def test_refit_with_bad_settings_keeps_the_model(settings):
    model = OperatorKernelRegressor().fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError):
        model.set_params(**settings).fit(X[:, :2], Y)
    assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("model", [OperatorKernelRegressor(), RegularizationPathCV()])
def test_a_model_whose_fit_failed_is_not_fitted(model):
    with pytest.raises(ValueError):
        model.fit(X, Y[:5])
    assert_refused(lambda: model.predict(X), ["not fitted"], NotFittedError)


def test_a_path_leaves_its_estimator_unfitted():
    model = OperatorKernelRegressor()
    list(model.fit_path(X, Y, [0.1, 1.0]))
    assert_refused(lambda: model.predict(X), ["not fitted"], NotFittedError)
