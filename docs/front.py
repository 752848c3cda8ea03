"""The small pictures of the front page: `python docs/front.py` draws docs/figures/front_*.png."""

from __future__ import annotations

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import networkx
import numpy as np
from pages import keep

from hilbertlearn import (
    FunctionalRegressor,
    LinkPredictor,
    OperatorKernelRegressor,
    QuantileRegressor,
    StructuredPredictor,
    datasets,
    kernels,
    metrics,
    plotting,
)

INK, WARM, COOL, PALE = "#222222", "#d1495b", "#00798c", "#b8b8b8"


def numbers(ax):
    """A function with noise and gross errors."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-3, 3, size=120))
    y = np.sin(2 * x) + 0.15 * rng.normal(size=120)
    y[rng.choice(120, 18, replace=False)] += 3
    at = np.linspace(-3, 3, 300)
    ax.plot(x, y, ".", color=PALE)
    for loss, colour in (("squared", WARM), ("huber", COOL)):
        ax.plot(at, OperatorKernelRegressor(loss=loss).fit(x[:, None], y).predict(at[:, None]), color=colour, lw=2)


def curves(ax):
    """Births per woman after 1989 from those before, of test countries."""
    data = datasets.load_fertility(as_frame=True)
    complete = data.frame[data.frame.notna().all(axis=1)]
    shown = ["Iran, Islamic Rep.", "China", "Kenya", "Chile"]
    past, future = np.split(complete.to_numpy(), [30], axis=1)
    new = complete.index.isin(shown)
    model = FunctionalRegressor().fit(past[~new], future[~new])
    for curve, start, colour in zip(complete.to_numpy()[new], past[new], (WARM, COOL, INK, "#edae49")):
        ax.plot(data.years, curve, color=colour, lw=1, ls=":")
        ax.plot(data.years_in, start, color=colour, lw=2)
        ax.plot(data.years_out, model.predict(start[None])[0], color=colour, lw=2)
    ax.axvline(1989.5, color=PALE, lw=1)


def fields(ax):
    """A divergence-free flow from forty noisy arrows."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.5, 1.5, size=(40, 2))
    flow = np.column_stack([np.cos(2 * X[:, 1]), np.sin(2 * X[:, 0])])
    model = OperatorKernelRegressor(kernels.DivergenceFreeKernel()).fit(X, flow + 0.1 * rng.normal(size=(40, 2)))
    axis = np.linspace(-1.5, 1.5, 40)
    U, V = model.predict(np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)).T.reshape(2, 40, 40)
    ax.streamplot(axis, axis, U, V, color=COOL, density=0.7, linewidth=0.8, arrowsize=0.8)
    ax.quiver(*X.T, *flow.T, color=WARM, width=0.009, zorder=3)


def objects(ax):
    """A ranking of six items from five numbers."""
    X, ranks = datasets.make_label_rankings(300, noise=0.3, random_state=0)
    predicted = StructuredPredictor("rbf", output_loss="kendall").fit(X[:290], ranks[:290]).predict(X[290:])
    typical = next(i for i in range(10) if 0.5 < metrics.kendall_tau(ranks[[290 + i]], predicted[[i]]) < 0.9)
    plotting.plot_rankings(ranks[290 + typical], predicted[typical], ax, items="ABCDEF")


def links(ax):
    """Predicted links of a novel."""
    novel = networkx.les_miserables_graph()
    found = LinkPredictor().fit(novel).predict_links(top_k=12)
    plotting.plot_links(novel, ax, predicted=found, named=[])
    if ax.get_legend() is not None:
        ax.get_legend().remove()


def confidence(ax):
    """Quantiles that follow the noise."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=300)
    y = np.sin(6 * x) + (0.1 + 0.7 * x) * rng.normal(size=300)
    levels, at = (0.05, 0.25, 0.5, 0.75, 0.95), np.linspace(0, 1, 200)
    model = QuantileRegressor(levels, kernel="rbf", gamma=5.0, alpha=0.003, coupling=1.0).fit(x[:, None], y)
    ax.plot(x, y, ".", color=PALE)
    plotting.plot_quantiles(at, model.predict(at[:, None]), levels, ax, color=COOL)
    if ax.get_legend() is not None:
        ax.get_legend().remove()


def main():
    with tempfile.TemporaryDirectory() as folder:
        for draw in (numbers, curves, fields, objects, links, confidence):
            figure, ax = plt.subplots(figsize=(3.2, 2.1), layout="constrained")
            draw(ax)
            ax.set(xticks=[], yticks=[], xlabel="", ylabel="", title="")
            ax.spines[:].set_visible(False)
            picture = Path(folder, f"front_{draw.__name__}.png")
            figure.savefig(picture, dpi=130)
            plt.close(figure)
            keep(picture)


if __name__ == "__main__":
    main()
