"""Each stage of the automatic selection alone."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.machines import read
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, features, kernels, losses, operators
from hilbertlearn.losses import Huber, Pinball, Squared
from hilbertlearn.selection import STAGES, select, stages, surrogate
from hilbertlearn.selection.stages import Draft, Request
from hilbertlearn.training import Options, build

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = np.column_stack([np.sin(3 * X[:, 0]) * X[:, 1], 100 * np.cos(X[:, 2])]) + 0.05 * rng.normal(size=(60, 2))
NEW = rng.normal(size=(10, 3))


@pytest.fixture(autouse=True)
def same_draws():
    """Each test draws the same whatever ran before it."""
    global rng
    rng = np.random.default_rng(0)


@pytest.mark.parametrize("loss", ["huber", losses.Huber(p=1)], ids=str)
def test_outliers_do_not_change_the_selection(loss):
    """A tenth of the rows far off: kernel and alpha are near those of clean data."""
    Z = rng.normal(size=(150, 2))
    truth = np.column_stack([np.sin(2 * Z[:, 0]), Z[:, 1] ** 2])
    spoilt = truth + 0.1 * rng.normal(size=truth.shape)
    clean = OperatorKernelRegressor().fit(Z, spoilt)
    spoilt = spoilt.copy()
    spoilt[:15] += 20
    robust, squared = (OperatorKernelRegressor(loss=one).fit(Z, spoilt) for one in (loss, "squared"))
    new = rng.normal(size=(300, 2)) * 0.8
    wanted = np.column_stack([np.sin(2 * new[:, 0]), new[:, 1] ** 2])
    errors = [np.mean((model.predict(new) - wanted) ** 2) for model in (clean, robust, squared)]
    assert errors[1] < 4 * errors[0] < errors[2]


@pytest.mark.parametrize("kappa", [1e4, 1e9])
def test_a_bound_that_nothing_meets_changes_nothing(kappa):
    """Exactly, where outputs have their units; the spread that others are divided by is robust, and so rounds."""
    for scale in (False, "auto"):
        squared, huber = (
            OperatorKernelRegressor(loss=loss, scale=scale, tol=1e-10).fit(X, Y)
            for loss in ("squared", losses.Huber(kappa))
        )
        rounding = 0 if scale is False else 1e-10
        assert huber.gamma_ == squared.gamma_
        assert_allclose(huber.alpha_, squared.alpha_, rtol=rounding)
        assert_allclose(huber.kernel_(NEW, X), squared.kernel_(NEW, X), rtol=rounding)
        assert_allclose(huber.predict(NEW), squared.predict(NEW), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("copies", [5, 9, 50])
def test_discrete_data_are_not_taken_for_repeated_samples(copies):
    category = np.repeat([0, 1, 2], copies)
    inputs = np.eye(3)[category]
    model = OperatorKernelRegressor().fit(inputs, category.astype(float))
    assert_allclose(model.predict(np.eye(3)), [0, 1, 2], atol=0.05)


# ---------------------------------------------------------------- one stage at a time


def start(model=None, X=X, y=Y, loss=None, alpha="auto", weights=None, screens=True):
    """The draft that a selection starts from."""
    model = OperatorKernelRegressor() if model is None else model
    samples = read(model, X, y, weights)
    return Draft.start(Request(samples, Squared() if loss is None else loss, alpha, Options()), screens)


def run(draft, last):
    """The draft after all stages up to one, by name."""
    names = [stage.__name__ for stage in STAGES]
    for stage in STAGES[: names.index(last) + 1]:
        draft = stage(draft)
    return draft


def refitted_errors(K, alphas, T):
    """Leave-one-out squared errors of one output at each alpha, by n refits with alpha n held fixed."""
    n, errors = len(T), []
    for alpha in alphas:
        residuals = np.empty(n)
        for i in range(n):
            rest = np.delete(np.arange(n), i)
            mean = T[rest].mean()
            c = np.linalg.solve(K[np.ix_(rest, rest)] + alpha * n * np.eye(n - 1), T[rest] - mean)
            residuals[i] = T[i] - mean - K[i, rest] @ c
        errors.append(np.mean(residuals**2))
    return np.array(errors)


@pytest.mark.parametrize("alpha", ["auto", 1e-2])
def test_the_average_is_continuous_where_all_but_one_kernel_lose_their_share(alpha):
    """In the limit the heaviest kernel is left, whichever has the smallest error."""
    draft = run(start(OperatorKernelRegressor("rbf", scale_inputs=False), alpha=alpha), "search_kernel")
    best = next(one for one in draft.result.candidates if one.kernels == draft.result.kernels)
    for heavy in (best, next(one for one in draft.result.candidates if one.rate == best.rate / 16)):
        light = next(one for one in draft.result.candidates if one.rate == best.rate * 4)
        kernel = OperatorKernelRegressor("rbf", gamma=heavy.kernels[0].gamma, alpha=alpha, scale_inputs=False)
        expected = run(start(kernel, alpha=alpha), "build_training")
        grams, alphas = [], []
        for weight in (0.03, 0.0201, 0.02):  # shares begin at 0.02
            weights = np.log(1 - weight), np.log(weight)
            pair = tuple(replace(one, log_weight=w) for one, w in zip((heavy, light), weights, strict=True))
            weighted = replace(draft, result=replace(draft.result, candidates=pair))
            averaged = stages.average_evaluated_kernels(weighted).result
            grams.append(averaged.kernels[0](X))
            alphas.append(averaged.curve.alpha)
        assert_allclose(grams[2], expected.training.grams[0].dense(), atol=1e-10)
        assert alphas[2] == pytest.approx(expected.alpha, rel=1e-6)
        assert np.abs(grams[1] - grams[2]).max() < np.abs(grams[0] - grams[2]).max() / 20
        assert abs(alphas[1] - alphas[2]) <= abs(alphas[0] - alphas[2]) / 20


def test_select_runs_the_stages_in_their_order():
    draft = start()
    selection = select(draft.samples, draft.loss, "auto", Options())
    draft = run(draft, STAGES[-1].__name__)
    assert (selection.alpha, selection.trials[0].alpha) == (draft.alpha, draft.trials[0].alpha)
    assert len(selection.trials) == len(draft.trials)
    assert selection.selected_alpha and selection.selected_bounds == ()


def test_asymmetric_losses_are_searched_as_the_squared_loss():
    pinball = Pinball([0.3])
    draft = stages.use_squared_loss(start(loss=pinball, alpha=1e-3))
    assert draft.loss.quadratic and draft.is_auto
    given = start(OperatorKernelRegressor("rbf", gamma=1.0), loss=pinball, alpha=1e-3)
    assert stages.use_squared_loss(given) is given  # nothing is searched
    assert stages.use_squared_loss(start()).loss.quadratic


def test_features_are_replaced_by_the_exact_kernel_of_a_subsample(monkeypatch):
    monkeypatch.setattr(surrogate, "_COMPLETE", 30)
    monkeypatch.setattr(surrogate, "_SUBSAMPLE", 20)
    monkeypatch.setattr(surrogate, "_FEWEST", 5)
    draft = stages.use_exact_subsample(start(OperatorKernelRegressor(feature_map=features.Landmarks(10))))
    assert draft.samples.recipe.features is None and not draft.screens
    assert len(draft.samples.rows) == 20
    assert draft.request.samples.recipe.features is not None
    exact = start()
    assert stages.use_exact_subsample(exact) is exact


def test_duplicates_are_merged_and_their_weights_added():
    rows = np.repeat(np.arange(20), 2)
    draft = stages.merge_duplicates(start(X=X[rows], y=Y[rows], weights=np.arange(1.0, 41.0)))
    merged = draft.search_samples.merged
    assert_array_equal(merged.X, X[:20])
    assert_array_equal(merged.weights, np.arange(1.0, 41.0).reshape(20, 2).sum(axis=1))
    assert len(draft.samples.rows) == 40  # all are fitted


@pytest.mark.parametrize("n, model", [(1, None), (60, OperatorKernelRegressor("rbf", gamma=0.1))])
def test_nothing_is_searched_where_nothing_is_open(n, model):
    draft = run(start(model, X[:n], Y[:n], alpha="auto" if n == 1 else 1e-3), "learn_kernel")
    assert draft.search_samples is None and draft.result is None
    draft = stages.build_training(draft)
    expected = draft.training.alphas()[-1] if n == 1 else 1e-3  # one sample has the smoothest model
    assert draft.alpha == expected and draft.trials == ()


def test_a_subsample_and_a_surrogate(monkeypatch):
    monkeypatch.setattr(surrogate, "_COMPLETE", 30)
    monkeypatch.setattr(surrogate, "_SUBSAMPLE", 20)
    monkeypatch.setattr(surrogate, "_FEWEST", 5)
    draft = run(start(), "subsample")
    assert len(draft.surrogate.rows) == 20 and draft.search_samples.is_subsampled
    assert not draft.search_samples.is_complete
    t = np.linspace(0, 1, 7)
    curves = np.sin(X[:, :1] + t)
    curves[::2, 3] = np.nan
    draft = run(start(FunctionalRegressor(grid=t), y=curves), "subsample")
    assert draft.search_samples.subsample.mask is not None and draft.surrogate.mask is None


def test_the_kernel_has_the_smallest_error_of_refits():
    model, T = OperatorKernelRegressor("rbf"), Y[:30, 0]
    inputs = X[:30] / X[:30].std(axis=0)  # standard deviations hardly differ: inputs as given are not evaluated
    draft = run(start(model, X[:30], T), "search_kernel")
    result, curve = draft.result, draft.result.curve
    own = refitted_errors(kernels.gram("rbf", inputs, gamma=result.kernels[0].rate), curve.alphas, T)
    rounding = 1e-6 + 1e-14 / curve.alphas  # of the matrix, whose eigenvalues are divided by alpha
    assert (np.abs(curve.errors - own) <= rounding * own).all()
    median = OperatorKernelRegressor("rbf", gamma="median", scale_inputs=False).fit(inputs, T).gamma_
    rates = median * 2.0 ** np.arange(-10, 9)
    assert np.isclose(result.kernels[0].rate, rates, rtol=1e-9).any()
    least = [refitted_errors(kernels.gram("rbf", inputs, gamma=rate), curve.alphas, T).min() for rate in rates]
    assert curve.error <= min(least) * (1 + 1e-4)


def test_robust_searches_weigh_large_residuals_down():
    spoilt = Y[:, :1].copy()
    spoilt[3] += 100
    draft = run(start(y=spoilt, loss=Huber()), "search_kernel")
    assert draft.weights[3] == draft.weights.min() < 0.1 and not draft.loss.needs_residuals
    assert draft.criterion.loss is draft.loss
    assert run(start(y=spoilt, loss=Huber(1e9)), "search_kernel").weights is None  # the bound is never met


def test_outliers_lose_their_weight_and_the_kernel_is_searched_again():
    spoilt = Y[:, :1].copy()
    spoilt[[3, 17]] += 100
    before = run(start(y=spoilt, loss=Huber()), "search_kernel")
    draft = stages.screen_outliers(before)
    assert_array_equal(np.flatnonzero(draft.samples.screening_weights < 1), [3, 17])
    assert_allclose(draft.samples.weights[[3, 17]], 1e-6)
    assert draft.result is not before.result and not draft.screens
    for unscreened in (start(y=spoilt, loss=Huber(), screens=False), start(y=spoilt, loss=Huber(0.1))):
        draft = run(unscreened, "search_kernel")
        assert stages.screen_outliers(draft) is draft


def test_outlying_points_are_replaced_for_the_selection_only():
    t = np.linspace(0, 1, 21)
    curves = np.sin(3 * X[:, :1] + t) + 0.01 * rng.normal(size=(60, 21))
    curves[::6, 4] += 50
    model = FunctionalRegressor("rbf", grid=t)
    draft = run(start(model, y=curves, loss=Huber(p=1)), "resolve_constants")
    assert draft.has_replaced_outputs and np.abs(draft.training.Y).max() < 10
    restored = stages.restore_outputs(draft)
    assert_array_equal(restored.training.Y, draft.request.samples.Y)
    assert stages.restore_outputs(run(start(), "resolve_constants")).factors is not None  # unchanged


def test_the_operator_with_the_smaller_error_is_taken():
    t = np.linspace(0, 1, 25)
    rough = rng.normal(size=(60, 1)) * np.sign(t - 0.5)
    draft = run(start(FunctionalRegressor(grid=t), y=rough), "search_kernel")
    candidates = draft.samples.recipe.operator_candidates
    assert len(candidates) > 1
    after = stages.search_operator(draft)
    assert after.samples.recipe.operator_candidates == ()
    assert after.result.curve.error <= draft.result.curve.error
    assert len(after.result.trials) > len(draft.result.trials)
    vector = run(start(OperatorKernelRegressor(operator=None)), "search_kernel")
    assert stages.search_operator(vector) is vector


def least_error_with_operator(K, M, T, alphas):
    """The least mean relative error of outputs T (n, d), by n refits with ``K (x) M`` for each alpha."""
    n, d = T.shape
    errors = []
    for alpha in alphas:
        residuals = np.empty_like(T)
        for i in range(n):
            rest = np.delete(np.arange(n), i)
            mean = T[rest].mean(axis=0)
            system = np.kron(K[np.ix_(rest, rest)], M) + alpha * n * np.eye((n - 1) * d)
            C = np.linalg.solve(system, (T[rest] - mean).ravel()).reshape(n - 1, d)
            residuals[i] = T[i] - mean - K[i, rest] @ C @ M
        errors.append(np.mean(np.sqrt(np.mean(residuals**2, axis=0)) / T.std(axis=0)))
    return min(errors)


@pytest.mark.parametrize(("noise", "is_taken"), [(0.3, True), (0.6, False)])
def test_the_covariance_is_taken_for_three_per_cent_of_the_error_of_refits(noise, is_taken):
    """Three copies of one function: the covariance helps in both cases, in the second one by less."""
    Z = rng.normal(size=(40, 2))
    T = np.sin(2 * Z[:, :1]) * [1, 1, -1] + noise * rng.normal(size=(40, 3))
    before = run(start(X=Z, y=T), "average_evaluated_kernels")
    assert before.samples.recipe.operator_candidates[0] is None
    after = stages.search_operator(before)
    trials = after.result.trials[len(before.result.trials) :]
    K, scaled = before.result.kernels[0](Z), T / T.std(axis=0)
    given = before.surrogate.with_operator_setting(operators.Covariance()).with_kernel(before.result.setting)
    M = build(given, before.result.kernels).term.M
    curve = before.result.curve
    identity = least_error_with_operator(K, np.eye(3), scaled, curve.alphas[curve.alphas > 1e-5])
    covariance = least_error_with_operator(K, M, scaled, [trial.alpha for trial in trials if trial.alpha > 1e-5])
    assert min(trial.error for trial in trials) == pytest.approx(covariance, rel=1e-6)
    assert curve.error == pytest.approx(identity, rel=1e-6)
    assert covariance < 0.999 * identity and (covariance < 0.97 * identity) == is_taken
    ((_, operator),) = after.samples.recipe.pairs
    assert isinstance(operator, operators.Covariance) if is_taken else operator is None


def test_a_learnt_metric_is_kept_where_it_gains():
    wide = rng.normal(size=(100, 5))
    T = np.sin(1.5 * wide[:, 0])
    draft = run(start(OperatorKernelRegressor(kernels.MetricKernel(n_rounds=2)), wide, T), "search_operator")
    learnt = stages.learn_kernel(draft)
    assert learnt.result.curve.error < draft.result.curve.error
    plain = run(start(), "search_operator")
    assert stages.learn_kernel(plain) is plain


def test_a_subsample_keeps_the_penalty(monkeypatch):
    monkeypatch.setattr(surrogate, "_COMPLETE", 30)
    monkeypatch.setattr(surrogate, "_SUBSAMPLE", 20)
    monkeypatch.setattr(surrogate, "_FEWEST", 5)
    draft = run(start(), "build_training")
    assert draft.alpha * 60 == pytest.approx(draft.result.curve.alpha * 20, rel=1e-12)
    assert len(draft.training.rows) == 60 and draft.factors is None
    monkeypatch.undo()
    complete = run(start(), "build_training")
    assert complete.training is complete.result.curve.training and complete.factors is not None


def test_alpha_is_refined_by_folds_where_errors_have_no_closed_form():
    closed = run(start(), "build_training")
    assert stages.refine_alpha(closed) is closed
    gaps = Y.copy()
    gaps[rng.random(Y.shape) < 0.2] = np.nan
    mixed = OperatorKernelRegressor("rbf", operator=np.array([[1.0, 0.5], [0.5, 1.0]]))
    draft = run(start(mixed, y=gaps), "build_training")
    refined = stages.refine_alpha(draft)
    assert {trial.method for trial in refined.trials[len(draft.trials) :]} == {"folds"}
    best = min((trial for trial in refined.trials if trial.method == "folds"), key=lambda trial: trial.error)
    assert refined.alpha == pytest.approx(best.alpha, rel=3)
    number = run(start(mixed, y=gaps, alpha=1e-3), "build_training")
    assert stages.refine_alpha(number) is number


def test_constants_become_numbers():
    draft = run(start(loss=losses.EpsilonInsensitive()), "refine_alpha")
    assert draft.loss.epsilon == "auto" or not draft.loss.needs_residuals
    resolved = stages.resolve_constants(draft).loss
    assert resolved.epsilon > 0 and not resolved.needs_residuals


def test_landmarks_are_searched_with_all_samples():
    draft = start(OperatorKernelRegressor("rbf", feature_map=features.Landmarks(10)))
    before = run(draft, "restore_outputs")
    after = stages.search_landmarks(before)
    assert after.approximation.n_components == 10 and len(after.training.rows) == 60
    assert after.training.on_features and len(after.trials) > len(before.trials)
    exact = run(start(), "restore_outputs")
    assert stages.search_landmarks(exact) is exact


def test_the_asymmetric_loss_returns_with_its_own_alpha():
    pinball = Pinball([0.3])
    before = run(start(OperatorKernelRegressor("rbf"), y=Y[:, 0], loss=pinball), "search_landmarks")
    after = stages.restore_loss(before)
    assert before.loss.quadratic and after.loss is pinball
    assert after.trials[-1].method == "folds"
    number = run(start(OperatorKernelRegressor("rbf"), y=Y[:, 0], loss=pinball, alpha=0.02), "search_landmarks")
    assert stages.restore_loss(number).alpha == 0.02
    symmetric = run(start(), "search_landmarks")
    assert stages.restore_loss(symmetric) is symmetric
