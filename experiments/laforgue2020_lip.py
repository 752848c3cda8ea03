"""Figure 8 of Laforgue et al. 2020: acceleration of the lip from electromyograms, with outliers in training.

32 pairs of curves, and four more (x_i, -1.2 y_i) for i drawn at random. The outliers are used for training only: for
each of the 32 clean pairs a model is fitted to the other 35 pairs, and the error is the leave-one-out integrated
squared error, averaged over the 32. As in the paper (appendix C.2.3) the input kernel is the integral Laplacian of
rate 7, outputs are projected on m sines and cosines with eigenvalues 1 / (1 + l)^2, alpha minimises the leave-one-out
error of the squared loss, and kappa of the Huber loss varies. Nothing is centred. The Huber loss acts on the residual
in the span of the m functions, as in theorem 7 (``irregular="projected_trapezoid"``).

The paper reads every curve at 64 points: the first 64 of every tenth of the 641. Which four curves it corrupted is not
known, so the draw is repeated.

    python experiments/laforgue2020_lip.py            10 draws, m = 4, 8, 16, a few minutes
    python experiments/laforgue2020_lip.py --quick    1 draw, fewer kappas, under a minute

Prints a table, writes output/laforgue2020_lip.csv and output/laforgue2020_lip.png.
"""

from __future__ import annotations

import numpy as np
from common import arguments, figures_of, progress, save_figure, smaller, table, with_error, write_csv

from hilbertlearn import FunctionalRegressor, kernels, spaces
from hilbertlearn.losses import Huber
from hilbertlearn.metrics import integrated_squared_error
from hilbertlearn.readers import load_lip_emg

CLEAN, OUTLIERS, RATE = 32, 4, 7.0
ALPHAS = np.geomspace(1e-8, 1e1, 37)


def read(path):
    """Input and output curves (32, 64), and their points on [0, 1]."""
    data = load_lip_emg(path)
    grid = np.linspace(0, 1, 64)
    return data.X[:, ::10][:, :64], data.Y[:, ::10][:, :64], grid


def corrupted(X, Y, rng):
    """The samples and four copies with turned outputs."""
    rows = rng.choice(len(X), OUTLIERS, replace=False)
    return np.concatenate([X, X[rows]]), np.concatenate([Y, -1.2 * Y[rows]])


def model(m, grid, **settings):
    return FunctionalRegressor(
        kernels.IntegratedKernel("laplacian", RATE, grid=grid),
        space=spaces.Fourier(m, constant=False, rate=2),
        grid=grid,
        center=False,
        irregular="projected_trapezoid",  # theorem 7: the loss is of the residual in the span of the m functions
        **settings,
    )


def left_out_errors(estimator, alphas, X, Y, grid):
    """Integrated squared errors (32, n_alphas) of the clean curves, each predicted without itself."""
    errors = np.empty((CLEAN, len(alphas)))
    for i in range(CLEAN):
        rest = np.delete(np.arange(len(X)), i)
        for k, fitted in enumerate(estimator.fit_path(X[rest], Y[rest], alphas)):
            errors[i, k] = integrated_squared_error(Y[[i]], fitted.predict(X[[i]]), grid)
    return errors


def best_ridge(X, Y, m, grid):
    """alpha of the squared loss with the smallest leave-one-out error, and that error."""
    errors = left_out_errors(model(m, grid), ALPHAS, X, Y, grid).mean(axis=0)
    return float(ALPHAS[np.argmin(errors)]), float(errors.min())


def runs(X, Y, draws, sizes, kappas, grid):
    """One dictionary for each m, draw of outliers and loss."""
    for m in sizes:
        alpha, error = best_ridge(X, Y, m, grid)
        yield {"m": m, "draw": "", "loss": "squared, no outliers", "alpha": alpha, "kappa": "", "error": error}
        for draw in progress(draws, f"m = {m:2d}"):
            X_all, Y_all = corrupted(X, Y, np.random.default_rng(draw))
            alpha, error = best_ridge(X_all, Y_all, m, grid)
            same = {"m": m, "draw": draw, "alpha": alpha}
            yield {**same, "loss": "squared", "kappa": np.inf, "error": error}
            for kappa in [*map(float, kappas), "auto"]:
                errors = left_out_errors(model(m, grid, loss=Huber(kappa)), [alpha], X_all, Y_all, grid)
                name = "Huber, kappa auto" if kappa == "auto" else "Huber"
                yield {**same, "loss": name, "kappa": kappa, "error": float(errors.mean())}


def select(rows, m, loss, kappa=None):
    """Errors of a loss over the draws."""
    found = [r for r in rows if r["m"] == m and r["loss"] == loss]
    return np.array([r["error"] for r in found if kappa is None or r["kappa"] == kappa])


def summary(rows, sizes, kappas):
    lines = []
    for m in sizes:
        squared = select(rows, m, "squared")
        curves = np.stack([select(rows, m, "Huber", kappa) for kappa in kappas])  # (n_kappas, draws)
        best = int(np.argmin(curves.mean(axis=1)))
        alphas = [r["alpha"] for r in rows if r["m"] == m and r["loss"] == "squared"]
        lines.append(
            [
                m,
                f"{select(rows, m, 'squared, no outliers')[0]:.3f}",
                with_error(squared),
                f"{with_error(curves[best])} ({kappas[best]:.2g})",
                with_error(squared - curves[best]),
                f"{int((curves[best] < squared).sum())} of {len(squared)}",
                with_error(select(rows, m, "Huber, kappa auto")),
                f"{np.abs(curves[-1] - squared).max():.1e}",
                f"{np.median(alphas):.1e}",
            ]
        )
    header = ["m", "squared, no outliers", "squared", "Huber at the best kappa", "difference", "draws won"]
    return table([*header, "Huber, kappa auto", "largest kappa against squared", "alpha (median)"], lines)


def plot(rows, sizes, kappas):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(6, 4))
    for colour, m in enumerate(sizes):
        style = {"color": f"C{colour}"}
        curves = np.stack([select(rows, m, "Huber", kappa) for kappa in kappas])
        axis.plot(kappas, curves.mean(axis=1), marker="o", ms=3, label=f"Huber, m = {m}", **style)
        axis.axhline(select(rows, m, "squared").mean(), ls="--", lw=1, **style)
        axis.axhline(select(rows, m, "squared, no outliers")[0], ls=":", lw=1, **style)
    axis.set(xscale="log", xlabel="kappa", ylabel="leave-one-out error", ylim=(0, None))
    axis.set_title("Lip acceleration, 4 outliers in 36 (dashed: squared loss, dotted: without outliers)", fontsize=9)
    axis.legend(fontsize=8)
    save_figure(figure, "laforgue2020_lip")


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, CLEAN=8, OUTLIERS=1, ALPHAS=ALPHAS[::6]):
        return figures_of(main, ["error"], "m", "loss", data=folder)


def main():
    options = arguments(__doc__, data="lip_emg")
    X, Y, grid = read(options.data)
    draws, sizes, kappas = range(10), (4, 8, 16), np.geomspace(0.02, 5, 17)
    if options.quick:
        draws, sizes, kappas = range(1), (4, 16), np.geomspace(0.02, 5, 7)
    rows = list(runs(X, Y, draws, sizes, kappas, grid))
    write_csv("laforgue2020_lip", rows)
    plot(rows, sizes, kappas)
    print(summary(rows, sizes, kappas))


if __name__ == "__main__":
    main()
