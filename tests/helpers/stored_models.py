"""Fitted models of every estimator for the tests of model files, and their answers to new inputs; also a program.

``python -m helpers.stored_models folder`` loads all models of the folder and writes their answers to it.
"""

import functools
import pickle
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

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
    baselines,
    conformal,
    features,
    kernels,
    load,
    losses,
    operators,
    output_losses,
    spaces,
)
from hilbertlearn.papers.baselines import functional as papers_functional
from hilbertlearn.persistence import ModelFileError

N, D, M = 24, 4, 9
RNG = np.random.default_rng(7)
X, NEW = RNG.normal(size=(N, D)), RNG.normal(size=(5, D))
T = np.linspace(0, 1, M)
VECTORS = np.c_[np.sin(X[:, 0]), X[:, 1] + X[:, 2], X[:, 3]] + 0.1 * RNG.normal(size=(N, 3))
GAPS = np.where(RNG.random(VECTORS.shape) < 0.2, np.nan, VECTORS)
UNKNOWN = np.where(np.arange(N)[:, None] % 4 == 1, np.nan, VECTORS)
NUMBERS = VECTORS[:, 0]
CURVES = np.sin(2 * X[:, :1] + 4 * T) + 0.1 * RNG.normal(size=(N, M))
OWN = [np.sort(RNG.choice(M, size=5, replace=False)) for _ in range(N)]
IRREGULAR = IrregularFunctions([T[own] for own in OWN], [y[own] for y, own in zip(CURVES, OWN)], (0.0, 1.0))
WORDS = [["abc", "abd", "xyz"][label] for label in np.digitize(NUMBERS, [-0.5, 0.5])]
SETS = [frozenset(np.flatnonzero(row > 0).tolist()) for row in VECTORS]
LABELS = (VECTORS > 0).astype(int)
RATINGS = RNG.integers(1, 6, size=(N, 4)).astype(float)
GRAPH = np.linalg.norm(X[:, None] - X, axis=2) < 2.3
np.fill_diagonal(GRAPH, False)
STRIDED = np.asfortranarray(np.repeat(X, 2, axis=0))[::2]


def common(A, B):
    """A kernel of sets, a function of the user's."""
    return np.array([[len(a & b) + 1.0 for b in B] for a in A])


def vector(**settings):
    return OperatorKernelRegressor(**{"gamma": 0.2, "alpha": 0.02, **settings})


def functional(**settings):
    return FunctionalRegressor(**{"gamma": 0.2, "alpha": 1e-3, **settings})


def structured(**settings):
    return StructuredPredictor(**{"gamma": 0.2, "alpha": 0.02, **settings})


