"""What the estimators have learnt: it outlives changes of settings, failed fits and pickles; outputs are read once."""

import copy
import dataclasses
import functools
import pickle
import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel

import hilbertlearn
from hilbertlearn import (
    ConformalPredictor,
    FunctionalRegressor,
    IrregularFunctions,
    KernelAutoencoder,
    LinkPredictor,
    OperatorKernelRegressor,
    QuantileRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    conformal,
    kernels,
    losses,
    operators,
    output_losses,
    spaces,
)
from hilbertlearn.data import functions
from hilbertlearn.machine.wrapping import fit_with_parts

N, D, M = 24, 5, 9
RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(N, D)), RNG.normal(size=(4, D))
VECTORS = np.c_[np.sin(X[:, 0]), X[:, 1] + X[:, 2], X[:, 3], X[:, 4], X[:, 0]] + 0.2 * RNG.normal(size=(N, D))
VECTORS[3] += 4.0  # an outlier
GAPS = np.where(RNG.random(VECTORS.shape) < 0.2, np.nan, VECTORS)
UNKNOWN = np.where(np.arange(N)[:, None] % 4 == 1, np.nan, VECTORS)
SIGNS = np.sign(VECTORS)
T = np.linspace(0, 1, M)
CURVES = np.sin(2 * X[:, :1] + 4 * T) + 0.1 * RNG.normal(size=(N, M))
PAIRS = np.stack([CURVES, CURVES**2], axis=2)
HOLES = np.where(RNG.random(CURVES.shape) < 0.2, np.nan, CURVES)
OWN = [np.sort(RNG.choice(M, size=6, replace=False)) for _ in range(N)]
IRREGULAR = IrregularFunctions([T[own] for own in OWN], [y[own] for y, own in zip(CURVES, OWN)], (0.0, 1.0))
NUMBERS = VECTORS[:, 0]
LABELS = np.digitize(VECTORS[:, 0], [-0.5, 0.5]) + 3
SETS = (VECTORS[:, :3] > 0).astype(int)
WORDS = [["abc", "abd", "xyz"][label - 3] for label in LABELS]
OBJECTS = [frozenset(np.flatnonzero(row).tolist()) for row in SETS]
GRAPH = np.linalg.norm(X[:, None] - X, axis=2) < 2.6
np.fill_diagonal(GRAPH, False)
ROOT = RNG.normal(size=(D, D))
FINER = np.linspace(0.05, 0.95, 14)


class Gaussian(BaseEstimator):
    """A kernel object that has nothing to learn from the samples."""

    def __init__(self, rate=0.1):
        self.rate = rate

    def __call__(self, A, B):
        return rbf_kernel(A, B, gamma=self.rate)


class Common(BaseEstimator):
    """A kernel of sets, with a setting."""

    def __init__(self, offset=1.0):
        self.offset = offset

    def __call__(self, A, B):
        return np.array([[len(a & b) + self.offset for b in B] for a in A])


class SetLoss(BaseEstimator):
    """A loss of sets, with a setting."""

    def __init__(self, power=1.0):
        self.power = power

    def __call__(self, A, B):
        return np.array([[len(a ^ b) ** self.power for b in B] for a in A])


def half(Y):
    """Targets of margins, and weights of outputs, in a form that can be pickled."""
    return Y / 2


def halves(Y):
    return np.full(len(Y), 0.5 / len(Y))


def vector(alpha=0.02, gamma="median", **settings):
    return OperatorKernelRegressor(alpha=alpha, gamma=gamma, **settings)


def functional(alpha=1e-3, gamma="median", **settings):
    return FunctionalRegressor(alpha=alpha, gamma=gamma, **settings)


def structured(alpha=0.02, gamma="median", **settings):
    return StructuredPredictor(alpha=alpha, gamma=gamma, **settings)


def polynomial():
    return {"kernel": "poly", "gamma": 0.2, "kernel_params": {"degree": 2, "coef0": 1.0}}


