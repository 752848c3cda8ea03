"""What every kernel guarantees. A new kernel gets these tests by a line in ``CASES``."""

import copy
import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from hilbertlearn import kernels, load, save
from hilbertlearn.kernels.gram import POSITIVE, TANIMOTO

pd = pytest.importorskip("pandas")
N, SPLIT = 9, 4
rng = np.random.default_rng(0)
ROWS = rng.uniform(0.1, 2, size=(N, 3))
POINTS = rng.normal(size=(N, 2))
BITS = (rng.random((N, 12)) < 0.4).astype(float)
CURVES = rng.normal(size=(N, 7, 2))
WORDS = ["kernel", "kernels", "loss", "losses", "", "ridge", "bridge", "a", "kernel"]
REGIONS = ["north", "south", "north", "east", "west", "south", "south", "east", "north"]
FRAME = pd.DataFrame({"age": ROWS[:, 0], "size": ROWS[:, 1], "region": REGIONS})
ROOT = rng.normal(size=(N, 4))
SETS = [{"a", "b"}, {"b"}, {"c"}, {"a", "c"}, set(), {"b", "c"}, {"a"}, {"a", "b", "c"}, {"b"}]


def n_common(x, z):
    """Number of common elements."""
    return len(x & z)


def common_slope(X, Z):
    """Blocks (n, m, 2, 2) of two outputs with a constant each and one slope."""
    return np.eye(2) + (X @ Z.T)[:, :, None, None] * np.ones((2, 2))


@dataclass
class Case:
    """A kernel with its settings, and inputs that it takes."""

    kernel: Any
    X: Any

    @property
    def resolved(self):
        """The kernel with numbers for all settings."""
        return self.kernel.resolve(self.X) if hasattr(self.kernel, "resolve") else self.kernel

    def take(self, rows):
        """Some of the inputs."""
        if isinstance(self.X, pd.DataFrame):
            return self.X.iloc[rows]
        return self.X[rows]


AVERAGE = kernels.AverageKernel(
    (
        kernels.InputKernel("rbf", 0.7, scaling=kernels.InputScaling.from_samples(ROWS)),
        kernels.InputKernel("laplacian", 0.4),
        kernels.InputKernel(kernels.Matern(gamma=0.5)),
        kernels.InputKernel("linear", origin=ROWS.mean(axis=0)),
    ),
    (0.5, 0.2, 0.25, 0.1),
    (0.4, 0.2, 0.2, 0.2),
)
CASES = {
    "AdditiveKernel": Case(kernels.AdditiveKernel(), CURVES),
    "AverageKernel": Case(AVERAGE, ROWS),
    "CategoricalKernel": Case(kernels.CategoricalKernel(), REGIONS),
    "CategoricalKernel, mean of columns": Case(kernels.CategoricalKernel(combine="mean"), FRAME[["region", "age"]]),
    "ChannelSum": Case(kernels.ChannelSum(), CURVES),
    "Columns": Case(kernels.Columns([("rbf", ["age", "size"]), (kernels.CategoricalKernel(), "region")]), FRAME),
    "Columns, product": Case(
        kernels.Columns([("matern32", ["age"]), (kernels.NGrams(), "region")], combine="product"), FRAME
    ),
    "CurlFreeKernel": Case(kernels.CurlFreeKernel(), POINTS),
    "DivergenceFreeKernel": Case(kernels.DivergenceFreeKernel(), POINTS),
    "HelmholtzKernel": Case(kernels.HelmholtzKernel(0.3), POINTS),
    "IntegratedKernel": Case(kernels.IntegratedKernel(), CURVES),
    "IntegratedKernel, rbf": Case(kernels.IntegratedKernel("rbf"), CURVES),
    "L2": Case(kernels.L2(), CURVES),
    "L2, linear": Case(kernels.L2(shape="linear"), CURVES),
    "Matern": Case(kernels.Matern(), ROWS),
    "Matern, any nu": Case(kernels.Matern(nu=0.8), ROWS),
    "Matern, sparse rows": Case(kernels.Matern(nu=2.5), scipy.sparse.csr_array(BITS)),
    "MetricKernel": Case(kernels.MetricKernel(metric=ROOT[:3] @ ROOT[:3].T), ROWS),
    "MetricKernel, diagonal": Case(kernels.MetricKernel("matern32", diagonal=True, metric=[2.0, 0.5, 0.0]), ROWS),
    "MetricKernel, matern12": Case(kernels.MetricKernel("matern12"), ROWS),
    "NGrams": Case(kernels.NGrams(), WORDS),
    "NamedKernel": Case(kernels.NamedKernel(), ROWS),
    "OperatorValuedKernel": Case(kernels.OperatorValuedKernel(common_slope), POINTS),
    "PairwiseKernel": Case(kernels.PairwiseKernel(n_common), SETS),
    "PrecomputedKernel": Case(kernels.PrecomputedKernel(ROOT @ ROOT.T), list(range(N))),
    "Tanimoto": Case(kernels.Tanimoto(), BITS),
    "TanimotoGaussian": Case(kernels.TanimotoGaussian(), BITS),
    **{
        f"{name} by name": Case(kernels.InputKernel(name, None if name in ("linear", "cosine") else 0.7), ROWS)
        for name in sorted(POSITIVE)
    },
    f"{TANIMOTO} by name": Case(kernels.InputKernel(TANIMOTO), BITS),
    "linear by name, centred": Case(kernels.InputKernel("linear", origin=ROWS.mean(axis=0)), ROWS),
}
with_cases = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
with_settings = pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=name)
        for name, case in CASES.items()
        if not isinstance(case.kernel, (kernels.InputKernel, kernels.AverageKernel))
    ],
)


