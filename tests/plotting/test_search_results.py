"""Pictures of search results: errors at each value, and the selected settings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from hilbertlearn import (
    OperatorKernelRegressor,
    losses,
    plotting,
)

plt = pytest.importorskip("matplotlib.pyplot")

rng = np.random.default_rng(0)
GRID = np.linspace(0, 2, 11)
X = rng.uniform(size=(24, 2))
CURVES = np.sin(2 * GRID + 3 * X[:, :1])


@pytest.fixture(scope="module")
def chosen():
    return OperatorKernelRegressor().fit(X, CURVES[:, 3])


def test_choice_has_the_smallest_error_at_each_value(chosen):
    tried = chosen.search_results_
    for over in ("alpha", "gamma"):
        ax = plotting.plot_search_results(chosen, over=over)
        line = next(line for line in ax.lines if line.get_label() == "rbf")
        own = tried["kernel"] == "rbf"
        values, errors = tried[over][own].astype(float), tried["error"][own]
        assert len(line.get_xdata()) == len({f"{value:.4e}" for value in values})
        for value, error in zip(*line.get_data()):
            assert_allclose(error, errors[np.isclose(values, value, rtol=1e-4, atol=0)].min())
        assert ax.get_xscale() == "log" and ax.get_xlabel() == over
    assert {"rbf", "matern32", "linear"} <= {line.get_label() for line in plotting.plot_search_results(chosen).lines}


def test_choice_is_marked(chosen):
    ax = plotting.plot_search_results(chosen)
    mark = ax.lines[-1]
    assert mark.get_label().startswith(f"selected: {chosen.kernel_.name}, alpha = ")
    tried = chosen.search_results_
    own = tried["kernel"] == str(chosen.kernel_)
    alphas = tried["alpha"][own]
    nearest = alphas[np.argmin(np.abs(np.log(alphas / chosen.alpha_)))]  # alpha is a mean of those that were tried
    assert_allclose(mark.get_xdata(), nearest, rtol=1e-3)
    assert mark.get_ydata()[0] in tried["error"][own & np.isclose(tried["alpha"], nearest, rtol=1e-3, atol=0)]
    main = chosen.kernel_.main_part
    x, gamma = plotting.plot_search_results(chosen, over="both").lines[-1].get_xydata()[0]
    assert_allclose(gamma, main.rate, rtol=1e-9)
    assert abs(np.log(x / chosen.alpha_)) <= np.abs(np.log(alphas / chosen.alpha_)).min() + np.log(10) / 4
    assert plotting.plot_search_results(chosen, over="gamma").lines[-1].get_xdata()[0] == gamma


def test_map_of_the_choice_has_all_pairs_of_the_main_kernel(chosen):
    (dots,) = plotting.plot_search_results(chosen, over="both").collections
    own = chosen.search_results_["kernel"] == chosen.kernel_.main_part.kernel
    assert_allclose(np.sort(dots.get_array()), np.sort(chosen.search_results_["error"][own]))


def test_stages_that_cannot_be_compared_are_lines_of_their_own():
    model = OperatorKernelRegressor("rbf", gamma=1.0, loss=losses.EpsilonInsensitive(0.1)).fit(X, CURVES[:, :2])
    stages = set(zip(model.search_results_["method"], model.search_results_["n_samples"]))
    ax = plotting.plot_search_results(model)
    assert len([line for line in ax.lines if line.get_label().startswith("rbf")]) == len(stages)


def test_alphas_of_each_output_are_lines():
    model = OperatorKernelRegressor("rbf", alpha_per_output=True).fit(X, CURVES[:, :2] + rng.normal(size=(24, 2)))
    upright = [
        line.get_xdata()[0] for line in plotting.plot_search_results(model).lines if len(set(line.get_xdata())) == 1
    ]
    assert_allclose(upright[:2], model.alpha_)


def test_choice_of_nothing_is_refused(chosen):
    fixed = OperatorKernelRegressor("rbf", gamma=1.0, alpha=0.1).fit(X, CURVES[:, 0])
    with pytest.raises(ValueError, match=r"model has no search results: .* set alpha='auto'"):
        plotting.plot_search_results(fixed)
    with pytest.raises(NotFittedError):
        plotting.plot_search_results(OperatorKernelRegressor())
    with pytest.raises(TypeError, match="model must be a fitted estimator, got float"):
        plotting.plot_search_results(3.0)
    with pytest.raises(ValueError, match="over: unknown name 'alhpa', did you mean 'alpha'"):
        plotting.plot_search_results(chosen, over="alhpa")
    linear = OperatorKernelRegressor("linear").fit(X, CURVES[:, 0])
    with pytest.raises(ValueError, match="no gamma was tried; use over='alpha'"):
        plotting.plot_search_results(linear, over="gamma")
    assert not plt.get_fignums()
