"""Pictures of curves, choices, coefficients, inputs, links, rankings, images and fields: drawn is what was given."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from hilbertlearn import (
    FunctionalRegressor,
    IrregularFunctions,
    KernelAutoencoder,
    OperatorKernelRegressor,
    kernels,
    losses,
    plotting,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

rng = np.random.default_rng(0)
GRID = np.linspace(0, 2, 11)
X = rng.uniform(size=(24, 2))
CURVES = np.sin(2 * GRID + 3 * X[:, :1])
RING = np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0)
AXIS = np.linspace(-1, 1, 5)
POINTS = np.stack(np.meshgrid(AXIS, 2 * AXIS[:4]), axis=-1).reshape(-1, 2)


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


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
        lambda ax=None: plotting.plot_choice(chosen, ax),
        lambda ax=None: plotting.plot_choice(chosen, ax, over="both"),
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


# ---------------------------------------------------------------- curves


def test_curves_are_lines_and_gaps_are_dots():
    seen = CURVES + 0.5
    seen[:, 4:6] = np.nan
    ax = plotting.plot_curves(CURVES, grid=GRID, y=seen, samples=[7, 2], label="predicted", y_label="seen")
    assert len(ax.lines) == 4
    for line, wanted in zip(ax.lines, (CURVES[7], seen[7], CURVES[2], seen[2])):
        assert_array_equal(line.get_xdata(), GRID)
        assert_array_equal(line.get_ydata(), wanted)
    assert ax.lines[1].get_marker() == "o" and ax.lines[1].get_linestyle() == "None"
    assert ax.lines[1].get_color() == ax.lines[0].get_color() != ax.lines[2].get_color()
    assert ax.get_legend_handles_labels()[1] == ["predicted", "seen"]
    assert plotting.plot_curves(CURVES, y=CURVES, samples=[0]).lines[1].get_linestyle() == "--"


def test_curves_in_other_forms():
    assert len(plotting.plot_curves(CURVES).lines) == 6
    single = plotting.plot_curves(CURVES[0]).lines[0]
    assert_allclose(single.get_xdata(), np.linspace(0, 1, 11))  # the estimators' grid
    several = plotting.plot_curves(np.stack([CURVES, -CURVES], axis=-1), samples=[3], grid=GRID)
    assert [line.get_linestyle() for line in several.lines] == ["-", "--"]
    assert_array_equal(several.lines[1].get_ydata(), -CURVES[3])
    points = [[2.0, 0.5, 1.0], [0.0, 1.5]]
    own = IrregularFunctions(points, [[1.0, 2.0, 3.0], [4.0, 5.0]])
    ax = plotting.plot_curves(own)
    assert_array_equal(ax.lines[0].get_xydata(), [[0.5, 2], [1, 3], [2, 1]])
    ax = plotting.plot_curves(CURVES[:2], grid=GRID, y=own)
    assert_array_equal(ax.lines[3].get_xydata(), [[0, 4], [1.5, 5]])
    skfda = pytest.importorskip("skfda")
    assert_allclose(plotting.plot_curves(skfda.FDataGrid(CURVES, GRID)).lines[0].get_xdata(), GRID)


def test_band_of_curves_has_their_colour():
    band = SimpleNamespace(lower=CURVES - 1, upper=CURVES + 1, center=CURVES)
    ax = plotting.plot_curves(CURVES, band=band, samples=[4, 1], grid=GRID)
    heights = ax.collections[1].get_paths()[0].vertices[:, 1]
    assert_allclose([heights.min(), heights.max()], [CURVES[1].min() - 1, CURVES[1].max() + 1])
    colours = [matplotlib.colors.to_rgb(line.get_color()) for line in ax.lines if len(line.get_ydata()) == 11]
    assert_allclose(ax.collections[1].get_facecolor()[0, :3], colours[-1])
    assert len(ax.lines) == 2 * 2 + 2  # both ends of both bands, and the curves once


def test_curves_that_do_not_fit_are_refused_before_a_figure():
    with pytest.raises(ValueError, match="y must have the 24 samples of curves, got 2"):
        plotting.plot_curves(CURVES, y=CURVES[:2])
    with pytest.raises(ValueError, match="curves must be functions of one variable, got 2"):
        plotting.plot_curves(np.zeros((2, 3, 4)), grid=(np.arange(3.0), np.arange(4.0)))
    assert not plt.get_fignums()


# ---------------------------------------------------------------- choices


def test_choice_has_the_smallest_error_at_each_value(chosen):
    tried = chosen.search_results_
    for over in ("alpha", "gamma"):
        ax = plotting.plot_choice(chosen, over=over)
        line = next(line for line in ax.lines if line.get_label() == "rbf")
        own = tried["kernel"] == "rbf"
        values, errors = tried[over][own].astype(float), tried["error"][own]
        assert len(line.get_xdata()) == len({f"{value:.4e}" for value in values})
        for value, error in zip(*line.get_data()):
            assert_allclose(error, errors[np.isclose(values, value, rtol=1e-4, atol=0)].min())
        assert ax.get_xscale() == "log" and ax.get_xlabel() == over
    assert {"rbf", "matern32", "linear"} <= {line.get_label() for line in plotting.plot_choice(chosen).lines}


def test_choice_is_marked(chosen):
    ax = plotting.plot_choice(chosen)
    mark = ax.lines[-1]
    assert mark.get_label().startswith(f"chosen: {chosen.kernel_}, alpha = ")
    assert_allclose(mark.get_xdata(), chosen.alpha_, rtol=1e-3)
    tried = chosen.search_results_
    own = (tried["kernel"] == chosen.kernel_) & np.isclose(tried["alpha"], chosen.alpha_, rtol=1e-3)
    assert mark.get_ydata()[0] in tried["error"][own]
    star = plotting.plot_choice(chosen, over="both").lines[-1]
    assert_allclose(star.get_xydata()[0], [chosen.alpha_, chosen.gamma_], rtol=1e-3)


def test_map_of_the_choice_has_all_pairs_of_the_chosen_kernel(chosen):
    (dots,) = plotting.plot_choice(chosen, over="both").collections
    own = chosen.search_results_["kernel"] == chosen.kernel_
    assert_allclose(np.sort(dots.get_array()), np.sort(chosen.search_results_["error"][own]))


def test_stages_that_cannot_be_compared_are_lines_of_their_own():
    model = OperatorKernelRegressor("rbf", gamma=1.0, loss=losses.EpsilonInsensitive(0.1)).fit(X, CURVES[:, :2])
    stages = set(zip(model.search_results_["method"], model.search_results_["n_samples"]))
    ax = plotting.plot_choice(model)
    assert len([line for line in ax.lines if line.get_label().startswith("rbf")]) == len(stages)


def test_alphas_of_each_output_are_lines():
    model = OperatorKernelRegressor("rbf", alpha_per_output=True).fit(X, CURVES[:, :2] + rng.normal(size=(24, 2)))
    upright = [line.get_xdata()[0] for line in plotting.plot_choice(model).lines if len(set(line.get_xdata())) == 1]
    assert_allclose(upright[:2], model.alpha_)


def test_choice_of_nothing_is_refused(chosen):
    fixed = OperatorKernelRegressor("rbf", gamma=1.0, alpha=0.1).fit(X, CURVES[:, 0])
    with pytest.raises(ValueError, match=r"model has chosen nothing: .* set alpha='auto'"):
        plotting.plot_choice(fixed)
    with pytest.raises(NotFittedError):
        plotting.plot_choice(OperatorKernelRegressor())
    with pytest.raises(TypeError, match="model must be a fitted estimator, got float"):
        plotting.plot_choice(3.0)
    with pytest.raises(ValueError, match="over: unknown name 'alhpa', did you mean 'alpha'"):
        plotting.plot_choice(chosen, over="alhpa")
    linear = OperatorKernelRegressor("linear").fit(X, CURVES[:, 0])
    with pytest.raises(ValueError, match="no gamma was tried; use over='alpha'"):
        plotting.plot_choice(linear, over="gamma")
    assert not plt.get_fignums()


# ---------------------------------------------------------------- coefficients


def test_coefficients_are_the_image_and_held_samples_are_marked(robust):
    ax = plotting.plot_coefficients(robust)
    assert_allclose(ax.images[0].get_array(), robust.dual_coef_)
    held = np.flatnonzero(robust.saturated_)
    assert 5 in held
    assert_array_equal(ax.lines[0].get_ydata(), held)


def test_entries_held_back_are_marked():
    outputs = CURVES.copy()
    outputs[5, 2] += 9.0
    model = FunctionalRegressor("rbf", gamma=1.0, alpha=1e-3, loss=losses.Huber(0.3, p=1)).fit(X, outputs)
    marks = plotting.plot_coefficients(model).lines[0]
    assert_array_equal(marks.get_xydata(), np.argwhere(model.saturated_)[:, ::-1])
    assert [2, 5] in marks.get_xydata().tolist()


def test_samples_in_use_and_not(robust):
    ax = plotting.plot_coefficients(robust, kind="samples")
    sizes = np.linalg.norm(robust.dual_coef_, axis=1)
    drawn = np.concatenate([line.get_xydata() for line in ax.lines])
    assert_allclose(drawn[np.argsort(drawn[:, 0])], np.c_[np.arange(24), sizes])
    sparse = OperatorKernelRegressor("rbf", gamma=1.0, alpha=1e-3, loss=losses.EpsilonInsensitive(0.5)).fit(X, CURVES)
    ax = plotting.plot_coefficients(sparse, kind="samples")
    assert ax.lines[0].get_label() == f"{24 - len(sparse.support_)} not in use"
    image = plotting.plot_coefficients(sparse).images[0].get_array()
    assert_array_equal(np.flatnonzero(~image.mask.all(axis=1)), sparse.support_)


def test_models_without_coefficients_of_samples_are_refused():
    with pytest.raises(TypeError, match="model must be a fitted kernel machine of the package, got KernelAutoencoder"):
        plotting.plot_coefficients(KernelAutoencoder(2))
    with pytest.raises(NotFittedError):
        plotting.plot_coefficients(OperatorKernelRegressor())
    batches = OperatorKernelRegressor("rbf", gamma=1.0, alpha=1e-2, feature_map=5).partial_fit(X, CURVES)
    with pytest.raises(AttributeError, match="coefficients of samples are not kept of rows that come in batches"):
        plotting.plot_coefficients(batches)
    assert not plt.get_fignums()


# ---------------------------------------------------------------- importances


def test_importances_are_bars_from_the_largest():
    model = OperatorKernelRegressor(kernels.MetricKernel(n_rounds=2), alpha=1e-3).fit(X, CURVES[:, 3])
    diagonal = np.diag(model.metric_)
    ax = plotting.plot_importances(model, names=["b", "a"])
    assert_allclose([bar.get_width() for bar in ax.patches], np.sort(diagonal)[::-1])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == (
        ["b", "a"] if diagonal[0] > diagonal[1] else ["a", "b"]
    )
    assert len(plotting.plot_importances(np.arange(9.0), n_shown=4).patches) == 4


def test_importances_of_pixels_are_an_image():
    ax = plotting.plot_importances(np.diag(np.arange(6.0)), shape=(2, 3))
    assert_allclose(ax.images[0].get_array(), [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize(
    ("model", "settings", "error", "message"),
    [
        ([1.0, 2.0], {"names": ["a"]}, ValueError, "names must have one for each of the 2 inputs, got 1"),
        ([1.0, 2.0], {"shape": (2, 2)}, ValueError, "shape must be .* of 2 pixels"),
        (np.ones((2, 3)), {}, ValueError, r"must be \(p, p\), or its diagonal"),
        (OperatorKernelRegressor(), {}, NotFittedError, "not fitted"),
    ],
)
def test_importances_of_nothing_are_refused(model, settings, error, message):
    with pytest.raises(error, match=message):
        plotting.plot_importances(model, **settings)
    assert not plt.get_fignums()


def test_models_without_a_metric_are_refused():
    plain = OperatorKernelRegressor("rbf", gamma=1.0, alpha=0.1).fit(X, CURVES[:, 0])
    with pytest.raises(TypeError, match=r"learnt no metric; fit it with kernel=kernels.MetricKernel\(\)"):
        plotting.plot_importances(plain)


# ---------------------------------------------------------------- links


def test_positions_follow_the_paths():
    hexagon = plotting.node_positions(RING)
    radii = np.linalg.norm(hexagon, axis=1)
    assert_allclose(radii, radii.mean(), rtol=0.02)  # regular, by symmetry
    assert_array_equal(hexagon, plotting.node_positions(RING))
    path = np.diag(np.ones(4), 1)
    ends = plotting.node_positions(path + path.T)
    lengths = np.linalg.norm(ends[:, None] - ends, axis=2)
    assert_allclose(lengths, np.abs(np.subtract.outer(range(5), range(5))), atol=0.05)
    assert np.isfinite(plotting.node_positions(np.kron(np.eye(2), np.ones((2, 2)) - np.eye(2)))).all()  # two parts


def test_links_join_their_nodes():
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]
    places = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    found = [("a", "c", 2.0), ("b", "d", 1.0)]
    ax = plotting.plot_links(edges, predicted=found, positions=places)
    known, predicted, _ = ax.collections
    assert {tuple(map(tuple, sorted(s.tolist()))) for s in known.get_segments()} == {
        ((0, 0), (1, 0)), ((1, 0), (1, 1)), ((0, 1), (1, 1)), ((0, 0), (0, 1))
    }  # fmt: skip
    assert_array_equal(predicted.get_segments(), [[[0, 0], [1, 1]], [[1, 0], [0, 1]]])
    assert predicted.get_linewidths()[0] > predicted.get_linewidths()[1]
    assert {text.get_text() for text in ax.texts} == {"a", "b", "c", "d"}
    assert [text.get_text() for text in plotting.plot_links(edges, predicted=found, named=["d"]).texts] == ["d"]


def test_links_by_a_matrix_and_groups():
    guess = np.zeros((6, 6), dtype=bool)
    guess[0, 3] = guess[3, 0] = True
    ax = plotting.plot_links(RING, predicted=guess, groups=["x", "x", None, "y", "y", "y"])
    assert_array_equal(ax.collections[1].get_segments(), plotting.node_positions(RING)[[[0, 3]]])
    assert [len(dots.get_offsets()) for dots in ax.collections[2:]] == [2, 3, 1]
    assert ax.get_legend_handles_labels()[1] == ["known links", "predicted links", "x", "y"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"predicted": [(0, 9, 1.0)]}, "predicted: 9 is no node of graph"),
        ({"predicted": [(0, 1)]}, r"entries \(name, name, score\)"),
        ({"predicted": np.eye(3)}, r"predicted must be a matrix \(6, 6\)"),
        ({"positions": np.zeros((5, 2))}, "positions must have a row of two numbers for each of the 6 nodes"),
        ({"groups": [0, 1]}, "groups must have a label for each of the 6 nodes, got 2"),
        ({"named": ["z"]}, "named: 'z' is no node of graph"),
    ],
)
def test_links_of_other_nodes_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        plotting.plot_links(RING, **settings)
    assert not plt.get_fignums()


# ---------------------------------------------------------------- rankings


def test_rankings_are_lines_between_places():
    ax = plotting.plot_rankings([10, 30, 20, np.nan], [1, 2, 3, 0], items=["a", "b", "c", "d"])
    places = [line.get_ydata().tolist() for line in ax.lines]
    assert places[:3] == [[1, 2], [3, 3], [2, 4]] and np.isnan(places[3][0]) and places[3][1] == 1
    colours = [line.get_color() for line in ax.lines]
    assert colours[0] == colours[3] and len(set(colours)) == 3  # a keeps its place among those ranked, b rises, c falls
    assert [text.get_text() for text in ax.texts].count("d") == 1
    assert ax.get_xlabel() == "Kendall's tau 0.333"
    assert ax.yaxis_inverted()


@pytest.mark.parametrize(
    ("y", "predicted", "items", "message"),
    [
        ([[0, 1]], [[0, 1]], None, r"must be ranks \(k,\) of one sample"),
        ([0, 1], [0, 1, 2], None, r"must be ranks \(k,\) of one sample"),
        ([0, 1], [0, np.nan], None, "predicted must have a rank of every item"),
        ([0, 1], [0, 1], ["a"], "items must have a name for each of the 2 ranks"),
    ],
)
def test_rankings_that_are_none_are_refused(y, predicted, items, message):
    with pytest.raises(ValueError, match=message):
        plotting.plot_rankings(y, predicted, items=items)
    assert not plt.get_fignums()


# ---------------------------------------------------------------- images


def test_images_are_in_their_places():
    pictures = np.arange(2 * 2 * 3, dtype=float).reshape(2, 2, 3)
    holes = pictures.copy()
    holes[1, 0, 0] = np.nan
    ax = plotting.plot_images({"truth": pictures, "seen": holes.reshape(2, 6)}, shape=(2, 3), limits=(0, 11))
    shown = np.asarray(ax.images[0].get_array())
    assert shown.shape == (5, 7, 4)
    greys = matplotlib.colormaps["gray_r"](pictures / 11)
    assert_allclose(shown[:2, 4:], greys[1])
    assert_allclose(shown[3:, :3], greys[0])
    assert (shown[2] == [1, 1, 1, 0]).all() and (shown[:, 3] == [1, 1, 1, 0]).all()  # nothing between
    assert_allclose(shown[3, 4], matplotlib.colors.to_rgba("#9ECAE1"))
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["truth", "seen"]
    assert np.asarray(plotting.plot_images(pictures, n_shown=1).images[0].get_array()).shape == (2, 3, 4)


def test_images_of_other_sizes_are_refused():
    with pytest.raises(ValueError, match=r"images 'a' must be .* with shape="):
        plotting.plot_images({"a": np.zeros((3, 7))}, shape=(2, 3))
    with pytest.raises(ValueError, match="the same number and size in each row"):
        plotting.plot_images({"a": np.zeros((3, 2, 2)), "b": np.zeros((2, 2, 2))})
    assert not plt.get_fignums()


# ---------------------------------------------------------------- fields


def test_arrows_are_the_vectors():
    scattered, vectors = rng.normal(size=(2, 7, 2))
    (arrows,) = plotting.plot_field(scattered, vectors, label="seen").collections
    assert_allclose(arrows.get_offsets(), scattered)
    assert_allclose(np.c_[arrows.U, arrows.V], vectors)


def test_maps_are_divergence_and_curl():
    x, y = POINTS.T
    vectors = np.column_stack([3 * x + y, 5 * x - y])  # divergence 2, curl 4
    shuffled = rng.permutation(len(POINTS))
    for shade, wanted in (("divergence", 2.0), ("curl", 4.0), ("speed", None)):
        mesh = plotting.plot_field(POINTS[shuffled], vectors[shuffled], shade=shade).collections[0]
        wanted = np.linalg.norm(vectors, axis=1).reshape(4, 5) if wanted is None else wanted
        assert_allclose(np.asarray(mesh.get_array()), np.broadcast_to(wanted, (4, 5)))


def test_fields_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"points and vectors must be \(n, 2\)"):
        plotting.plot_field(np.zeros((4, 3)), np.zeros((4, 3)))
    for settings in ({"kind": "streams"}, {"shade": "curl"}):
        with pytest.raises(ValueError, match="points must be a grid for stream lines and maps: 24 of them"):
            plotting.plot_field(X, X, **settings)
    with pytest.raises(ValueError, match="shade: unknown name 'rot'"):
        plotting.plot_field(X, X, shade="rot")
    assert not plt.get_fignums()
