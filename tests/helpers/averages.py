"""Selected settings written out: leave-one-out errors by refits, and weighted means of the settings."""

import numpy as np


def loo_residuals_by_refits(K, Y, alpha, center=True):
    """Residuals (n, d), each from a dense solve without its sample, with alpha n and the mean of the other samples."""
    n, residuals = len(Y), np.empty(Y.shape)
    for i in range(n):
        others = np.delete(np.arange(n), i)
        mean = Y[others].mean(axis=0) if center else 0.0
        C = np.linalg.solve(K[np.ix_(others, others)] + alpha * n * np.eye(n - 1), Y[others] - mean)
        residuals[i] = Y[i] - mean - K[i, others] @ C
    return residuals


def log_loss_of_residuals(residuals, Y):
    """Logarithm of the mean square relative to the variance; of several outputs, of the mean relative root mean square.

    Squares are limited, and count as often as outputs differ: 1 / mean squared entry of the correlation matrix.
    """
    squares = limited_by_hand((residuals / Y.std(axis=0)) ** 2, len(Y))
    if Y.ndim == 1 or Y.shape[1] == 1:
        return np.log(np.mean(squares))
    error = np.mean(np.sqrt(np.mean(squares, axis=0)))
    return 2 * np.log(error) / np.mean(np.corrcoef(Y, rowvar=False) ** 2)


def limited_by_hand(squares, n):
    """Squares relative to the variance, limited by their logarithm for up to some 100 samples."""
    limit = max(1, n / 50) ** 5
    return limit * np.log(1 + squares / limit)


def log_trimmed_mean_square(residuals):
    """Logarithm of the mean square norm (n, d) of the 70 % of samples with the smallest ones; one counts in part."""
    squares = np.sort(np.sum(residuals**2, axis=1))
    number = 0.7 * len(squares)
    whole = int(number + 1e-9)
    part = (number - whole) * squares[whole]
    return np.log((squares[:whole].sum() + part) / number)


def log_weights_by_hand(alphas, log_losses, n, scale=1.0):
    """Logarithms of the weights of increasing alphas, for n samples and kernel values k(x, x) of this size."""
    logs = np.log10(alphas)
    edges = np.concatenate([logs[:1], (logs[1:] + logs[:-1]) / 2, logs[-1:]])
    little_noise = np.maximum(np.log10(0.03 * scale / n) - logs, 0)
    return -0.2 * n * max(1, n / 50) * np.asarray(log_losses) - 0.5 * little_noise**2 + np.log(np.diff(edges))


def mean_alpha_by_hand(alphas, log_losses, n, scale=1.0):
    """Weighted geometric mean of increasing alphas, for n samples and kernel values k(x, x) of this size."""
    log_weights = log_weights_by_hand(alphas, log_losses, n, scale)
    weights = np.exp(log_weights - log_weights.max())
    return np.exp(weights @ np.log(alphas) / weights.sum())


def alpha_by_refits(K, Y, alphas, center=True):
    """The selected alpha for a Gram matrix K (n, n), with d identical kernels for outputs Y (n,) or (n, d)."""
    log_losses = [log_loss_of_residuals(loo_residuals_by_refits(K, Y, alpha, center), Y) for alpha in alphas]
    return mean_alpha_by_hand(alphas, log_losses, len(Y), np.diag(K).mean())
