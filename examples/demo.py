"""Robust regression of vectors with gaps: the lower half of a handwritten digit from its upper half.

Inputs and outputs are 32 pixels each. In a tenth of the training images the contrast of the lower half is inverted
and amplified, and 15 % of all training pixels are missing. The test images are clean.

Prints a table and writes demo.png beside this file.
"""

import os
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_digits
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from hilbertlearn import OperatorKernelRegressor, RegularizationPathCV, losses

N_TRAIN, N_TEST = 400, 400
ALPHAS = np.geomspace(1e-4, 1e-1, 7)
PICTURE = Path(__file__).with_name("demo.png")


def digits_with_faults(seed=0):
    """X, Y of training and test images, and the mask of faulty training images; Y has NaN where not observed."""
    rng = np.random.default_rng(seed)
    images = load_digits().images[rng.permutation(1797)[: N_TRAIN + N_TEST]] / 16
    X, Y = images[:, :4].reshape(-1, 32), images[:, 4:].reshape(-1, 32)
    X_train, Y_train = X[:N_TRAIN], Y[:N_TRAIN].copy()
    faulty = np.zeros(N_TRAIN, dtype=bool)
    faulty[rng.choice(N_TRAIN, N_TRAIN // 10, replace=False)] = True
    Y_train[faulty] = 3 * (1 - Y_train[faulty])
    Y_train[rng.random(Y_train.shape) < 0.15] = np.nan
    return X_train, Y_train, X[N_TRAIN:], Y[N_TRAIN:], faulty


def typical_error(model, X, Y):
    """Minus the median over images of the error per pixel: validation images may be faulty too."""
    return -np.median(np.sqrt(np.nanmean((Y - model.predict(X)) ** 2, axis=1)))


def fit_ours(loss, X, Y):
    """alpha by 5 folds along a path; kappa or epsilon from leave-one-out residuals of the squared loss."""
    return RegularizationPathCV(OperatorKernelRegressor(loss=loss), ALPHAS, cv=5, scoring=typical_error).fit(X, Y)


def fit_kernel_ridge(X, Y):
    """scikit-learn's kernel ridge on imputed, centred outputs, with the same path and folds, and a grid of gammas."""
    model = TransformedTargetRegressor(KernelRidge(kernel="rbf"), transformer=StandardScaler(with_std=False))
    gammas = np.array([0.25, 1.0, 4.0]) / (X.shape[1] * X.var())
    grid = {"regressor__alpha": N_TRAIN * ALPHAS, "regressor__gamma": gammas}  # alpha is not divided by n there
    return GridSearchCV(model, grid, cv=5, scoring=typical_error).fit(X, SimpleImputer().fit_transform(Y))


def found(model, Y, faulty):
    """Precision and recall of the detected outliers: images, or pixels for losses that act on pixels."""
    held = model.saturated_
    if not held.any():
        return "-", "-"
    truth = faulty if held.ndim == 1 else faulty[:, None] & np.isfinite(Y)
    hits = (held & truth).sum()
    return f"{hits / held.sum():.2f}", f"{hits / truth.sum():.2f}"


def main():
    X, Y, X_test, Y_test, faulty = digits_with_faults()
    print(f"{N_TRAIN} training images, {faulty.sum()} of them faulty, {np.isnan(Y).mean():.0%} of the pixels missing")
    print(f"\n{'':24}{'test R2':>8}{'support':>9}{'precision':>11}{'recall':>8}{'gap':>9}{'alpha':>9}{'seconds':>9}")
    fitted = {}
    for name, loss in [
        ("squared", losses.Squared()),
        ("Huber(p=2), pictures", losses.Huber(p=2)),
        ("Huber(p=1), pixels", losses.Huber(p=1)),
        ("EpsilonSVR", losses.EpsilonSVR()),
        ("KernelRidge, imputed", None),
    ]:
        start = time.perf_counter()
        if loss is None:
            search = fit_kernel_ridge(X, Y)
        else:
            search = fit_ours(loss, X, Y)
        seconds = time.perf_counter() - start
        fitted[name] = search
        best = search.best_estimator_
        score = r2_score(Y_test, search.predict(X_test), multioutput="variance_weighted")
        if loss is None:
            support, gap, alpha, (precision, recall) = N_TRAIN, "-", best.regressor.alpha / N_TRAIN, ("-", "-")
        else:
            support, gap, alpha = len(best.support_), f"{best.dual_gap_:.0e}", search.alpha_
            precision, recall = found(best, Y, faulty)
        print(
            f"{name:24}{score:8.2f}{support:9d}{precision:>11}{recall:>8}{gap:>9}{alpha:9.0e}{seconds:9.1f}", flush=True
        )
    draw(fitted, X, Y, X_test, Y_test, faulty)
    print(f"\nwrote {PICTURE.relative_to(Path.cwd()) if PICTURE.is_relative_to(Path.cwd()) else PICTURE}")


def draw(fitted, X, Y, X_test, Y_test, faulty):
    """Images on the left; the error curve and the influence of each training image on the right."""
    figure = plt.figure(figsize=(13, 6.4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1.25, 1])
    squared, huber = fitted["squared"], fitted["Huber(p=2), pictures"]
    draw_digits(left, squared, huber, X, Y, X_test, Y_test, faulty)
    curve, pull = right.subplots(2, 1)
    draw_error_curves(curve, {"squared": squared, "Huber, p = 2": huber, "Huber, p = 1": fitted["Huber(p=1), pixels"]})
    draw_pull(pull, huber.best_estimator_, X, Y, faulty)
    part = PICTURE.with_suffix(".part")
    figure.savefig(part, format="png", dpi=130)
    os.replace(part, PICTURE)
    plt.close(figure)


def draw_digits(figure, squared, huber, X, Y, X_test, Y_test, faulty, columns=6):
    shown = np.concatenate([np.flatnonzero(~faulty)[:4], np.flatnonzero(faulty)[:2]])
    shown = np.random.default_rng(1).permutation(shown)
    new = np.arange(columns)
    rows = [
        ("trained on", X[shown], Y[shown]),
        ("new, the truth", X_test[new], Y_test[new]),
        ("squared loss", X_test[new], squared.predict(X_test[new])),
        ("Huber, p = 2", X_test[new], huber.predict(X_test[new])),
    ]
    colours = plt.get_cmap("gray_r").with_extremes(bad="#9ecae1", over="#d95f02")
    axes = figure.subplots(len(rows), columns)
    for line, (name, top, bottom) in zip(axes, rows, strict=True):
        line[0].set_ylabel(name, rotation=0, ha="right", va="center", labelpad=6, fontsize=11)
        for axis, t, b in zip(line, top, bottom, strict=True):
            axis.imshow(np.vstack([t.reshape(4, 8), b.reshape(4, 8)]), cmap=colours, vmin=0, vmax=1.2)
            axis.axhline(3.5, color="#2171b5", lw=0.8)
            axis.set(xticks=[], yticks=[])
    figure.suptitle(
        "The half below the line is predicted from the half above it\n"
        "(blue: not observed; orange: beyond the range of a picture)",
        fontsize=12,
    )


def draw_error_curves(axis, searches):
    for (name, search), colour in zip(searches.items(), ("#7f7f7f", "#2171b5", "#41ab5d"), strict=True):
        axis.errorbar(
            search.alphas_,
            search.errors_,
            search.standard_errors_,
            color=colour,
            marker="o",
            ms=4,
            capsize=3,
            label=name,
        )
        best = np.argmin(np.abs(search.alphas_ - search.alpha_))
        axis.plot(search.alpha_, search.errors_[best], "o", ms=11, mfc="none", mec=colour)
    axis.set(
        xscale="log",
        xlabel="alpha",
        ylabel="error per pixel",
        title="Cross-validated error, 5 folds, with standard error",
    )
    axis.legend(frameon=False)
    axis.spines[["top", "right"]].set_visible(False)


def draw_pull(axis, model, X, Y, faulty):
    """Size of the dual variable of each training image against the size of its residual."""
    residual = np.sqrt(np.nansum((Y - model.predict(X)) ** 2, axis=1))
    pull = np.linalg.norm(model.dual_coef_, axis=1) * model.alpha_ * len(X)
    kappa = model.loss_.kappa
    axis.plot([0, residual.max()], [0, residual.max()], "--", color="#7f7f7f", lw=1, label="squared loss")
    axis.axhline(kappa, color="black", lw=0.8)
    axis.text(residual.max() / 2, 1.04 * kappa, "kappa", ha="center", va="bottom")
    axis.scatter(residual[~faulty], pull[~faulty], s=14, color="#2171b5", label="picture")
    axis.scatter(residual[faulty], pull[faulty], s=18, color="#d95f02", label="faulty image")
    axis.set(title="Huber loss: no picture pulls harder than kappa", ylim=(0, 2.2 * kappa))
    axis.set(xlabel="size of the residual", ylabel="influence on the model")
    axis.legend(frameon=False, loc="upper right")
    axis.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