def matrix(values):
    """Values (n, m) as they are, blocks (n, m, d, d) as a matrix (n d, m d)."""
    if values.ndim == 2:
        return values
    n, m, d, _ = values.shape
    return values.swapaxes(1, 2).reshape(n * d, m * d)


def test_every_kernel_is_listed():
    named = {name: getattr(kernels, name) for name in kernels.__all__}
    callables = {name for name, cls in named.items() if inspect.isclass(cls) and "__call__" in dir(cls)}
    assert callables == {name for name in CASES if name in named}


@with_cases
def test_gram_matrix_is_symmetric_and_positive_semi_definite(case):
    G = matrix(case.resolved(case.X, case.X))
    assert np.isfinite(G).all()
    assert_allclose(G, G.T, rtol=1e-12, atol=1e-14)
    values = np.linalg.eigvalsh(G)
    assert values[0] >= -1e-12 * values[-1]


@with_cases
def test_values_between_inputs_are_blocks_of_the_gram_matrix(case):
    kernel = case.resolved
    G = kernel(case.X, case.X)
    first, last = slice(0, SPLIT), slice(SPLIT, N)
    values = kernel(case.take(first), case.take(last))
    assert values.shape[:2] == (SPLIT, N - SPLIT)
    assert_allclose(values, G[first, last], rtol=1e-9, atol=1e-12)


@with_cases
def test_diagonal(case):
    kernel = case.resolved
    G = kernel(case.X, case.X)
    if G.ndim == 4:
        return
    kernel = kernel if isinstance(kernel, kernels.InputKernel) else kernels.InputKernel(kernel)
    X = case.X if not isinstance(case.X, pd.DataFrame) else kernels.InputTable.from_data(case.X)
    assert_allclose(kernel.diagonal(X), np.diag(G), rtol=1e-12, atol=1e-12)


@with_cases
def test_inputs_do_not_change(case):
    before, kernel = copy.deepcopy(case.X), case.resolved
    kernel(case.X, case.X), kernel(case.take(slice(0, SPLIT)), case.X)
    if scipy.sparse.issparse(before):
        assert (before != case.X).nnz == 0
    elif isinstance(before, pd.DataFrame):
        pd.testing.assert_frame_equal(before, case.X)
    else:
        assert_array_equal(before, case.X)


@with_settings
def test_settings_are_those_of_an_estimator(case):
    kernel = case.kernel
    before = {name: copy.deepcopy(value) for name, value in kernel.get_params(deep=False).items()}
    names = [
        name for name in inspect.signature(type(kernel).__init__).parameters if name not in ("self", "args", "kwargs")
    ]
    assert list(before) == sorted(names)
    case.resolved(case.X, case.X)
    for name, value in kernel.get_params(deep=False).items():  # resolve returns another kernel
        assert repr(value) == repr(before[name])
    copied = clone(kernel)
    assert type(copied) is type(kernel) and repr(copied) == repr(kernel)
    assert_array_equal(Case(copied, case.X).resolved(case.X, case.X), case.resolved(case.X, case.X))


@with_cases
def test_kernels_are_saved_and_loaded(case, tmp_path):
    path = tmp_path / "kernel.hl"
    for kernel in (case.kernel, case.resolved):
        save(kernel, path, functions=True)
        loaded = load(path, functions=True)
        assert repr(loaded) == repr(kernel)
    assert_array_equal(loaded(case.X, case.X), case.resolved(case.X, case.X))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if hasattr(case.kernel, "gradients")])
def test_gradients_are_limits_of_differences(name):
    kernel, X, step = CASES[name].resolved, CASES[name].X, 1e-6
    points, C = X + rng.uniform(0.1, 0.2, size=X.shape), rng.normal(size=(N, 2))
    gradients = kernel.gradients(points, X, C)
    for k in range(X.shape[1]):
        shift = step * np.eye(X.shape[1])[k]
        differences = (kernel(points + shift, X) - kernel(points - shift, X)) @ C / (2 * step)
        assert_allclose(gradients[:, k], differences, atol=1e-6)
