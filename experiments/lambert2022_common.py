"""Shared by the experiments of Lambert et al. 2022: synthetic curves, and the selection of parameters by folds."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold

from hilbertlearn import FunctionalRegressor, datasets, operators, spaces

N_TRAIN = 100  # synthetic curves; as many to test
INPUT_RATE, OUTPUT_RATE = 0.01, 100.0  # appendix B.2.2
COMPONENTS = 25  # eigenfunctions for p = 2, as in the authors' published code
NAMES = {"squared": "½‖·‖²", "H2": "Huber p = 2", "H1": "Huber p = 1", "eps2": "ε p = 2", "epsinf": "ε p = ∞"}
COLOURS = {"squared": "tab:gray", "H2": "tab:blue", "H1": "tab:red", "eps2": "tab:green", "epsinf": "tab:orange"}


def synthetic(seed, noise=0.0):
    """Gram matrices of train and test inputs, train and test outputs; noise is on the train outputs only.

    The Gaussian kernel takes the sum of squares over the 100 points, not their mean, as in the authors' published code:
    with the mean, inputs are all alike to a rate of 0.01.
    """
    X, Y, _, _ = datasets.make_gaussian_process_curves(2 * N_TRAIN, random_state=seed)
    noisy = datasets.make_gaussian_process_curves(2 * N_TRAIN, noise_out=noise, random_state=seed)[1]
    K = rbf_kernel(X, X[:N_TRAIN], gamma=INPUT_RATE)
    return K[:N_TRAIN], K[N_TRAIN:], noisy[:N_TRAIN], Y[N_TRAIN:]


def synthetic_model(loss):
    """Eigenfunctions for p = 2, point values otherwise, as in the paper; curves have mean zero, nothing is centred.

    In the space of the eigenfunctions the loss is of the projected residual, as in the paper's dual problem, whose
    variables are in their span; by default it would see what curves have outside of it, too.
    """
    model = FunctionalRegressor("precomputed", loss=loss, alpha=1.0, center=False)
    if loss.pointwise:
        return model.set_params(space=spaces.Grid("equal"), operator=operators.Integral("rbf", OUTPUT_RATE))
    return model.set_params(space=spaces.Eigen("rbf", COMPONENTS, OUTPUT_RATE), irregular="projected_trapezoid")


def choose(models, K, Y, alphas, *, folds, aggregate, seen=None, grid=None):
    """The model and alpha with the least error on held-out folds: (unfitted model, that error).

    Parameters
    ----------
    models : unfitted models that take Gram matrices
    K, Y : (n, n) Gram matrix and (n, m) outputs of the training samples
    alphas : decreasing, each fit then starts from the one before
    folds : number of folds
    aggregate : np.mean or np.median, over folds
    seen : outputs to compare predictions with, NaN where they do not count; by default Y
    grid : points of ``seen``, by default those of Y
    """
    seen = Y if seen is None else seen
    splits = list(KFold(folds, shuffle=True, random_state=0).split(K))
    best, least = None, np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of models that only serve to choose
        for model in models:
            quick = clone(model).set_params(tol=1e-3, max_iter=200)
            errors = np.empty((folds, len(alphas)))
            for row, (train, test) in zip(errors, splits, strict=True):
                path = quick.fit_path(K[np.ix_(train, train)], Y[train], alphas)
                cross = K[np.ix_(test, train)]
                row[:] = [error(seen[test], fitted.predict(cross, grid)) for fitted in path]
            curve = aggregate(errors, axis=0)
            if curve.min() < least:
                best, least = clone(model).set_params(alpha=alphas[curve.argmin()]), curve.min()
    return best, least


def error(Y, predicted):
    """Squared error summed over observed points, averaged over curves: ``metrics.functional_mse`` on a common grid."""
    return np.nansum((Y - predicted) ** 2, axis=1).mean()


def sparsity(model):
    """Share of zero dual variables: of curves for p = 2, of points for p = inf."""
    zero = model.dual_coef_ == 0
    return zero.mean() if model.loss_.pointwise else zero.all(axis=1).mean()
