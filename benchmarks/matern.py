"""Gram matrix of the Matérn kernel (nu = 1.5, n = 3000, p = 20) against that of scikit-learn's Gaussian processes."""

import numpy as np
from sklearn.gaussian_process import kernels as gaussian_process

from hilbertlearn import kernels

from .timing import best_of, report


def main(n=3000, p=20, gamma=0.05):
    X = np.random.default_rng(0).normal(size=(n, p))
    ours, theirs = kernels.Matern(1.5, gamma), gaussian_process.Matern(length_scale=(2 * gamma) ** -0.5, nu=1.5)
    t_ours, t_theirs = best_of(lambda: ours(X, X), lambda: theirs(X))
    report("matern", "sklearn.gaussian_process.kernels.Matern", ratio=t_ours / t_theirs, at_most=1.0, seconds=t_ours,
           difference=float(np.abs(ours(X, X) - theirs(X)).max()))  # fmt: skip


if __name__ == "__main__":
    main()