@functools.cache
def cases():
    """{name: (model, inputs, outputs)}, optional packages where they are there."""
    L2 = kernels.L2(0.1)
    forest = ExtraTreesRegressor(4, random_state=0)
    small = FunctionalRegressor("rbf", gamma=0.1, alpha=1e-3)
    split = baselines.SplitConformalBand
    own = papers_functional
    return {
        "vector, chosen": (OperatorKernelRegressor(), X, VECTORS),
        "vector, robust": (vector(loss="huber", operator="covariance"), STRIDED, VECTORS),
        "vector, gaps": (vector(operator=operators.TaskGraph(mu=0.3)), np.asfortranarray(X), GAPS),
        "vector, sparse loss": (vector(loss=losses.EpsilonInsensitive(0.1)), X.astype(np.float32), NUMBERS),
        "vector, sparse inputs": (vector(kernel="linear"), scipy.sparse.csr_array(np.where(X > 0, X, 0)), VECTORS),
        "vector, terms": (vector(kernel=[("rbf", None), ("linear", operators.Decay())]), X, VECTORS),
        "vector, process": (vector(kernel=ConstantKernel(2.0) * RBF(1.5)), X, VECTORS),
        "vector, field": (vector(kernel=kernels.CurlFreeKernel()), X[:, :3], VECTORS),
        "vector, built": (vector(kernel=kernels.OutputTensorKernel("iii")), X, VECTORS),
        "vector, graph": (vector(graph=kernels.Affinity(5), manifold=0.3), X, UNKNOWN),
        "vector, strings": (vector(kernel=kernels.NGrams(2)), WORDS, VECTORS),
        "vector, landmarks": (vector(feature_map=8), X, VECTORS),
        "vector, random features": (vector(feature_map=features.RandomFeatures(20, random_state=0)), X, VECTORS),
        "vector, transformer": (vector(feature_map=RBFSampler(n_components=9, random_state=0)), X, VECTORS),
        "functions": (functional(), X, CURVES),
        "functions, dictionary": (functional(space=["fourier", spaces.BSpline(4)], loss="huber"), X, CURVES),
        "functions, eigen": (functional(space=spaces.Eigen(n_components=4)), X, CURVES),
        "functions, components": (functional(space=spaces.PrincipalComponents(3)), X, CURVES),
        "functions, irregular": (functional(grid=T), X, IRREGULAR),
        "functions of curves": (functional(kernel=kernels.AdditiveKernel(), operator=None), IRREGULAR, CURVES),
        "functions, forest": (functional(space=spaces.Fourier(3), regressor=forest), X, CURVES),
        "words": (structured(), X, WORDS),
        "words by kernel": (structured(output_kernel=kernels.NGrams(2), candidates=["abc", "xyz", "ab"]), X, WORDS),
        "sets of labels": (structured(output_loss="hamming"), X, LABELS),
        "numbers by loss": (structured(output_loss=output_losses.Huber(0.2)), X, NUMBERS),
        "sets by a function": (structured(output_kernel=common), X, SETS),
        "links": (LinkPredictor(alpha=0.01, gamma=0.2), X, GRAPH),
        "links, chosen": (LinkPredictor(center=True, cosine=True), X, GRAPH),
        "links, regressor": (LinkPredictor(regressor=RandomForestRegressor(4, random_state=0)), X, GRAPH),
        "codes": (KernelAutoencoder(2, max_iter=10, tol=1e-2), X, None),
        "codes, layers": (KernelAutoencoder((3, 1, 3), max_iter=5, tol=1e-1), X, None),
        "quantiles": (QuantileRegressor((0.2, 0.8), gamma=0.2, alpha=0.01, coupling=1.0), X, VECTORS),
        "quantiles in order": (
            QuantileRegressor((0.2, 0.5), gamma=0.2, alpha=0.01, coupling=1.0, non_crossing=True),
            X,
            NUMBERS,
        ),
        "path": (RegularizationPathCV(vector(), [1e-3, 1e-1]), X, VECTORS),
        "path of functions": (
            RegularizationPathCV(functional(loss=losses.Huber(0.3)), [1e-2, 1e-1], cv=KFold(2)),
            X,
            CURVES,
        ),
        "regions": (ConformalPredictor(vector(), level=0.8), X, VECTORS),
        "regions, split": (
            ConformalPredictor(vector(), "split", 0.7, conformal.scores.Mahalanobis(), random_state=0),
            X,
            VECTORS,
        ),
        "bands": (ConformalPredictor(functional(), "cv+", 0.8, cv=2, random_state=0), X, CURVES),
        "sets of words": (ConformalPredictor(structured(), "split", 0.7, random_state=0), X, WORDS),
        "sets of partners": (ConformalPredictor(LinkPredictor(alpha=0.01, gamma=0.2), level=0.8), X, GRAPH),
        "quantile bands": (
            ConformalPredictor(QuantileRegressor((0.1, 0.9), gamma=0.2, alpha=0.01), "split", 0.8, random_state=0),
            X,
            NUMBERS,
        ),
        "regions of a path": (ConformalPredictor(RegularizationPathCV(vector(), [1e-2, 1e-1])), X, VECTORS),
        "regions of a forest": (ConformalPredictor(forest, "cv+", 0.7, cv=2), X, VECTORS),
        "regions of a pipeline": (
            ConformalPredictor(make_pipeline(StandardScaler(), Ridge()), "split", 0.7, random_state=0),
            X,
            VECTORS,
        ),
        "pipeline": (make_pipeline(StandardScaler(), vector()), X, VECTORS),
        "search": (GridSearchCV(vector(), {"alpha": [1e-2, 1e-1]}, cv=2), X, VECTORS),
        "targets": (TransformedTargetRegressor(vector(), func=np.exp, inverse_func=np.log), X, VECTORS),
        "robust": (baselines.RobustNadarayaWatson(output_loss=output_losses.Cauchy(0.4)), X, NUMBERS),
        "robust of curves": (baselines.RobustNadarayaWatson(L2), X, NUMBERS),
        "dependency": (baselines.KernelDependencyEstimation(output_kernel=kernels.NGrams(2)), X, WORDS),
        "dependency of curves": (baselines.KernelDependencyEstimation(L2, output_kernel="rbf"), X, CURVES),
        "svm": (baselines.StructuredSVM(random_state=0, alpha=0.1), X, LABELS.astype(float)),
        "svm, few steps": (baselines.StructuredSVM(random_state=0, alpha=1.0, max_iter=3), X, LABELS.astype(float)),
        "ranker": (baselines.PairwiseRanker(), X, RATINGS),
        "logistic ranker": (baselines.PairwiseRanker("logistic"), X, RATINGS),
        "smoother": (baselines.FunctionalNadarayaWatson(), X, CURVES),
        "smoother of curves": (baselines.FunctionalNadarayaWatson(L2), X, CURVES),
        "functional ridge": (baselines.FunctionalKernelRidge(alpha=1e-3), X, CURVES),
        "functional ridge of curves": (baselines.FunctionalKernelRidge(kernels.ChannelSum()), X, CURVES),
        "additive": (baselines.KernelAdditiveRegressor(bandwidth_points=1.0, alpha=1e-6), X, CURVES),
        "additive, one part": (
            baselines.KernelAdditiveRegressor(bandwidth_points=0.5, alpha=1e-3, n_components=3),
            X,
            CURVES,
        ),
        "triple basis": (baselines.TripleBasisRegressor(input_basis=spaces.Fourier(3), random_state=0), X, CURVES),
        "triple basis, splines": (
            baselines.TripleBasisRegressor(output_basis=spaces.BSpline(4), random_state=0),
            X,
            CURVES,
        ),
        "features of curves": (own.FourierFeatureRidge(spaces.Fourier(3), random_state=0), X, CURVES),
        "split bands": (split(small, random_state=0), X, CURVES),
        "split bands, constant": (
            split(small, modulation="constant", random_state=0),
            X,
            CURVES,
        ),
        **_link_baselines(L2),
        **_in_frames(),
        **_in_containers(),
    }


