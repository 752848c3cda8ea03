"""What the compared methods have learnt: it outlives fits that fail, changes of settings, and pickles."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import FunctionalRegressor, IrregularFunctions, baselines, kernels, output_losses, spaces
from hilbertlearn.baselines import (
    EMKernelCompletion,
    FunctionalKernelRidge,
    FunctionalNadarayaWatson,
    KernelAdditiveRegressor,
    KernelCCALinks,
    KernelDependencyEstimation,
    KernelMatrixRegression,
    KernelMetricLearning,
    LocalLinkModel,
    NaiveLinkPredictor,
    PairwiseRanker,
    RobustNadarayaWatson,
    SplitConformalBand,
    StructuredSVM,
    TripleBasisRegressor,
)
from hilbertlearn.papers.baselines.functional import FourierFeatureRidge

N, D = 30, 9
RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(N, D)), RNG.normal(size=(5, D))
CURVES = np.sin(3 * X[:, :1] + np.linspace(0, 4, 12)) + 0.1 * RNG.normal(size=(N, 12))
SETS = (X[:, :3] + 0.3 * RNG.normal(size=(N, 3)) > 0).astype(float)
RATINGS = RNG.integers(1, 6, size=(N, 4)).astype(float)
WORDS = list(np.array(["a", "ab", "abc", "b", "bc", "c"])[RNG.integers(0, 6, size=N)])
GRAPH = np.linalg.norm(X[:, None] - X, axis=2) < 3.8
np.fill_diagonal(GRAPH, False)


class Gaussian(BaseEstimator):
    """A kernel object that has nothing to learn from the samples."""

    def __init__(self, rate=0.05):
        self.rate = rate

    def __call__(self, A, B):
        return rbf_kernel(A, B, gamma=self.rate)


def polynomial():
    return {"kernel": "poly", "gamma": 0.1, "kernel_params": {"degree": 2, "coef0": 1.0}}


def links(method, **settings):
    """Each with a kernel by name and parameters, and with objects that take the samples into account or not."""
    name = method.__name__
    return {
        f"{name} of a name": (method(**polynomial(), **settings), GRAPH),
        f"{name} of curves": (method(kernels.L2(), **settings), GRAPH),
        f"{name} of an object": (method(Gaussian(), **settings), GRAPH),
    }


CASES = {
    "robust": (RobustNadarayaWatson(output_loss=output_losses.Cauchy(0.4)), CURVES[:, 0]),
    "robust of an object": (RobustNadarayaWatson(Gaussian(), output_loss=output_losses.Huber(0.1)), CURVES[:, 0]),
    "robust of curves": (RobustNadarayaWatson(kernels.L2()), CURVES[:, 0]),
    "dependency": (KernelDependencyEstimation(output_kernel=kernels.NGrams(2), n_components=4), WORDS),
    "dependency of an object": (
        KernelDependencyEstimation(Gaussian(), output_kernel=kernels.NamedKernel("rbf")),
        CURVES,
    ),
    "dependency of curves": (KernelDependencyEstimation(kernels.L2(), output_kernel=Gaussian()), CURVES),
    "svm": (StructuredSVM(random_state=0, alpha=0.1), SETS),
    "linear ranker": (PairwiseRanker(), RATINGS),
    "logistic ranker": (PairwiseRanker("logistic"), RATINGS),
    **links(NaiveLinkPredictor),
    **links(KernelMetricLearning, n_components=3),
    **links(LocalLinkModel),
    **links(KernelMatrixRegression),
    **links(KernelCCALinks),
    **links(EMKernelCompletion, model="spectral"),
    "nadaraya-watson": (FunctionalNadarayaWatson(), CURVES),
    "nadaraya-watson of curves": (FunctionalNadarayaWatson(kernels.L2()), CURVES),
    "kernel ridge": (FunctionalKernelRidge(alpha=1e-3), CURVES),
    "kernel ridge of curves": (FunctionalKernelRidge(kernels.ChannelSum(), output_kernel=Gaussian(3.0)), CURVES),
    "additive": (KernelAdditiveRegressor(bandwidth_points=1.0, alpha=1e-6), CURVES),
    "triple basis": (TripleBasisRegressor(input_basis=spaces.Fourier(3), random_state=0), CURVES),
    "split bands": (SplitConformalBand(FunctionalRegressor("rbf", gamma=0.1, alpha=1e-3), random_state=0), CURVES),
    "fourier features": (FourierFeatureRidge(spaces.Fourier(3), random_state=0), CURVES),
}
FUNCTIONAL = [name for name in CASES if hasattr(CASES[name][0], "grid")]


def fitted(name, inputs=X):
    """A case's model, settings and all its own, fitted."""
    model, y = copy.deepcopy(CASES[name][0]), CASES[name][1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of iterations that end early
        return model.fit(inputs, y)


def answers(model, name, new=NEW):
    """All that a fitted model says of new inputs."""
    found = []
    for method in ("predict", "predict_band", "decision_function", "pair_scores", "weights"):
        if hasattr(model, method):
            found.append(getattr(model, method)(new))
    if hasattr(model, "pair_scores"):
        found.append(model.pair_scores(new, X[:4]) if isinstance(new, np.ndarray) else [])
    if hasattr(model, "space_") or hasattr(model, "model_"):
        found.append(model.score(X, CASES[name][1]))
    if name in FUNCTIONAL and name != "fourier features":
        found.append(model.predict(new, grid=np.linspace(0.1, 0.8, 5)))
    return found


def assert_same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one, other, strict=isinstance(other, np.ndarray))


