"""scikit-learn's own checks, and its tools around the estimators."""

import pickle

import numpy as np
import pytest
from helpers.estimator_checks import assert_checks_pass, in_one_line
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import make_friedman1
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from hilbertlearn import (
    FunctionalRegressor,
    OperatorKernelRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    kernels,
    losses,
    operators,
    spaces,
)

X, y = make_friedman1(60, random_state=0)
Y = np.c_[y, y[::-1], X[:, 0] * 10]
FOLDS = KFold(3, shuffle=True, random_state=0)


ONE_KERNEL = {"kernel": "rbf", "gamma": "median"}  # nothing to choose, which takes most of a small fit


@pytest.mark.parametrize(
    "estimator",
    [
        OperatorKernelRegressor(),
        RegularizationPathCV(OperatorKernelRegressor(**ONE_KERNEL)),
        OperatorKernelRegressor(**ONE_KERNEL, alpha=0.01, loss=losses.Huber(0.5), operator="decay", tol=1e-14),
        FunctionalRegressor(),
        RegularizationPathCV(FunctionalRegressor(**ONE_KERNEL), [1e-3, 1e-1]),
        FunctionalRegressor(**ONE_KERNEL, alpha=0.01, loss=losses.Huber(0.5), tol=1e-14),
        FunctionalRegressor(**ONE_KERNEL, alpha=0.01, space=spaces.Fourier(3)),
        StructuredPredictor(),
        StructuredPredictor(**ONE_KERNEL, alpha=0.01, output_loss="absolute"),
        StructuredPredictor(**ONE_KERNEL, output_kernel="rbf"),
    ],
    ids=in_one_line,
)
def test_estimator_checks(estimator):
    assert_checks_pass(estimator)


def nested():
    """Every kind of setting that is an object."""
    return OperatorKernelRegressor(
        kernel=RBF(1.0), operator=operators.TaskGraph(mu=0.3), loss=losses.Huber(0.5), alpha=0.01
    )


# ---------------------------------------------------------------- settings


def test_set_params_reaches_nested_settings():
    model = nested().set_params(loss__kappa=0.7, operator__mu=0.1, kernel__length_scale=2.0, alpha=1.0)
    params = model.get_params()
    assert (params["loss__kappa"], params["operator__mu"], params["kernel__length_scale"]) == (0.7, 0.1, 2.0)
    path = RegularizationPathCV(model).set_params(estimator__loss__kappa=0.9)
    assert path.get_params()["estimator__loss__kappa"] == 0.9
    infconv = losses.InfConv(losses.Squared(), losses.Norm(1.0))
    inner = OperatorKernelRegressor(loss=infconv).set_params(loss__second__scale=3.0)
    assert inner.loss.second.scale == 3.0


def test_clone_copies_settings_and_nothing_learnt():
    model = nested().fit(X, Y)
    copy = clone(model)
    assert not hasattr(copy, "dual_coef_")
    assert copy.loss is not model.loss and copy.loss.kappa == model.loss.kappa
    assert_allclose(copy.fit(X, Y).predict(X), model.predict(X))


def test_clone_of_a_list_of_terms():
    terms = [("rbf", None), (kernels.Tanimoto(), operators.Decay(1.0))]
    copy = clone(OperatorKernelRegressor(terms))
    assert copy.kernel[0][0] == "rbf" and copy.kernel[1][1].rate == 1.0


@pytest.mark.parametrize("loss", ["huber", "epsilon_insensitive"])
def test_fit_leaves_the_settings_as_they_were(loss):
    model = OperatorKernelRegressor(loss=loss, operator="covariance").fit(X, Y)
    assert model.loss == loss and model.alpha == "auto" and model.gamma == "auto" and model.operator == "covariance"
    auto = losses.Huber()
    OperatorKernelRegressor(loss=auto, alpha=0.01).fit(X, Y)
    assert auto.kappa == "auto"


# ---------------------------------------------------------------- pickle


MODELS = {
    "auto": OperatorKernelRegressor(),
    "nested": nested(),
    "sparse": OperatorKernelRegressor(loss=losses.EpsilonInsensitive(1.0), alpha=0.01),
    "terms": OperatorKernelRegressor([("rbf", None), ("linear", operators.Decay())], alpha=0.01),
    "output built": OperatorKernelRegressor(kernels.OutputTensorKernel("iii"), alpha=0.01),
    "path": RegularizationPathCV(OperatorKernelRegressor(loss="huber"), [1e-3, 1e-2], cv=2),
    "structured": StructuredPredictor(output_kernel="rbf", output_loss="squared", loss="huber", alpha=0.01),
    "loss trick": StructuredPredictor(alpha=0.01),
}


@pytest.mark.parametrize("name", MODELS)
def test_pickled_models_predict_the_same(name):
    model = clone(MODELS[name]).fit(X, Y)
    copy = pickle.loads(pickle.dumps(model))
    new = X[::2] + 0.1
    assert_array_equal(copy.predict(new), model.predict(new))
    assert copy.score(new, Y[::2]) == model.score(new, Y[::2])


def test_pickled_model_keeps_its_leave_one_out():
    model = OperatorKernelRegressor().fit(X, Y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).loo_residuals(), model.loo_residuals())


# ---------------------------------------------------------------- tools


def test_pipeline():
    scaled = StandardScaler().fit_transform(X)
    for model in (OperatorKernelRegressor(), RegularizationPathCV()):
        pipeline = make_pipeline(StandardScaler(), model).fit(X, Y)
        assert_allclose(pipeline.predict(X), clone(model).fit(scaled, Y).predict(scaled))
        assert pipeline.score(X, Y) > 0.5