def _link_baselines(L2):
    settings = {
        baselines.NaiveLinkPredictor: {},
        baselines.KernelMetricLearning: {"n_components": 3},
        baselines.LocalLinkModel: {},
        baselines.KernelMatrixRegression: {},
        baselines.KernelCCALinks: {},
        baselines.EMKernelCompletion: {"model": "spectral"},
    }
    named = {f"{method.__name__}": (method(**more), X, GRAPH) for method, more in settings.items()}
    curves = {f"{method.__name__} of curves": (method(L2, **more), X, GRAPH) for method, more in settings.items()}
    return {**named, **curves}


def _in_frames():
    try:
        import pandas
        import polars
    except ImportError:
        return {}
    table = pandas.DataFrame(X[:, :2], columns=["a", "b"], index=[f"row {i}" for i in range(N)])
    table["c"] = pandas.Categorical(WORDS)
    labels = pandas.Series(pandas.Categorical(WORDS), name="word", index=table.index)
    curves = pandas.DataFrame(CURVES, columns=T, index=pandas.date_range("2020", periods=N, tz="UTC"))
    columns = kernels.Columns([("rbf", ["a", "b"]), (kernels.CategoricalKernel(), ["c"])])
    return {
        "frame": (vector(), table[["a", "b"]], pandas.DataFrame(VECTORS, columns=["u", "v", "w"], index=table.index)),
        "frame of columns": (vector(kernel=columns), table, VECTORS),
        "frame of words": (structured(), table[["a", "b"]], labels),
        "frame of curves": (functional(), X, curves),
        "polars": (vector(), X, polars.DataFrame(VECTORS, schema=["u", "v", "w"])),
        "polars of words": (structured(), X, polars.Series("word", WORDS)),
    }


