"""Pictures of the guide, from the data of its pages: writes docs/figures/guide_*.png.

python docs/guide/make_figures.py
"""

import io
import os
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from hilbertlearn import (
    ConformalPredictor,
    FunctionalRegressor,
    OperatorKernelRegressor,
    QuantileRegressor,
    kernels,
    losses,
    outlier_report,
    plotting,
)

FIGURES = Path(__file__).parents[1] / "figures"
INK, WARM, COOL, PALE = "#222222", "#d1495b", "#00798c", "0.72"


def save(figure, name):
    for axis in figure.axes:
        axis.spines[["top", "right"]].set_visible(False)
    path = FIGURES / f"guide_{name}.png"
    part, drawn = path.with_suffix(".part"), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=90)
    Image.open(drawn).convert("RGB").quantize(64).save(part, format="png", optimize=True)  # a third of the size
    os.replace(part, path)
    plt.close(figure)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def new_figure(columns=1, width=4.4, height=3.1):
    return plt.subplots(1, columns, figsize=(width * columns, height), layout="constrained", squeeze=False)


def functions():
    """Heights of plants, seven in ten of them missing, and curves predicted for new plants."""
    rng = np.random.default_rng(0)
    soil, days = rng.uniform(size=(100, 2)), np.linspace(0, 60, 31)
    truth = 40 / (1 + np.exp(-(days - 25 - 20 * soil[:, :1]) / (3 + 5 * soil[:, 1:])))
    seen = truth + rng.normal(size=truth.shape)
    seen[rng.random(seen.shape) < 0.7] = np.nan
    model = FunctionalRegressor("rbf", gamma=1.0, alpha=1e-4, grid=days).fit(soil[:50], seen[:50])
    figure, [[left, right]] = new_figure(2)
    for k, colour in enumerate((COOL, WARM, INK)):
        left.plot(days, seen[k], "o", ms=4, color=colour)
        new = 50 + 7 * k
        right.plot(days, truth[new], color=colour, lw=4, alpha=0.3, label=None if k else "truth")
        right.plot(days, model.predict(soil[new : new + 1])[0], color=colour, lw=1.3, label=None if k else "predicted")
    left.set(title="seen: three of fifty plants", xlabel="day", ylabel="height (cm)")
    right.set(title="three new plants", xlabel="day", ylim=left.get_ylim())
    right.legend(frameon=False)
    save(figure, "functions")


def vector_fields():
    """Twenty arrows, and the current predicted from them, without and with a divergence-free kernel."""
    rng = np.random.default_rng(0)

    def current(places):
        x, y = 3 * places.T
        return np.column_stack([-np.sin(x) * np.sin(y), -np.cos(x) * np.cos(y)])

    places = rng.uniform(-1, 1, size=(240, 2))
    arrows = current(places) + 0.15 * rng.normal(size=places.shape)
    places, arrows = places[60:80], arrows[60:80]
    grid = np.stack(np.meshgrid(*2 * [np.linspace(-1, 1, 13)]), axis=-1).reshape(-1, 2)
    plain = OperatorKernelRegressor("rbf").fit(places, arrows).predict(grid)
    ours = OperatorKernelRegressor(kernels.DivergenceFreeKernel(gamma="auto")).fit(places, arrows).predict(grid)
    figure, [axes] = new_figure(3, width=3.3, height=3.4)
    titles = ("truth, and 20 arrows", "each component by itself", "a flow without sources")
    for axis, field, title in zip(axes, (current(grid), plain, ours), titles, strict=True):
        error = np.sqrt(np.mean((field - current(grid)) ** 2))
        axis.quiver(*grid.T, *field.T, color=PALE if title.startswith("truth") else COOL, scale=16, width=0.005)
        axis.set(title=title if error == 0 else f"{title}: error {error:.2f}", xticks=[], yticks=[], aspect="equal")
        axis.title.set_fontsize(10)
    axes[0].quiver(*places.T, *arrows.T, color=WARM, scale=16, width=0.007)
    save(figure, "vector_fields")