def test_pipeline_passes_sample_weights():
    weights = np.r_[np.zeros(20), np.ones(40)]
    pipeline = make_pipeline(StandardScaler(), OperatorKernelRegressor())
    pipeline.fit(X, Y, operatorkernelregressor__sample_weight=weights)
    assert (pipeline[-1].dual_coef_[:20] == 0).all() and (pipeline[-1].dual_coef_[20:] != 0).all()


def test_transformed_target():
    model = TransformedTargetRegressor(OperatorKernelRegressor(alpha=0.01), func=np.log, inverse_func=np.exp)
    assert (model.fit(X, np.abs(Y) + 1).predict(X) > 0).all()


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (nested(), {"loss__kappa": [0.1, 100.0]}),
        (nested(), {"alpha": [1e-3, 10.0]}),
        (nested(), {"kernel__length_scale": [1e-3, 1.0]}),
        (nested(), {"operator__mu": [0.0, 0.9]}),
        (OperatorKernelRegressor(), {"gamma": ["median", 100.0], "kernel": ["rbf", "laplacian"]}),
        (OperatorKernelRegressor(alpha=0.01), {"loss": ["squared", losses.Huber(0.1, p=1), losses.EpsilonSVR(0.1)]}),
        (RegularizationPathCV(nested(), [1e-3, 1.0], cv=2), {"estimator__loss__kappa": [0.1, 100.0]}),
    ],
)
def test_grid_search_equals_fits_by_hand(model, grid):
    search = GridSearchCV(model, grid, cv=FOLDS, error_score="raise").fit(X, Y)
    for params, mean in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        one = clone(model).set_params(**clone(params, safe=False))
        by_hand = [one.fit(X[train], Y[train]).score(X[test], Y[test]) for train, test in FOLDS.split(X)]
        assert mean == pytest.approx(np.mean(by_hand), rel=1e-9)
    scores = search.cv_results_["mean_test_score"]
    assert np.ptp(scores) > 1e-6  # the setting matters
    assert search.best_params_ == search.cv_results_["params"][np.argmax(scores)]


@pytest.mark.parametrize("target", [Y, y], ids=["vectors", "numbers"])
def test_cross_validation(target):
    scores = cross_val_score(OperatorKernelRegressor(), X, target, cv=FOLDS, error_score="raise")
    assert scores.shape == (3,) and scores.mean() > 0.3
    assert cross_val_predict(OperatorKernelRegressor(), X, target, cv=FOLDS).shape == target.shape


def test_sample_weights_as_long_as_X_are_sliced():
    weights = np.linspace(1, 5, len(X))
    model = OperatorKernelRegressor(alpha=0.01)
    found = cross_val_score(model, X, Y, cv=FOLDS, params={"sample_weight": weights}, error_score="raise")
    expected = [model.fit(X[a], Y[a], weights[a]).score(X[b], Y[b]) for a, b in FOLDS.split(X)]
    assert_allclose(found, expected)


@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: RegularizationPathCV(m, np.logspace(-4, 0, 5))])
def test_precomputed_kernels_are_sliced_in_rows_and_columns(wrap):
    K = rbf_kernel(X, gamma=0.2)
    named = wrap(OperatorKernelRegressor(gamma=0.2))
    given = wrap(OperatorKernelRegressor("precomputed"))
    assert get_tags(given).input_tags.pairwise and not get_tags(named).input_tags.pairwise
    expected = cross_val_score(named, X, Y, cv=FOLDS, error_score="raise")
    assert_allclose(cross_val_score(given, K, Y, cv=FOLDS, error_score="raise"), expected, rtol=1e-6)
    grid = {"estimator__center" if isinstance(named, RegularizationPathCV) else "center": [True, False]}
    of_name = GridSearchCV(named, grid, cv=FOLDS, error_score="raise").fit(X, Y)
    of_gram = GridSearchCV(given, grid, cv=FOLDS, error_score="raise").fit(K, Y)
    assert_allclose(of_gram.cv_results_["mean_test_score"], of_name.cv_results_["mean_test_score"], rtol=1e-6)
    assert_allclose(of_gram.predict(K[:5]), of_name.predict(X[:5]), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kernel", [[("precomputed", None)], (("precomputed", None),)], ids=["list", "tuple"])
def test_a_precomputed_term_is_pairwise(kernel):
    assert get_tags(OperatorKernelRegressor(kernel)).input_tags.pairwise


def test_gaussian_process_kernels():
    kernel = ConstantKernel(2.0) * RBF(1.3)
    model = OperatorKernelRegressor(kernel, alpha=0.01).fit(X, Y)
    K = 2 * rbf_kernel(X, gamma=1 / (2 * 1.3**2))
    by_hand = np.linalg.solve(K + 0.01 * len(X) * np.eye(len(X)), Y - Y.mean(axis=0))
    assert_allclose(model.predict(X[:5] + 0.1), kernel(X[:5] + 0.1, X) @ by_hand + Y.mean(axis=0))
    tuned = clone(model).set_params(kernel__k2__length_scale=0.1)
    assert tuned.kernel.k2.length_scale == 0.1


def test_both_are_regressors_with_many_outputs():
    for model in (OperatorKernelRegressor(), RegularizationPathCV(), RegularizationPathCV(OperatorKernelRegressor())):
        assert is_regressor(model) and get_tags(model).target_tags.multi_output
        assert get_tags(model).input_tags.sparse


def test_feature_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    outputs = pd.DataFrame(Y, columns=["a", "b", "c"])
    for model in (OperatorKernelRegressor(), RegularizationPathCV()):
        model.fit(frame, outputs)
        assert list(model.feature_names_in_) == list(frame.columns)
        assert model.n_features_in_ == X.shape[1]
        assert_allclose(model.predict(frame), clone(model).fit(X, Y).predict(X))
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[frame.columns[::-1]])