CASES = {
    # ---- vectors
    "vector": (vector("auto", "auto"), VECTORS),
    "vector, settings by name": (vector(**polynomial(), operator="covariance", loss="huber"), VECTORS),
    "vector, objects": (vector(kernel=Gaussian(), operator=operators.TaskGraph(mu=0.3), center=False), VECTORS),
    "vector, kernel of a process": (vector(kernel=ConstantKernel(2.0) * RBF(1.5)), VECTORS),
    "vector, one number": (vector(loss=losses.Huber(0.3)), NUMBERS),
    "vector, gaps": (vector(operator=operators.Covariance(0.2), loss=losses.Huber(0.3, p=1)), GAPS),
    "vector, terms": (
        vector(kernel=[(Gaussian(0.2), operators.Covariance(0.3)), (kernels.L2(0.1), None), ("linear", ROOT @ ROOT.T)]),
        VECTORS,
    ),
    "vector, output tensors": (vector(kernel=kernels.OutputTensorKernel("iii", Gaussian(), weights=halves)), VECTORS),
    "vector, built by name": (vector(kernel=kernels.OutputTensorKernel("v"), gamma=0.1), VECTORS),
    "vector, field": (vector(kernel=kernels.CurlFreeKernel()), VECTORS),
    "vector, two fields": (vector(kernel=[(kernels.HelmholtzKernel(0.4), None), ("rbf", None)], gamma=0.2), VECTORS),
    "vector, graph": (vector(graph=kernels.Affinity(5), manifold=0.3), UNKNOWN),
    "vector, graph and operator": (vector(manifold=0.3, operator=operators.TaskGraph(), kernel=Gaussian()), UNKNOWN),
    "vector, given graph": (vector(graph=GRAPH.astype(float), manifold=0.1, loss=losses.EpsilonSVR(0.1)), UNKNOWN),
    "vector, metric": (vector(output_metric=operators.TaskGraph(mu=0.4, form="similarity")), VECTORS),
    "vector, learnt operator": (vector(operator=operators.LearnedOperator(max_iter=30, tol=0.05)), VECTORS),
    "vector, hinge": (vector(loss=losses.Hinge(targets=half)), SIGNS),
    "vector, convolution": (vector(loss=losses.InfConv(losses.Huber(0.4, 1), losses.Squared())), VECTORS),
    "vector, ball": (vector(loss=losses.Ball(0.5)), VECTORS),
    "vector, sparse": (vector(loss=losses.EpsilonInsensitive("auto", np.inf)), VECTORS),
    # ---- quantiles
    "quantiles": (QuantileRegressor((0.2, 0.8), kernel=Gaussian(), alpha=0.01, coupling=1.0), VECTORS),
    "quantiles in order": (
        QuantileRegressor((0.2, 0.5), kernel="rbf", gamma=0.2, alpha=0.01, coupling=1.0, non_crossing=True),
        NUMBERS,
    ),
    "quantiles of curves": (
        QuantileRegressor((0.2, 0.8), kernel="rbf", gamma=0.2, alpha=0.01, coupling=1.0, grid=T),
        CURVES,
    ),
    # ---- functions
    "functions": (functional("auto", "auto"), CURVES),
    "functions, given grid": (functional(grid=2 * T, operator=operators.Integral("rbf", 3.0)), CURVES),
    "functions, gaps": (functional(loss=losses.Huber(0.1, p=1)), HOLES),
    "functions, several": (
        functional(
            space=spaces.Eigen(n_components=4), operator=operators.AxisProduct(curves=operators.Covariance(0.3))
        ),
        PAIRS,
    ),
    "functions, dictionary": (functional(space=spaces.Fourier(5), loss=losses.Huber(0.2)), CURVES),
    "functions, gaps in a dictionary": (
        functional(space=spaces.Dictionary(spaces.BSpline(6)), operator=operators.Decay(1.0)),
        HOLES,
    ),
    "functions, components": (functional(space=spaces.PrincipalComponents(3), loss="huber"), CURVES),
    "functions, irregular": (functional(loss=losses.EpsilonSVR(0.05), grid=T), IRREGULAR),
    "functions, projected": (functional(space=spaces.Fourier(4), irregular="projected"), IRREGULAR),
    "functions of curves": (functional(kernel=kernels.AdditiveKernel(), operator=None), CURVES),
    "functions, terms": (
        functional(kernel=[(kernels.L2(), operators.Integral(gamma=3.0)), (kernels.ChannelSum(), None)]),
        CURVES,
    ),
    "functions, graph": (functional(space=spaces.Fourier(3), manifold=0.1, graph=kernels.Affinity(4)), CURVES),
    "functions, regressor": (functional(space=spaces.Fourier(3), regressor=Ridge(0.3)), HOLES),
    # ---- objects
    "objects, defaults for labels": (structured(), LABELS),
    "objects, defaults for strings": (structured("auto", "auto"), WORDS),
    "objects, defaults for numbers": (structured(), NUMBERS),
    "objects, kernel": (structured(output_kernel=Common(), candidates=OBJECTS[:9], center=True), OBJECTS),
    "objects, kernel and loss of regression": (
        structured(output_kernel=kernels.NGrams(2), loss=losses.Huber(0.2), candidates=["abc", "ab"]),
        WORDS,
    ),
    "objects, kernel of vectors": (
        structured(output_kernel=spaces.OutputKernel(kernels.NamedKernel("rbf", 0.5)), decoder="gaussian"),
        VECTORS,
    ),
    "objects, kernel and margins": (structured(output_kernel="linear", loss="hinge", **polynomial()), SETS),
    "objects, kernel and operator": (
        structured(output_kernel=kernels.NamedKernel("rbf", 0.5), operator=operators.Decay(0.5)),
        VECTORS,
    ),
    "objects, kernel and graph": (structured(output_kernel=Gaussian(), manifold=0.2), UNKNOWN),
    "objects, loss, few": (structured(output_loss=output_losses.CostMatrix(np.ones((3, 3)) - np.eye(3))), LABELS - 3),
    "objects, loss, many": (structured(output_loss=output_losses.Cauchy(0.4), kernel=kernels.L2()), NUMBERS),
    "objects, loss, chosen": (structured("auto", output_loss=output_losses.Huber(0.2)), NUMBERS),
    "objects, own loss": (structured(output_loss=SetLoss()), OBJECTS),
    "objects, both": (structured(output_kernel=Common(), output_loss=SetLoss(2.0), gamma=0.2), OBJECTS),
    "objects, both, robust": (
        structured(output_kernel=kernels.NamedKernel("rbf", 2.0), output_loss=output_losses.Pinball(0.4), loss="huber"),
        NUMBERS,
    ),
    "objects, both, graph": (
        structured(output_kernel=kernels.NamedKernel("rbf", 2.0), output_loss="absolute", manifold=0.1),
        np.where(np.arange(N) % 5 == 1, np.nan, NUMBERS),
    ),
    "objects, regressor": (structured(output_kernel=Common(), regressor=Ridge(0.2)), OBJECTS),
    # ---- links
    "links": (LinkPredictor(alpha=0.01), GRAPH),
    "links, chosen": (LinkPredictor(gamma="auto", center=True, cosine=True), GRAPH),
    "links, object": (
        LinkPredictor(Gaussian(), alpha=0.1, loss=losses.Hinge(), output_kernel="normalized_laplacian"),
        GRAPH,
    ),
    "links, curves": (LinkPredictor(kernels.L2(), alpha=0.1, loss=losses.Huber(0.2), center=True), GRAPH),
    "links, by name": (LinkPredictor(**polynomial(), alpha=0.1, beta=0.5), GRAPH),
    "links, graph": (LinkPredictor(alpha=0.1, manifold=0.1, graph=kernels.Affinity(4)), GRAPH[:18, :18]),
    "links, regressor": (LinkPredictor(regressor=Ridge(0.5)), GRAPH),
    # ---- codes
    "codes": (KernelAutoencoder(2, max_iter=20, tol=1e-2), None),
    "codes, layers": (KernelAutoencoder((3, 1, 3), kernel=Gaussian(), max_iter=10, tol=1e-2), None),
    "codes, by name": (
        KernelAutoencoder(**polynomial(), inner_kernel="poly", inner_params={"degree": 2}, max_iter=5, tol=1e-1),
        None,
    ),
    "codes, robust": (KernelAutoencoder(kernel=kernels.L2(), loss=losses.Huber(), max_iter=10, tol=1e-2), None),
    # ---- paths
    "path": (RegularizationPathCV(alphas=[1e-3, 1e-1]), VECTORS),
    "path of robust vectors": (
        RegularizationPathCV(vector(loss=losses.Huber(), kernel=Gaussian()), [1e-2, 1e-1], cv=3, aggregate="median"),
        VECTORS,
    ),
    "path of functions": (RegularizationPathCV(functional(space=spaces.Fourier(4), grid=2 * T), [1e-3, 1e-1]), CURVES),
    "path of irregular functions": (RegularizationPathCV(functional(space=spaces.Fourier(4)), [1e-3, 1e-1]), IRREGULAR),
    "path of objects": (RegularizationPathCV(structured(output_kernel=Common()), [1e-2, 1e-1], cv=3), OBJECTS),
    "path of objects by loss": (
        RegularizationPathCV(structured(output_loss=output_losses.Huber(0.3)), [1e-2, 1e-1]),
        NUMBERS,
    ),
    # ---- sets
    "sets": (ConformalPredictor(vector(), level=0.8), GAPS),
    "sets of functions, folds": (
        ConformalPredictor(functional(loss=losses.Huber(0.3)), "cv+", 0.8, cv=3, random_state=0),
        CURVES,
    ),
    "sets, split": (
        ConformalPredictor(vector(), "split", 0.7, conformal.scores.Mahalanobis(), random_state=0),
        VECTORS,
    ),
}  # fmt: skip
METHODS = (
    "predict",
    "decision_function",
    "pair_scores",
    "predict_links",
    "coordinates",
    "transform",
    "predict_interval",
)
LEARNT = ("alpha_", "gamma_", "dual_gap_", "dual_coef_", "center_", "support_", "saturated_", "outlier_scores_")