def quantiles():
    """Quantiles of several levels over one input."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(600, 1))
    y = np.sin(6 * X[:, 0]) + (0.1 + X[:, 0]) * rng.normal(size=600)
    levels = (0.05, 0.25, 0.5, 0.75, 0.95)
    model = QuantileRegressor(levels, kernel="rbf", gamma=5.0, alpha=3e-3, coupling=10.0).fit(X[:150], y[:150])
    figure, [[axis]] = new_figure(width=6)
    plotting.plot_quantiles(X[:150, 0], model.predict(X[:150]), levels, axis, y=y[:150], color=COOL)
    axis.set(xlabel="X", ylabel="y")
    save(figure, "quantiles")


def outliers():
    """Segments that the report marks, and the curve with a wrong segment."""
    rng = np.random.default_rng(0)
    X, t = rng.uniform(size=(60, 2)), np.linspace(0, 1, 41)
    Y = np.sin(5 * t + 3 * X[:, :1]) + X[:, 1:] * t**2 + 0.05 * rng.normal(size=(60, 41))
    Y[12], Y[7, 5:13] = 2 - Y[12], Y[7, 5:13] + 1.5
    model = FunctionalRegressor("rbf", gamma=2.0, alpha=1e-5, loss=losses.Huber(p=1)).fit(X, Y)
    figure, [[left, right]] = new_figure(2)
    left.plot(t, Y[:30].T, color=PALE, lw=0.5)
    for k, colour in ((12, WARM), (7, COOL)):
        left.plot(t, Y[k], "o", ms=3, color=colour, label=f"curve {k}")
        left.plot(t, model.predict(X[k : k + 1])[0], color=colour, lw=1.5)
    left.legend(frameon=False)
    left.set(title="seen (dots) and fitted (lines)", xlabel="t")
    plotting.plot_outliers(outlier_report(model), right, kind="stretches", n_named=4)
    save(figure, "outliers")


def bands():
    """Three new curves inside their bands."""
    rng = np.random.default_rng(0)
    X, t = rng.uniform(size=(600, 2)), np.linspace(0, 1, 40)
    Y = np.sin(5 * t + 3 * X[:, :1]) + X[:, 1:] * t**2 + (0.05 + 0.2 * t) * rng.normal(size=(600, 1))
    model = ConformalPredictor(FunctionalRegressor("rbf", gamma=1.0, grid=t), level=0.9).fit(X[:200], Y[:200])
    rows = [201, 204, 211]
    figure, [[axis]] = new_figure(width=6)
    plotting.plot_band(model.predict_band(X[rows]), axis, grid=t, y=Y[rows])
    axis.set(xlabel="t", title="90 % bands of three new curves, and the curves")
    save(figure, "bands")


def novelty():
    """Intervals of two scores around samples with a gap, and the novelty of inputs."""
    rng = np.random.default_rng(0)
    X = np.r_[rng.uniform(0, 1, size=50), rng.uniform(2, 3, size=50)][:, None]
    y = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=100)
    x = np.linspace(-1, 4, 201)[:, None]
    figure, [[left, right]] = new_figure(2)
    for score, colour in (("auto", WARM), ("novelty", COOL)):
        regressor = OperatorKernelRegressor("rbf", gamma=2.0, alpha=1e-3)
        model = ConformalPredictor(regressor, level=0.9, score=score).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # inputs far from all samples
            low, high = model.predict_interval(x).T
        left.fill_between(x[:, 0], low, high, color=colour, alpha=0.3, lw=0, label=f'score="{score}"')
    left.plot(X, y, "o", ms=2.5, color=INK)
    left.set(title="intervals of level 0.9", xlabel="x", ylabel="y", ylim=(-2.2, 2.2))
    left.legend(frameon=False, loc="lower left")
    right.plot(x, model.estimator_.novelty(x), color=INK)
    right.plot(X, np.zeros(100), "|", color=INK)
    threshold = model.estimator_.machine_.posterior().threshold
    right.axhline(threshold, color=PALE, lw=1)
    right.text(-1, threshold + 0.02, "predictions warn above", color="0.45")
    right.set(title="novelty(x)", xlabel="x")
    save(figure, "novelty")


def river():
    """Thirteen heights along a spiral, and the predictions with and without the unlabelled places."""
    rng = np.random.default_rng(0)
    angle = np.sort(rng.uniform(0, 12, 400))
    spiral = np.column_stack([angle * np.cos(angle), angle * np.sin(angle)]) / 6
    height = np.full(400, np.nan)
    height[::33] = angle[::33]
    figure, [axes] = new_figure(2, width=3.7, height=3.2)
    for axis, manifold in zip(axes, (0, 0.1), strict=True):
        model = OperatorKernelRegressor("rbf", gamma=10.0, alpha=1e-4, manifold=manifold).fit(spiral, height)
        shown = axis.scatter(*spiral.T, c=model.predict(spiral), s=14, vmin=0, vmax=12, cmap="viridis")
        axis.plot(*spiral[::33].T, "o", ms=9, mfc="none", mec=WARM)
        axis.set_title(f"manifold={manifold}, R2 {model.score(spiral, angle):.2f}")
        axis.set(xticks=[], yticks=[], aspect="equal")
    figure.colorbar(shown, ax=axes, label="height", shrink=0.8)
    save(figure, "river")


if __name__ == "__main__":
    for draw in (functions, vector_fields, quantiles, outliers, bands, novelty, river):
        draw()