def _in_containers():
    try:
        import networkx
        import skfda
    except ImportError:
        return {}
    grid = skfda.FDataGrid(CURVES, T, dataset_name="waves")
    basis = grid.to_basis(skfda.representation.basis.BSplineBasis((0, 1), n_basis=5))
    graph = networkx.from_numpy_array(GRAPH)
    return {
        "scikit-fda": (functional(), X, grid),
        "scikit-fda, basis": (functional(), X, basis),
        "scikit-fda, inputs": (functional(kernel=kernels.L2(0.1), operator=None), grid, CURVES),
        "networkx": (LinkPredictor(alpha=0.01, gamma=0.2), X, graph),
    }


# of models that learn from batches, and can go on
IN_BATCHES = {
    "batches": {"feature_map": features.Landmarks(6, random_state=0)},
    "batches, chosen": {"feature_map": features.RandomFeatures(12, random_state=0), "alpha": "auto"},
    "batches, operator": {"feature_map": features.Landmarks(6, random_state=0), "operator": "covariance"},
}


@functools.cache
def fitted():
    """{name: fitted model}, of all cases."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of iterations that end early
        models = {name: model.fit(x, y) for name, (model, x, y) in cases().items()}
        for name, settings in IN_BATCHES.items():
            models[name] = vector(**settings).partial_fit(X[:14], VECTORS[:14]).partial_fit(X[14:20], VECTORS[14:20])
        return models


METHODS = (
    "predict",
    "decision_function",
    "pair_scores",
    "predict_links",
    "transform",
    "predict_interval",
    "predict_band",
    "predict_set",
    "loo_residuals",
    "summary",
)


def inputs_for(name):
    """A few inputs like those of a case."""
    known = cases()
    given = known[name][1] if name in known else X
    return given.iloc[:5] if hasattr(given, "iloc") else given[:5] if given is not X else NEW


def answers(model, new):
    """Results of all methods of a model on new inputs; errors as text."""
    found = {}
    for method in METHODS:
        if hasattr(model, method):
            try:
                given = () if method in ("loo_residuals", "summary") else (new,)
                found[method] = getattr(model, method)(*given)
            except (ValueError, TypeError, AttributeError) as error:
                found[method] = str(error)
    if getattr(model, "_accumulated_", None) is not None:
        found["more"] = model.partial_fit(X[20:], VECTORS[20:]).predict(NEW)
    return found


def plain(value):
    """Numbers and objects behind an answer, so that any two can be compared."""
    if isinstance(value, IrregularFunctions):
        return plain(value.parts)
    if hasattr(value, "lower") and hasattr(value, "upper") and not isinstance(value, str):  # regions
        return plain([value.lower, value.upper])
    for attribute in ("data_matrix", "coefficients"):  # of scikit-fda
        if hasattr(value, attribute):
            return plain(getattr(value, attribute))
    if hasattr(value, "iloc"):
        types = value.dtypes if value.ndim == 2 else value.dtype
        return [type(value).__name__, str(types), repr(value.index), plain(value.to_numpy())]
    if hasattr(value, "to_arrow"):
        return [str(value), plain(value.to_numpy())]
    if scipy.sparse.issparse(value):
        return plain(value.toarray())
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tolist() if value.dtype == object else value.tobytes())
    if isinstance(value, (list, tuple, Sequence)) and not isinstance(value, (str, bytes)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return repr(value)


def main(folder):
    found = {}
    for path in sorted(Path(folder).glob("*.hl")):
        new = pickle.loads((Path(folder) / f"{path.stem}.inputs").read_bytes())
        found[path.stem] = plain(answers(load(path, functions=True), new))
    (Path(folder) / "answers").write_bytes(pickle.dumps(found))


def assert_refused(path, *words, **options):
    """A file is refused in one line that has these words."""
    with pytest.raises(ModelFileError) as refused:
        load(path, **options)
    message = str(refused.value)
    assert "\n" not in message and len(message) < 500
    for word in words:
        assert word in message, message


if __name__ == "__main__":
    main(sys.argv[1])