def test_every_baseline_is_here():
    known = {name for name, item in vars(baselines).items() if isinstance(item, type)}
    assert {type(model).__name__ for model, _ in CASES.values()} == known | {"FourierFeatureRidge"}


# ---------------------------------------------------------------- fits that fail


def bad_fits(y):
    """Inputs and outputs that no method takes, the inputs of another number of features: these are read first."""
    fewer, infinite = X[:, :4], np.full((N, 4), np.inf)
    return {
        "fewer inputs": (fewer[:-3], y),
        "infinite inputs": (infinite, y),
        "no outputs": (fewer, None),
        "outputs of another kind": (fewer, {"a": object()}),
        "no samples": (fewer[:0], y[:0]),
    }


@pytest.mark.parametrize("name", CASES)
def test_a_refit_that_fails_changes_nothing(name):
    model = fitted(name)
    expected, state, attributes = answers(model, name), pickle.dumps(model), dict(vars(model))
    for why, (inputs, y) in bad_fits(CASES[name][1]).items():
        with pytest.raises((ValueError, TypeError)):
            model.fit(inputs, y)
            pytest.fail(f"{why} were not refused")
        assert vars(model).keys() == attributes.keys()
        assert all(vars(model)[key] is value for key, value in attributes.items())
        assert pickle.dumps(model) == state
    assert_same(answers(model, name), expected)


@pytest.mark.parametrize("name", CASES)
def test_a_refit_with_a_bad_setting_changes_nothing_that_was_learnt(name):
    model = fitted(name)
    expected = answers(model, name)
    learnt = {key: value for key, value in vars(model).items() if key.endswith("_")}
    for setting in model.get_params(deep=False):
        if setting in ("random_state", "loss"):
            continue
        kept = getattr(model, setting)
        with pytest.raises((ValueError, TypeError)):
            model.set_params(**{setting: "unheard of"}).fit(X[:, :4], CASES[name][1])
        assert all(vars(model)[key] is value for key, value in learnt.items())
        model.set_params(**{setting: kept})
    assert_same(answers(model, name), expected)


@pytest.mark.parametrize("name", CASES)
def test_nothing_of_an_earlier_fit_is_left_by_a_later_one(name):
    first = fitted(name, X[:, ::2])
    y = CASES[name][1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = first.fit(X, y)
    fresh = fitted(name)
    assert again is first and vars(again).keys() == vars(fresh).keys()
    assert_same(answers(again, name), answers(fresh, name))


# ---------------------------------------------------------------- settings that change


@pytest.mark.parametrize("value", ["changed", None])
@pytest.mark.parametrize("name", CASES)
def test_settings_changed_after_the_fit_reach_no_answer(name, value):
    model = fitted(name)
    expected = answers(model, name)
    settings = model.get_params(deep=True)
    for setting in settings.values():
        if isinstance(setting, dict):
            setting.clear()
    inside = {setting: value for setting in settings if "__" in setting}
    assert_same(answers(model.set_params(**inside), name), expected)
    model.set_params(**dict.fromkeys(model.get_params(deep=False), value))
    assert_same(answers(model, name), expected)


@pytest.mark.parametrize("name", CASES)
def test_learnt_attributes_end_in_an_underscore(name):
    model = fitted(name)
    assert {key for key in vars(model) if not key.endswith("_")} == set(model.get_params(deep=False))


# ---------------------------------------------------------------- pickles


def frame(A):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(A, columns=[f"c{j}" for j in range(A.shape[1])])


def part_of_a_frame(A):
    return frame(np.repeat(A, 2, axis=0)).iloc[::2]


def strided(A):
    """A view that is contiguous in neither order."""
    return np.asfortranarray(np.repeat(A, 2, axis=0))[::2]


FORMS = {
    "array": np.array,
    "list": np.ndarray.tolist,
    "fortran": np.asfortranarray,
    "strided": strided,
    "frame": frame,
    "part of a frame": part_of_a_frame,
}


def assert_pickles(model, name, new):
    assert_same(answers(pickle.loads(pickle.dumps(model)), name, new), answers(model, name, new))
    assert_same(answers(copy.deepcopy(model), name, new), answers(model, name, new))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CASES)
def test_pickles_of_any_inputs(name, form):
    make = FORMS[form]
    if name == "fourier features" and "frame" in form:
        pytest.skip("takes what FunctionalRegressor hands over")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # arrays after frames, which have names
        assert_pickles(fitted(name, make(X)), name, make(NEW))


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_pickles_of_curves(name):
    model = CASES[name][0]
    if isinstance(getattr(model, "kernel", None), str):
        pytest.skip("takes rows of numbers")
    points = [np.sort(RNG.choice(D, size=6, replace=False)) for _ in range(N)]
    grid = np.linspace(0, 1, D)
    irregular = IrregularFunctions([grid[own] for own in points], [x[own] for x, own in zip(X, points)], (0.0, 1.0))
    for inputs, new in ((X.astype(object), NEW.astype(object)), (irregular, irregular)):
        fit = clone(model).fit(inputs, CASES[name][1])
        assert_array_equal(pickle.loads(pickle.dumps(fit)).predict(new), fit.predict(new), strict=True)


@pytest.mark.parametrize("name", CASES)
def test_the_training_inputs_are_inputs_like_any_others(name):
    """Kernels tell by identity that they are asked for a symmetric matrix; a pickled model has other objects."""
    inputs = X.copy()
    model = fitted(name, inputs)
    expected = answers(model, name, X.copy())
    assert_same(answers(model, name, inputs), expected)
    assert_same(answers(pickle.loads(pickle.dumps(model)), name, inputs), expected)
