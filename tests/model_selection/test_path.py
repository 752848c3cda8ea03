"""RegularizationPathCV: its error curve against fits made one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer, make_scorer, mean_absolute_error
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, LeaveOneOut, PredefinedSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hilbertlearn import OperatorKernelRegressor, RegularizationPathCV, kernels, losses
from hilbertlearn.model_selection.grid import error_curve

N, D, GAMMA = 24, 2, 0.3
rng = np.random.default_rng(6)
X = rng.normal(size=(N, 2))
Y = np.c_[np.sin(2 * X[:, 0]), X[:, 1]] + 0.2 * rng.normal(size=(N, D)) + [3, 0]
GAPS = Y.copy()
GAPS[::4, 0] = GAPS[1::5, 1] = np.nan
WEIGHTS = rng.uniform(0.3, 3, N)
M = np.array([[1, 0.4], [0.4, 0.5]])
ALPHAS = np.array([1e-4, 1e-1, 1e-2, 1.0, 1e-3])  # any order
FOLDS = KFold(4, shuffle=True, random_state=0)


def model(**settings):
    return OperatorKernelRegressor(**{"gamma": GAMMA, **settings})


def squared_errors_by_refits(alphas, weights=None, **settings):
    """Squared errors (n, n_alphas) of each sample without it, alpha times the sum of weights held fixed."""
    w = np.ones(N) if weights is None else weights
    out = np.empty((N, len(alphas)))
    for i in range(N):
        rest = np.arange(N) != i
        for j, alpha in enumerate(alphas):
            without = model(alpha=alpha * w.sum() / w[rest].sum(), **settings).fit(X[rest], Y[rest], w[rest])
            out[i, j] = ((Y[i] - without.predict(X[i : i + 1])[0]) ** 2).sum()
    return out


def scores_by_refits(alphas, scorer, folds=FOLDS, **settings):
    """Scores (n_folds, n_alphas) of models fitted one by one, each from a cold start."""
    out = []
    for train, test in folds.split(X):
        fits = [model(alpha=alpha, **settings).fit(X[train], Y[train]) for alpha in alphas]
        out.append([scorer(fit, X[test], Y[test]) for fit in fits])
    return np.array(out)


def own_losses(fit, X, y):
    """Twice the loss of each row, over observed entries, written out for the three losses of these tests."""
    r = np.sqrt(np.nansum((np.asarray(y) - fit.predict(X)) ** 2, axis=1))
    if isinstance(fit.loss, losses.Huber):
        return np.where(r <= fit.loss.kappa, r**2, 2 * fit.loss.kappa * r - fit.loss.kappa**2)
    if isinstance(fit.loss, losses.EpsilonInsensitive):
        return np.maximum(r - fit.loss.epsilon, 0) ** 2
    return r**2


def own_score(fit, X, y):
    return -own_losses(fit, X, y).mean()


# ---------------------------------------------------------------- error curves


@pytest.mark.parametrize("settings", [{}, {"operator": M}, {"center": False}], ids=["", "operator", "not centred"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
def test_leave_one_out_curve_equals_refits(settings, weights):
    path = RegularizationPathCV(model(**settings), ALPHAS, cv="loo").fit(X, Y, weights)
    errors = squared_errors_by_refits(ALPHAS, weights, **settings)
    w = np.ones(N) if weights is None else weights
    curve = np.average(errors, axis=0, weights=w)
    assert_allclose(path.errors_, curve, rtol=1e-7)
    assert path.alpha_ == ALPHAS[np.argmin(curve)]
    assert_allclose(path.alphas_, ALPHAS)
    assert path.n_splits_ == N
    if weights is None:
        assert_allclose(path.standard_errors_, errors.std(axis=0) / np.sqrt(N), rtol=1e-6)


LOSSES = {
    "squared": {},
    "huber": {"loss": losses.Huber(0.3)},
    "insensitive, operator": {"loss": losses.EpsilonInsensitive(0.2), "operator": M},
}


@pytest.mark.parametrize("settings", LOSSES)
@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error", make_scorer(mean_absolute_error)])
def test_fold_curve_equals_cold_refits(settings, scoring):
    settings = {**LOSSES[settings], "tol": 1e-10, "max_iter": 10_000}
    path = RegularizationPathCV(model(**settings), ALPHAS, cv=FOLDS, scoring=scoring).fit(X, Y)
    scorer = {None: own_score}.get(scoring) or (get_scorer(scoring) if isinstance(scoring, str) else scoring)
    errors = -scores_by_refits(ALPHAS, scorer, **settings)
    assert_allclose(path.errors_, errors.mean(axis=0), rtol=1e-4, atol=1e-5)
    assert_allclose(path.standard_errors_, errors.std(axis=0) / np.sqrt(4), rtol=1e-3, atol=1e-5)
    assert path.alpha_ == ALPHAS[np.argmin(errors.mean(axis=0))]
    assert path.n_splits_ == 4


def test_fold_curve_with_sample_weights_and_gaps():
    settings = {"loss": losses.Huber(0.3), "tol": 1e-10, "max_iter": 10_000}
    path = RegularizationPathCV(model(**settings), ALPHAS, cv=FOLDS).fit(X, GAPS, WEIGHTS)
    errors = []
    for train, test in FOLDS.split(X):
        fits = [model(alpha=alpha, **settings).fit(X[train], GAPS[train], WEIGHTS[train]) for alpha in ALPHAS]
        rows = [own_losses(fit, X[test], GAPS[test]) for fit in fits]
        w = WEIGHTS[test] * np.isfinite(GAPS[test]).any(axis=1)  # a sample without outputs does not count
        errors.append([w @ row / w.sum() for row in rows])
    assert_allclose(path.errors_, np.mean(errors, axis=0), rtol=1e-4, atol=1e-5)


def test_median_of_leave_one_out():
    path = RegularizationPathCV(model(), ALPHAS, aggregate="median").fit(X, Y)
    errors = squared_errors_by_refits(ALPHAS)
    centre = np.median(errors, axis=0)
    assert_allclose(path.errors_, centre, rtol=1e-7)
    spread = np.median(np.abs(errors - centre), axis=0)
    assert_allclose(path.standard_errors_, np.sqrt(np.pi / 2) * 1.4826 * spread / np.sqrt(N), rtol=1e-6)
    assert path.alpha_ == ALPHAS[np.argmin(centre)]


def test_median_of_folds():
    path = RegularizationPathCV(model(), ALPHAS, cv=FOLDS, aggregate="median").fit(X, Y)
    assert_allclose(path.errors_, np.median(-scores_by_refits(ALPHAS, own_score), axis=0), rtol=1e-6)


def test_median_hardly_sees_a_few_corrupted_samples():
    rough = Y.copy()
    rough[:4] += 1000 * rng.normal(size=(4, D))
    mean, median = (RegularizationPathCV(model(), aggregate=a).fit(X, rough).errors_ for a in ("mean", "median"))
    assert median.min() < mean.min() / 10


def test_error_curve_by_hand():
    errors, weights = np.array([[1.0, 2.0], [3.0, 2.0], [8.0, 2.0]]), np.array([1.0, 2.0, 1.0])
    mean, standard_error = error_curve(errors, weights, "mean")
    assert_allclose(mean, [15 / 4, 2])
    assert_allclose(standard_error, [np.sqrt(2.75**2 + 2**2 * 0.75**2 + 4.25**2) / 4, 0])  # whatever their unit is
    median, _ = error_curve(errors, weights, "median")
    assert_allclose(median, [3, 2])


def test_leave_one_out_with_a_scorer():
    """Ten groups of held-out predictions are scored."""
    path = RegularizationPathCV(model(), ALPHAS, scoring="neg_mean_absolute_error").fit(X, Y)
    for j, alpha in enumerate(ALPHAS):
        residuals = model(alpha=alpha).fit(X, Y).loo_residuals()
        groups = [np.abs(r).mean() for r in np.array_split(residuals, 10)]
        assert path.errors_[j] == pytest.approx(np.mean(groups), rel=1e-6)
        assert path.standard_errors_[j] == pytest.approx(np.std(groups) / np.sqrt(10), rel=1e-5)
    assert path.n_splits_ == 10


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("copies", [1, 2])
def test_leave_one_out_with_a_scorer_on_few_samples(n, copies):
    few = np.repeat(X[:n], copies, axis=0), np.repeat(Y[:n], copies, axis=0)
    path = RegularizationPathCV(model(), ALPHAS, scoring="neg_mean_squared_error").fit(*few)
    assert np.isfinite(path.errors_).all()


def test_leave_one_out_with_a_scorer_on_copies_of_one_sample():
    path = RegularizationPathCV(model(), ALPHAS, scoring="neg_mean_squared_error").fit(np.ones((3, 2)), np.ones(3))
    assert np.isfinite(path.predict(X)).all()


# ---------------------------------------------------------------- choices


def test_default_validation():
    assert RegularizationPathCV().fit(X, Y).n_splits_ == N
    assert RegularizationPathCV(model(loss=losses.Huber(np.inf)), ALPHAS).fit(X, Y).n_splits_ == N
    assert RegularizationPathCV(model(), ALPHAS).fit(X, GAPS).n_splits_ == np.isfinite(GAPS).any(axis=1).sum()
    for estimator, outputs in (
        (model(loss="huber"), Y),
        (model(operator=M), GAPS),
        (OperatorKernelRegressor([("rbf", None), ("linear", M)]), Y),
    ):
        assert RegularizationPathCV(estimator, ALPHAS).fit(X, outputs).n_splits_ == 5


@pytest.mark.parametrize("cv", [3, FOLDS, PredefinedSplit(np.arange(N) % 3), list(FOLDS.split(X))], ids=type)
def test_kinds_of_folds(cv):
    path = RegularizationPathCV(model(), ALPHAS, cv=cv).fit(X, Y)
    assert path.n_splits_ == (4 if cv is FOLDS or isinstance(cv, list) else 3)


def test_more_folds_than_samples():
    path = RegularizationPathCV(model(), ALPHAS, cv=50, scoring="neg_mean_squared_error").fit(X, Y)
    assert path.n_splits_ == N
    single = RegularizationPathCV(model(), ALPHAS, cv=LeaveOneOut(), scoring="neg_mean_squared_error").fit(X, Y)
    assert_allclose(path.errors_, single.errors_)


def test_folds_of_one_sample_have_an_error():
    """R2 of one sample does not exist; the path works all the same, or says which setting to change."""
    try:
        path = RegularizationPathCV(model(), ALPHAS, cv=LeaveOneOut()).fit(X, Y)
    except ValueError as error:
        assert "cv" in str(error) or "scoring" in str(error), error
    else:
        assert np.isfinite(path.errors_).all()


def test_best_estimator_is_the_fit_with_the_best_alpha():
    for estimator, weights in ((model(), None), (model(loss=losses.Huber(0.3), operator=M), WEIGHTS)):
        path = RegularizationPathCV(estimator, ALPHAS).fit(X, Y, weights)
        alone = model(**{**estimator.get_params(deep=False), "alpha": path.alpha_}).fit(X, Y, weights)
        assert path.best_estimator_.alpha == path.best_estimator_.alpha_ == path.alpha_
        assert_allclose(path.best_estimator_.dual_coef_, alone.dual_coef_, rtol=1e-3, atol=1e-3)
        assert_allclose(path.predict(X), alone.predict(X), atol=1e-3)
        assert path.score(X, Y, weights) == pytest.approx(alone.score(X, Y, weights), abs=1e-4)
        assert not hasattr(estimator, "dual_coef_") and estimator.alpha == "auto"


def test_default_path_is_that_of_automatic_alpha():
    """The path takes the best of the alphas of which "auto" takes a mean."""
    for weights in (None, WEIGHTS):
        automatic = OperatorKernelRegressor(operator=None)
        path, automatic = RegularizationPathCV(automatic).fit(X, Y, weights), automatic.fit(X, Y, weights)
        table = automatic.search_results_
        tried = table["alpha"][[kernel is table["kernel"][-1] for kernel in table["kernel"]]]
        assert_allclose(np.sort(tried), path.alphas_[::2])
        assert path.best_estimator_.gamma_ == automatic.gamma_
        assert np.interp(np.log(automatic.alpha_), np.log(path.alphas_), path.errors_) <= 1.1 * path.errors_.min()


def test_default_alphas_follow_the_scale_of_the_kernel():
    K = rbf_kernel(X, gamma=GAMMA)
    one, thousand = (RegularizationPathCV(model(kernel="precomputed")).fit(c * K, Y) for c in (1, 1000))
    assert_allclose(thousand.alphas_, 1000 * one.alphas_)
    assert_allclose(thousand.errors_, one.errors_, rtol=1e-5)
    assert (np.diff(np.log10(one.alphas_)) <= 0.26).all()


def test_the_largest_of_equally_good_alphas():
    constant = RegularizationPathCV(model(), ALPHAS).fit(X, np.ones(N))
    assert constant.alpha_ == ALPHAS.max()


def test_settings_left_to_auto_are_resolved_in_the_best_estimator():
    path = RegularizationPathCV(model(loss="huber"), ALPHAS).fit(X, Y)
    expected = model(loss="huber", alpha=path.alpha_).fit(X, Y).loss_
    assert path.best_estimator_.loss_.kappa == pytest.approx(expected.kappa)


# ---------------------------------------------------------------- kinds of data


def test_precomputed_kernels():
    K = rbf_kernel(X, gamma=GAMMA)
    for settings in ({}, {"loss": losses.Huber(0.3)}):
        for outputs in (Y, GAPS):
            given = RegularizationPathCV(model(kernel="precomputed", **settings), ALPHAS).fit(K, outputs)
            named = RegularizationPathCV(model(**settings), ALPHAS).fit(X, outputs)
            assert_allclose(given.errors_, named.errors_, rtol=1e-3, atol=1e-5)
            assert_allclose(given.predict(K), named.predict(X), atol=1e-3)


def test_pipelines():
    scaled = StandardScaler().fit_transform(X)
    pipeline = make_pipeline(StandardScaler(), RegularizationPathCV(cv=3)).fit(X, Y)
    assert_allclose(pipeline.predict(X), RegularizationPathCV(cv=3).fit(scaled, Y).predict(scaled))
    assert pipeline.score(X, Y) > 0.5


def test_lists():
    path = RegularizationPathCV(model(), ALPHAS, cv=3).fit(X.tolist(), Y.tolist(), WEIGHTS.tolist())
    expected = RegularizationPathCV(model(), ALPHAS, cv=3).fit(X, Y, WEIGHTS)
    assert_allclose(path.errors_, expected.errors_)
    assert_allclose(path.predict(X.tolist()), expected.predict(X))


class ArrayLike:
    """What numpy can turn into an array, without indexing."""

    def __init__(self, data):
        self.data = data

    def __array__(self, dtype=None, copy=None):
        return np.array(self.data, dtype=dtype)


@pytest.mark.parametrize("outputs", [Y, GAPS], ids=["complete", "gaps"])
def test_array_likes_without_indexing(outputs):
    path = RegularizationPathCV(model(), ALPHAS, cv=3).fit(ArrayLike(X), ArrayLike(outputs))
    assert_allclose(path.errors_, RegularizationPathCV(model(), ALPHAS, cv=3).fit(X, outputs).errors_)
    alone = OperatorKernelRegressor().fit(ArrayLike(X), ArrayLike(outputs))
    assert alone.alpha_ == OperatorKernelRegressor().fit(X, outputs).alpha_


def test_words():
    words = ["".join(rng.choice(list("abcde"), 5)) for _ in range(N)]
    counts = np.array([word.count("a") for word in words], dtype=float)
    kernel = kernels.PairwiseKernel(lambda a, b: sum(a.count(c) * b.count(c) for c in "abcde"))
    for cv in ("loo", 3):
        path = RegularizationPathCV(OperatorKernelRegressor(kernel), cv=cv).fit(words, counts)
        assert_allclose(path.predict(["aaaab", "bcdee"]), [4, 0], atol=0.1)


def test_predict_is_passed_through_and_transform_is_not_there():
    path = RegularizationPathCV()
    assert hasattr(path, "predict") and not hasattr(path, "transform")


def test_folds_warn_of_no_convergence():
    hasty = model(loss=losses.Huber(0.01), max_iter=1, tol=1e-12)
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        RegularizationPathCV(hasty, [1e-6], cv=2).fit(X, Y)


# ---------------------------------------------------------------- samples that do not count


def test_folds_are_made_of_samples_with_outputs_and_weight():
    T, w = np.full((3 * N, D), np.nan), np.ones(3 * N)
    T[:N] = Y
    Z = np.vstack([X, X + 1, X - 1])
    expected = RegularizationPathCV(model(), ALPHAS, cv=4).fit(X, Y)
    for outputs, weights in ((T, None), (np.vstack([Y, Y, Y]), np.repeat([1.0, 0, 0], N)), (T, w)):
        path = RegularizationPathCV(model(), ALPHAS, cv=4).fit(Z, outputs, weights)
        assert_allclose(path.errors_, expected.errors_, rtol=1e-6)
        assert path.alpha_ == expected.alpha_
    with pytest.raises(ValueError, match="fold has no observed output"):
        RegularizationPathCV(model(), ALPHAS, cv=PredefinedSplit(np.repeat([0, 1, 2], N))).fit(
            Z, np.where(np.arange(3 * N)[:, None] < 2 * N, np.vstack([Y, Y, Y]), np.nan)
        )


def test_one_number_as_sample_weight():
    path = RegularizationPathCV(model(loss=losses.Huber(0.3)), ALPHAS).fit(X, Y, 2.0)
    assert_allclose(
        path.errors_, RegularizationPathCV(model(loss=losses.Huber(0.3)), ALPHAS).fit(X, Y).errors_, rtol=1e-3
    )


def test_failed_fit_changes_nothing():
    path = RegularizationPathCV(model(), ALPHAS).fit(X, Y)
    before, prediction = path.errors_, path.predict(X)
    path.set_params(estimator=model(loss=losses.Ball(0.05)), scoring="neg_mean_squared_error", cv=3)
    with pytest.raises(ValueError, match="Ball"):
        path.fit(np.zeros_like(X), Y)
    assert path.errors_ is before
    assert_allclose(path.predict(X), prediction)
    with pytest.raises(ValueError, match="scoring"):
        RegularizationPathCV(model(loss=losses.Ball(0.5)), ALPHAS, cv=3).fit(X, Y)


def test_two_samples_with_gaps_and_a_loss_to_settle():
    path = RegularizationPathCV(OperatorKernelRegressor(loss="huber"), cv=2).fit(
        [[0.0], [1.0]], [[0.0, np.nan], [1, 2]]
    )
    assert np.isfinite(path.predict([[0.5]])).all()


def test_settings_left_to_the_data_are_those_of_the_folds():
    """kappa is settled once for the whole path, from the best of its alphas for the squared loss."""
    path = RegularizationPathCV(OperatorKernelRegressor(loss="huber"), [1e-3, 1e-2]).fit(X, Y)
    models = list(OperatorKernelRegressor(loss="huber").fit_path(X, Y, [1e-2, 1e-3]))
    assert models[0].loss_.kappa == models[1].loss_.kappa == path.best_estimator_.loss_.kappa
