"""Every picture is drawn on the axes given, or on new ones, and changes no setting of matplotlib."""

import numpy as np
import pytest

from hilbertlearn import (
    FunctionalRegressor,
    OperatorKernelRegressor,
    losses,
    plotting,
)

matplotlib = pytest.importorskip("matplotlib")
plt = pytest.importorskip("matplotlib.pyplot")

rng = np.random.default_rng(0)
GRID = np.linspace(0, 2, 11)
X = rng.uniform(size=(24, 2))
CURVES = np.sin(2 * GRID + 3 * X[:, :1])
RING = np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0)
AXIS = np.linspace(-1, 1, 5)
POINTS = np.stack(np.meshgrid(AXIS, 2 * AXIS[:4]), axis=-1).reshape(-1, 2)


@pytest.fixture(scope="module")
def chosen():
    return OperatorKernelRegressor().fit(X, CURVES[:, 3])


@pytest.fixture(scope="module")
def robust():
    outputs = CURVES.copy()
    outputs[5] += 9.0
    return FunctionalRegressor("rbf", gamma=1.0, alpha=1e-3, loss=losses.Huber(0.3)).fit(X, outputs)


def drawings(chosen, robust):
    return [
        lambda ax=None: plotting.plot_curves(CURVES, ax),
        lambda ax=None: plotting.plot_search_results(chosen, ax),
        lambda ax=None: plotting.plot_search_results(chosen, ax, over="both"),
        lambda ax=None: plotting.plot_coefficients(robust, ax),
        lambda ax=None: plotting.plot_coefficients(robust, ax, kind="samples"),
        lambda ax=None: plotting.plot_importances([1.0, 2.0], ax),
        lambda ax=None: plotting.plot_importances(np.arange(4.0), ax, shape=(2, 2)),
        lambda ax=None: plotting.plot_links(RING, ax),
        lambda ax=None: plotting.plot_rankings([0, 1, 2], [0, 2, 1], ax),
        lambda ax=None: plotting.plot_images(CURVES[:, :9], ax, shape=(3, 3)),
        lambda ax=None: plotting.plot_field(POINTS, POINTS, ax, kind="streams", shade="speed"),
    ]


def test_axes_given_are_drawn_on_and_new_ones_are_made(chosen, robust):
    before = dict(matplotlib.rcParams)
    for draw in drawings(chosen, robust):
        _, (left, right) = plt.subplots(1, 2)
        assert draw(right) is right
        assert right.has_data() and not left.has_data()
        right.figure.canvas.draw()
        new = draw()
        assert new is not right and not left.has_data()
        plt.close("all")
    assert dict(matplotlib.rcParams) == before
