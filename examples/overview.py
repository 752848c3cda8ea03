"""Four kinds of outputs in one picture: vectors with outliers, curves with gaps, a vector field, links of a network.

All settings have their defaults. Writes docs/figures/overview.png, the figure of the README.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from hilbertlearn import FunctionalRegressor, LinkPredictor, OperatorKernelRegressor, datasets, kernels

PICTURE = Path(__file__).parents[1] / "docs" / "figures" / "overview.png"
INK, WARM, COOL, PALE = "#222222", "#d1495b", "#00798c", "#b8b8b8"


def outliers(ax):
    """A function with noise and gross errors."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-3, 3, size=120))
    y = np.sin(2 * x) + 0.15 * rng.normal(size=120)
    wrong = rng.choice(120, 18, replace=False)
    y[wrong] += 4
    at = np.linspace(-3, 3, 300)
    ax.plot(x, y, ".", color=PALE)
    for loss, colour in (("squared", WARM), ("huber", COOL)):
        fitted = OperatorKernelRegressor(loss=loss).fit(x[:, None], y)
        ax.plot(at, fitted.predict(at[:, None]), color=colour, label=loss)
    ax.plot(at, np.sin(2 * at), "--", color=INK, lw=1, label="truth")
    ax.legend(frameon=False, fontsize=8)
    ax.set_title("numbers and vectors,\nsome of them wrong", fontsize=10)


def curves(ax):
    """Whole curves from vectors, half of the training points not observed."""
    X, Y, _, grid = datasets.make_gaussian_process_curves(203, random_state=0)
    rng = np.random.default_rng(0)
    seen = np.where(rng.random(Y.shape) < 0.5, np.nan, Y + 0.3 * rng.normal(size=Y.shape))
    model = FunctionalRegressor(grid=grid).fit(X[:200], seen[:200])
    for row, colour in zip((200, 201, 202), (WARM, COOL, INK), strict=True):
        ax.plot(grid, seen[row], ".", color=colour, alpha=0.25)
        ax.plot(grid, model.predict(X[row : row + 1])[0], color=colour)
        ax.plot(grid, Y[row], "--", color=colour, lw=1)
    ax.set_title("curves with gaps: predicted,\nand true (dashed), for new inputs", fontsize=10)


def field(ax):
    """A divergence-free flow from noisy arrows."""

    def flow(p):
        return np.column_stack([np.cos(2 * p[:, 1]), np.sin(2 * p[:, 0])])

    rng = np.random.default_rng(1)
    X = rng.uniform(-1.5, 1.5, size=(40, 2))
    model = OperatorKernelRegressor(kernels.DivergenceFreeKernel()).fit(X, flow(X) + 0.1 * rng.normal(size=(40, 2)))
    axis = np.linspace(-1.5, 1.5, 40)
    at = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    U, V = model.predict(at).T.reshape(2, 40, 40)
    ax.streamplot(axis, axis, U, V, color=COOL, density=0.9, linewidth=0.7, arrowsize=0.7)
    ax.quiver(*X.T, *flow(X).T, color=WARM, width=0.006, zorder=3)
    ax.set_title("vector fields: a flow without sources\nfrom forty arrows", fontsize=10)


def links(ax):
    """Links between new images of the same digit, from the links of others."""
    X, digits = load_digits(return_X_y=True)
    known, new = np.arange(300), np.arange(300, 360)
    new = new[np.argsort(digits[new], kind="stable")]
    same = digits[known][:, None] == digits[known]
    model = LinkPredictor(gamma="auto").fit(X[known], same & ~np.eye(300, dtype=bool))
    ax.imshow(model.pair_scores(X[new]), cmap="GnBu")
    for end in np.flatnonzero(np.diff(digits[new])) + 0.5:
        ax.axhline(end, color=INK, lw=0.4)
        ax.axvline(end, color=INK, lw=0.4)
    ax.set_title("links between new nodes:\npictures of the same digit", fontsize=10)


def main():
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.4))
    for draw, ax in zip((outliers, curves, field, links), axes, strict=True):
        draw(ax)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110)
    print(f"wrote {PICTURE.name}")


if __name__ == "__main__":
    main()
