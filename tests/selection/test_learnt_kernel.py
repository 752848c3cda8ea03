"""Kernels that are learnt in rounds: folds are refitted without their samples."""

import numpy as np
import pytest
from helpers.machines import read

from hilbertlearn import (
    OperatorKernelRegressor,
)
from hilbertlearn.kernels import (
    Columns,
)
from hilbertlearn.selection import learnt_kernel
from hilbertlearn.selection.criterion import Criterion
from hilbertlearn.selection.kernel_search import families_of, search_kernels

pd = pytest.importorskip("pandas")
rng = np.random.default_rng(0)
N = 30
NUMBERS = rng.normal(size=(N, 2))
REGION = rng.choice(["north", "south", "east"], N)
LEVEL = rng.integers(3, size=N)
T = np.linspace(0, 1, 9)
CURVES = np.sin(rng.uniform(1, 5, size=(N, 1)) * T)
CURVE_NAMES = [f"t{j}" for j in range(len(T))]
X = pd.DataFrame({"age": NUMBERS[:, 0], "size": NUMBERS[:, 1], "region": REGION, "level": LEVEL})
X = pd.concat([X, pd.DataFrame(CURVES, columns=CURVE_NAMES)], axis=1)
Y = pd.DataFrame(
    {"u": np.sin(2 * NUMBERS[:, 0]) + (REGION == "east"), "v": NUMBERS[:, 1] + CURVES[:, 4] * (LEVEL == 1)}
)


def test_rounds_under_a_graph_leave_out_the_samples_with_outputs():
    kernel = Columns([("rbf", ["age"]), ("rbf", ["size"])])
    y = Y["u"].to_numpy().copy()
    y[1::2] = np.nan
    model = OperatorKernelRegressor(kernel, manifold=0.1, scale=False).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    samples, options = read(model, X, y), model.spec().options
    found = search_kernels(samples, families_of(samples), Criterion(), "auto", options)
    folds, errors = learnt_kernel._RefittedFolds.start(samples, found, None, options), []
    for test in folds.tests:
        part = samples.subsample(np.setdiff1d(np.arange(len(samples.rows)), test))
        assert len(part.columns) > len(part.rows)  # some have no outputs
        settings = {"alpha": found.curve.penalty / len(part.rows), "manifold": 0.1, "scale": False}
        refit = OperatorKernelRegressor(found.kernels[0].kernel, **settings).fit(X.iloc[part.columns], y[part.columns])
        left_out = samples.rows[test]
        errors.extend((y[left_out] - refit.predict(X.iloc[left_out])) ** 2)
    assert folds.error(Criterion()) == pytest.approx(np.mean(errors), rel=1e-6)