def fit(name, inputs=X, y=None):
    """A case's model, settings and all its own, fitted."""
    model = copy.deepcopy(CASES[name][0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of iterations that end early
        return model.fit(inputs, CASES[name][1] if y is None else y)


@functools.cache
def fitted_once(name):
    """A case's model, fitted to X; no test changes it."""
    return fit(name)


def fitted(name):
    """A copy of the fitted model that a test may change: what settings and learnt attributes share, they share here."""
    return copy.deepcopy(fitted_once(name))


@functools.cache
def fresh_answers(name):
    """What the case's model says, fitted as it is; fits are the same each time, to the last bit."""
    return answers(fitted_once(name), name)


def wrapped(model):
    if isinstance(model, ConformalPredictor):
        return model.estimator_
    return model.best_estimator_ if isinstance(model, RegularizationPathCV) else model


def answers(model, name, new=NEW, inputs=X):
    """All that a fitted model says: of new inputs, of the training samples, of itself."""
    y, found, inner = CASES[name][1], {}, wrapped(model)
    for method in METHODS:
        if hasattr(model, method):
            found[method] = getattr(model, method)(new)
    if isinstance(inner, FunctionalRegressor):
        high = inner.space_.domain[0][1]
        found["finer"] = inner.predict(new, grid=high * FINER)
        found["points of their own"] = inner.predict(new, grid=[high * FINER[: i + 2] for i in range(len(new))])
    if isinstance(inner, StructuredPredictor):
        found["top"] = inner.predict_topk(new, 2)
        found["weights"] = None if name == "objects, regressor" else inner.weights(new)
    if isinstance(inner, LinkPredictor):
        found["with others"] = inner.pair_scores(new, inputs[:3])
    if isinstance(inner, KernelAutoencoder):
        found["rebuilt"] = inner.inverse_transform(found["transform"])
    nodes = name.startswith("links") and len(y) < N
    if isinstance(model, ConformalPredictor):
        region = model.predict_region(new)
        found["region"] = [region.lower, region.upper, region.volume()]
    found["score"] = (inner if isinstance(model, ConformalPredictor) else model).score(
        inputs[: len(y)] if nodes else inputs, y
    )
    for method in ("loo_residuals", "summary"):
        if hasattr(inner, method):
            found[method] = refusal_or_answer(getattr(inner, method))
    if hasattr(inner, "residuals") and not isinstance(inner, StructuredPredictor):
        found["residuals"] = inner.residuals(inputs, y)
        found["encode"] = inner.encode(y)
    for attribute in LEARNT:
        found[attribute] = refusal_or_answer(lambda attribute=attribute: getattr(inner, attribute))
    return found


def refusal_or_answer(function, refusals=(ValueError, AttributeError)):
    try:
        return function()
    except refusals as error:
        return f"{type(error).__name__}: {error}"


def plain(value):
    """Numbers and objects behind an answer, in arrays and lists."""
    if isinstance(value, IrregularFunctions):
        return [value.points, value.values, list(value.domain)]
    return value.toarray() if hasattr(value, "toarray") else value


def assert_equal(found, expected, where):
    found, expected = plain(found), plain(expected)
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected), where
        for one, other in zip(found, expected, strict=True):
            assert_equal(one, other, where)
    elif isinstance(expected, np.ndarray):
        assert_array_equal(found, expected, strict=True, err_msg=where)
    else:
        assert type(found) is type(expected) and (found == expected or (found != found and expected != expected)), where


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert_equal(found[key], value, key)


def test_every_estimator_is_here():
    known = {name for name in hilbertlearn.__all__ if hasattr(vars(hilbertlearn).get(name), "fit")}
    assert {type(model).__name__ for model, _ in CASES.values()} == known


# ---------------------------------------------------------------- settings that change


def disturb(setting, value):
    """Change every setting inside of a setting, in place: of objects, of lists of terms, of dictionaries."""
    if isinstance(setting, dict):
        setting.clear()
    elif isinstance(setting, (list, tuple)):
        for part in setting:
            disturb(part, value)
    elif hasattr(setting, "get_params") and not isinstance(setting, type):
        for name, part in setting.get_params(deep=False).items():
            disturb(part, value)
            setattr(setting, name, value)


@pytest.mark.parametrize("value", ["changed", None])
@pytest.mark.parametrize("name", CASES)
def test_settings_changed_after_the_fit_reach_no_answer(name, value):
    """Neither what is inside of settings, where a model may have kept them, nor the settings themselves."""
    model, expected = fitted(name), fresh_answers(name)
    for setting in model.get_params(deep=False).values():
        disturb(setting, value)
    if isinstance(model, RegularizationPathCV):  # its estimator says which methods there are
        disturb(model.best_estimator_, value)
    for setting in set(model.get_params(deep=False)) - {"estimator"}:
        setattr(model, setting, value)
    assert_same(answers(model, name), expected)


VALID = {  # nested settings as users change them
    "vector, objects": {"kernel__rate": 9.0, "operator__mu": 0.9, "alpha": 5.0},
    "vector, output tensors": {"kernel__form": "i", "kernel__kernel__rate": 3.0},
    "vector, field": {"kernel__gamma": 7.0, "kernel": "rbf", "gamma": 3.0},
    "vector, graph": {"graph__n_neighbors": 2, "manifold": 0.0},
    "vector, metric": {"output_metric__mu": 0.1, "output_metric": None},
    "vector, convolution": {"loss__first__kappa": 7.0, "loss__second": losses.Huber(3.0, 1), "loss": "squared"},
    "functions, dictionary": {"space__n_components": 2, "loss__kappa": 5.0, "space": "grid"},
    "functions, given grid": {"grid": T, "operator__gamma": 8.0, "operator": None},
    "functions of curves": {"kernel__bandwidth_points": 3.0, "kernel": "linear"},
    "functions, regressor": {"regressor__alpha": 9.0, "regressor": None, "space": "grid"},
    "objects, kernel": {"output_kernel__offset": 5.0, "candidates": OBJECTS[-3:], "center": False},
    "objects, kernel of vectors": {"output_kernel__kernel__gamma": 5.0, "decoder": "candidates"},
    "objects, loss, many": {"output_loss__c": 9.0, "output_loss": "absolute"},
    "objects, both": {"output_kernel__offset": 5.0, "output_loss__power": 0.1, "output_loss": None},
    "links, object": {"kernel__rate": 3.0, "loss": "squared", "cosine": True},
    "codes, layers": {"kernel__rate": 3.0, "n_components": 1, "inner_kernel": "linear"},
    "path of functions": {"estimator__space__n_components": 2, "estimator__grid": T, "estimator__alpha": 3.0},
}


@pytest.mark.parametrize("name", VALID)
def test_valid_settings_changed_after_the_fit_reach_no_answer(name):
    model, expected = fitted(name), fresh_answers(name)
    for setting, value in VALID[name].items():  # one after the other: a setting may replace what another is inside of
        model.set_params(**{setting: value})
    assert_same(answers(model, name), expected)


# ---------------------------------------------------------------- fits that fail


def bad_fits(y):
    """Inputs and outputs that no method takes, the inputs of another number of features: these are read first."""
    fewer, infinite = X[:, :4], np.full((N, 4), np.inf)
    outputs = {} if y is None else {"no outputs": (fewer, None), "of another kind": (fewer, {"a": object()})}
    short = {} if y is None else {"fewer inputs": (fewer[:-9], y)}
    return {"infinite": (infinite, y), "no samples": (fewer[:0], None if y is None else y[:0]), **short, **outputs}


def bad_settings(model):
    """Settings out of range, each of which the fit has to see."""
    if isinstance(model, RegularizationPathCV):
        return {"cv": "unheard of", "alphas": [-1.0], "aggregate": "largest"}
    if isinstance(model, ConformalPredictor):
        return {"method": "unheard of", "level": 1.0, "score": "unheard of", "estimator": "unheard of"}
    if getattr(model, "regressor", None) is not None:
        return {"regressor": "unheard of"}
    bad = {"kernel": "unheard of", "alpha": -1.0, "loss": "unheard of", "tol": 0.0, "max_iter": 0}
    return {name: value for name, value in bad.items() if name in model.get_params(deep=False)}


def assert_untouched(model, attributes):
    assert vars(model).keys() == attributes.keys()
    assert all(vars(model)[key] is value for key, value in attributes.items())


@pytest.mark.parametrize("name", CASES)
def test_a_refit_that_fails_changes_nothing(name):
    model = fitted(name)
    expected, attributes = fresh_answers(name), dict(vars(model))
    for why, (inputs, y) in bad_fits(CASES[name][1]).items():
        with pytest.raises((ValueError, TypeError)):
            model.fit(inputs, y)
            pytest.fail(f"{why} was not refused")
        assert_untouched(model, attributes)
    for setting, value in bad_settings(model).items():
        kept = getattr(model, setting)
        with pytest.raises((ValueError, TypeError)):
            model.set_params(**{setting: value}).fit(X[:, :4], CASES[name][1])
            pytest.fail(f"{setting}={value!r} was not refused")
        setattr(model, setting, kept)
        assert_untouched(model, attributes)
    assert_same(answers(model, name), expected)


def others(name):
    """Other samples, of other features and, where they can be, other outputs."""
    y = CASES[name][1]
    if y is None or name.startswith("links"):
        return X[:, ::2], y
    rows = np.arange(N)[::-1][: N - 3]
    return X[rows][:, ::-1], [y[i] for i in rows] if isinstance(y, list) else y[rows]


@pytest.mark.parametrize("name", CASES)
def test_nothing_of_an_earlier_fit_is_left_by_a_later_one(name):
    if isinstance(CASES[name][0], (OperatorKernelRegressor, FunctionalRegressor)) and "given graph" in name:
        pytest.skip("the graph given is of all samples")
    model = fit(name, *others(name))
    first = dict(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.fit(X, CASES[name][1]) is model
    assert vars(model).keys() == vars(fitted_once(name)).keys()
    settings = model.get_params(deep=False)
    kept = [
        key for key, value in vars(model).items() if first[key] is value and not isinstance(value, (str, int, float))
    ]
    assert {key for key in kept if first[key] is not None} <= set(settings)
    assert_same(answers(model, name), fresh_answers(name))


@pytest.mark.parametrize("name", CASES)
def test_learnt_attributes_end_in_an_underscore(name):
    own = {key for key in vars(fitted_once(name)) if not key.endswith("_")}
    assert own == set(CASES[name][0].get_params(deep=False))


@pytest.mark.parametrize("name", CASES)
def test_a_clone_of_a_fitted_model_has_its_settings_and_no_more(name):
    model = fitted_once(name)
    fresh = clone(model)
    assert vars(fresh).keys() == set(model.get_params(deep=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(answers(fresh.fit(X, CASES[name][1]), name), fresh_answers(name))


# ---------------------------------------------------------------- pickles


def frame(A):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(A, columns=[f"c{j}" for j in range(A.shape[1])])


def strided(A):
    """A view that is contiguous in neither order."""
    return np.asfortranarray(np.repeat(A, 2, axis=0))[::2]


FORMS = {
    "list": np.ndarray.tolist,
    "fortran": np.asfortranarray,
    "strided": strided,
    "frame": frame,
}


@pytest.mark.parametrize("name", CASES)
def test_pickles_and_copies_say_the_same(name):
    model, expected = fitted_once(name), fresh_answers(name)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert_same(answers(other, name), expected)


KINDS = [
    "vector",
    "vector, terms",
    "vector, field",
    "functions, dictionary",
    "functions of curves",
    "objects, loss, many",
    "objects, both",
    "links, curves",
    "codes, layers",
    "path",
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KINDS)
def test_pickles_of_any_inputs(name, form):
    inputs, new = FORMS[form](X), FORMS[form](NEW)
    model = fit(name, inputs)
    again = pickle.loads(pickle.dumps(model))
    assert_same(answers(again, name, new, inputs), answers(model, name, new, inputs))


class Overlap(BaseEstimator):
    """A kernel of inputs that are sets."""

    def __call__(self, A, B):
        return np.array([[float(len(a & b)) for b in B] for a in A])


def object_array(items):
    out = np.empty(len(items), dtype=object)
    out[:] = items
    return out


@pytest.mark.parametrize("form", [list, object_array])
@pytest.mark.parametrize(
    ("model", "y"),
    [
        (vector(kernel=Overlap()), VECTORS),
        (functional(kernel=Overlap(), space=spaces.Fourier(3)), CURVES),
        (structured(kernel=Overlap(), output_kernel=Common()), OBJECTS),
        (structured(kernel=Overlap(), output_kernel=Common(), output_loss=SetLoss()), object_array(OBJECTS)),
        (LinkPredictor(Overlap(), alpha=0.1), GRAPH),
        (KernelAutoencoder(kernel=Overlap(), max_iter=5, tol=0.1), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_pickles_of_objects(model, y, form):
    sets = [frozenset(np.flatnonzero(row > 0).tolist()) for row in X]
    inputs = form(sets)
    model = clone(model).fit(inputs, y)
    method = next(name for name in ("transform", "pair_scores", "predict") if hasattr(model, name))
    expected = getattr(model, method)(inputs)
    assert_equal(getattr(pickle.loads(pickle.dumps(model)), method)(inputs), expected, method)
    assert_equal(getattr(copy.deepcopy(model), method)(form(sets)), expected, method)


@pytest.mark.parametrize("name", ["functions of curves", "functions, terms"])
def test_pickles_of_irregular_inputs(name):
    model = fit(name, IRREGULAR)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(IRREGULAR[:3]), model.predict(IRREGULAR[:3]))


# ---------------------------------------------------------------- outputs are read once


@pytest.fixture
def readings(monkeypatch):
    """What ``read_functions`` really had to read, wherever it is looked up."""
    seen, read = [], functions.read_functions

    def counted(Y, *args, **kwargs):
        if not isinstance(Y, functions.FunctionOutputs):
            seen.append(Y)
        return read(Y, *args, **kwargs)

    for module in [module for name, module in sys.modules.items() if name.startswith("hilbertlearn")]:
        if getattr(module, "read_functions", None) is read:
            monkeypatch.setattr(module, "read_functions", counted)
    return seen


@pytest.mark.parametrize("loss", ["squared", "huber"])
@pytest.mark.parametrize("y", [IRREGULAR, HOLES], ids=["irregular", "gaps"])
def test_functions_are_read_once(readings, y, loss):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        FunctionalRegressor(space=spaces.Fourier(3), alpha="auto", loss=loss).fit(X, y)
    assert len(readings) == 1 and readings[0] is y


@pytest.mark.parametrize("y", [IRREGULAR, CURVES], ids=["irregular", "grid"])
def test_a_path_reads_functions_once(readings, y):
    RegularizationPathCV(functional(space=spaces.Fourier(3)), [1e-3, 1e-1], cv=3).fit(X, y)
    assert len(readings) == 1 and readings[0] is y


def on_features():
    """Fitted models on 20 features, by every way in which a fit is stored."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y, orders = X[:, :2], np.argsort(np.argsort(X @ rng.normal(size=(3, 5)), axis=1), axis=1)
    given = {"feature_map": 20, "alpha": 1e-3, "gamma": 0.1, "kernel": "rbf"}
    vectors = OperatorKernelRegressor(**given)
    yield StructuredPredictor(output_loss="kendall", **given).fit(X, orders)  # weights are solved for at predict
    yield fit_with_parts(vectors, X, Y)(np.arange(30))
    yield next(iter(vectors.fit_path(X, Y, [1e-2])))
    yield RegularizationPathCV(vectors, alphas=[1e-3, 1e-2]).fit(X, Y).best_estimator_
    yield clone(vectors).partial_fit(X, Y)
    yield OperatorKernelRegressor(loss=losses.Huber(0.1), **given).fit(lambda: iter([(X, Y)]))
    yield QuantileRegressor((0.2, 0.8), coupling=1.0, **given).fit(X, Y)
    yield QuantileRegressor((0.2, 0.8), coupling=1.0, non_crossing=True, **given).fit(X, Y[:, 0])


def test_every_fit_on_features_says_so():
    for model in on_features():
        assert "on 20 features" in model.summary().splitlines()[0], (model, type(model.state_).__name__)


def test_a_part_has_the_alphas_of_all_outputs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    Y = np.column_stack([X[:, 0], rng.normal(size=40)])
    model = OperatorKernelRegressor(alpha_per_output=True)
    part = fit_with_parts(model, X, Y)(np.arange(20))
    np.testing.assert_allclose(part.alpha_, 2 * model.alpha_)  # alpha times the number of samples stays


def test_screening_weights_of_files_that_have_positions_only():
    """Files written before factors were stored name the samples with next to no weight."""
    state = OperatorKernelRegressor("rbf", gamma=0.2, alpha=0.1).fit(X, VECTORS).state_
    assert_array_equal(state.screening_weights, np.ones(N))
    earlier = dataclasses.replace(state, screened=np.array([3, 5]))
    assert_array_equal(np.flatnonzero(earlier.screening_weights < 1), [3, 5])
    assert (earlier.screening_weights[[3, 5]] == 1e-6).all()
