"""What wrappers use of a fitted estimator."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor
from hilbertlearn.machine.fitted import drop_unpredicted

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(20, 2)), rng.normal(size=(20, 3))
MODEL = OperatorKernelRegressor("rbf", gamma=0.5, alpha=0.1).fit(X, Y)


def test_before_the_fit():
    with pytest.raises((AttributeError, NotFittedError)):
        OperatorKernelRegressor().machine_.coordinates(X)


def test_coordinates_of_vectors_are_the_outputs():
    machine = MODEL.machine_
    assert_allclose(machine.coordinates(X), MODEL.predict(X))
    assert_allclose(machine.decode(machine.encode(Y)), Y)
    assert_allclose(machine.residuals(X, Y), Y - MODEL.predict(X))


def test_leave_one_out_models_are_refits():
    machine = MODEL.machine_
    assert machine.leave_one_out_obstacle == ""
    rest = np.arange(20) != 4
    refit = OperatorKernelRegressor("rbf", gamma=0.5, alpha=0.1 * 20 / 19).fit(X[rest], Y[rest])
    models = machine.leave_one_out_models()
    assert_allclose(models.coordinates_at(X[:3])[:, 4], refit.predict(X[:3]), atol=1e-10)
    assert_allclose(Y[4] - machine.loo_residuals()[4], refit.predict(X[4:5])[0], atol=1e-10)


def test_names_of_samples():
    frame = pd.DataFrame(X, columns=["a", "b"], index=[f"s{i}" for i in range(20)])
    named = OperatorKernelRegressor("rbf", gamma=0.5, alpha=0.1).fit(frame, Y)
    assert list(named.machine_.sample_names(np.array([3, 1]))) == ["s3", "s1"]
    assert_array_equal(MODEL.machine_.sample_names(np.array([3, 1])), [3, 1])


def test_without_a_formula():
    huber = OperatorKernelRegressor("rbf", gamma=0.5, alpha=0.1, loss="huber").fit(X, Y)
    assert "Huber" in huber.machine_.leave_one_out_obstacle
    ridge = FunctionalRegressor(regressor=Ridge()).fit(X, Y).machine_
    assert "Ridge" in ridge.leave_one_out_obstacle
    with pytest.raises(ValueError, match="set regressor=None"):
        ridge.leave_one_out_models()
    with pytest.raises(ValueError, match="set regressor=None"):
        ridge.loo_residuals()


def test_unpredicted_outputs_are_dropped_with_a_warning():
    true = np.array([[1.0, 2.0], [3.0, np.nan]])
    with pytest.warns(UserWarning, match="no prediction"):
        assert_array_equal(drop_unpredicted(true, np.array([[True, False]])), [[np.nan, 2.0], [np.nan, np.nan]])
    assert_array_equal(drop_unpredicted(true, np.zeros((1, 2), dtype=bool)), true)


def test_novelty_of_a_dask_collection_is_lazy():
    da = pytest.importorskip("dask.array")
    new = np.vstack([X, X + 3.0])
    lazy = MODEL.novelty(da.from_array(new, chunks=(7, -1)))
    assert lazy.shape == (40,) and not isinstance(lazy, np.ndarray)
    assert_allclose(lazy.compute(), MODEL.novelty(new), atol=1e-12)
