"""Fits with default settings: kernel, gamma and alpha are selected.

- n = 2000, d = 10: at most 6 times one eigendecomposition of the Gram matrix.
- n = 5000, one output: at most 3 times the fit with kernel, gamma and alpha given, and one eigendecomposition of 2000.
- Label sets with the F1 loss (n = 4880, sparse 0/1 inputs, 159 labels, generated): at most 12 times the fit with all
  settings given.
"""

import numpy as np
import scipy.linalg
import scipy.sparse

from hilbertlearn import OperatorKernelRegressor, StructuredPredictor, kernels

from .timing import best_of, report


def main(n=2000, d=10, many=5000, sets=4880, labels=159, repeats=2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    Y = np.sin(X @ rng.normal(size=(8, d))) + 0.3 * rng.normal(size=(n, d))
    K = kernels.gram("rbf", X, gamma=1 / 16)
    model = OperatorKernelRegressor()
    t_fit, t_eigh = best_of(
        lambda: model.fit(X, Y), lambda: scipy.linalg.eigh(K, driver="evd", check_finite=False), repeats=repeats
    )
    report("default_fit", f"scipy.linalg.eigh, n = {n}", ratio=t_fit / t_eigh, at_most=6.0, seconds=t_fit)

    X = rng.normal(size=(many, 8))
    y = np.sin(X @ rng.normal(size=8)) + 0.3 * rng.normal(size=many)
    given = OperatorKernelRegressor("rbf", gamma=1 / 16, alpha=1e-4)
    t_fit, t_given = best_of(lambda: model.fit(X, y), lambda: given.fit(X, y), repeats=repeats)
    report("default_fit_many", "3 fits with all given and one eigh of the first, n = " + str(many),
           ratio=t_fit / (3 * t_given + t_eigh), at_most=1.0, seconds=t_fit)  # fmt: skip

    X, Y = bibtex_like(sets, labels, rng)
    chosen = StructuredPredictor(output_loss="f1")
    given = StructuredPredictor("rbf", gamma=1e-2, output_loss="f1", alpha=1e-4)
    t_fit, t_given = best_of(lambda: chosen.fit(X, Y), lambda: given.fit(X, Y), repeats=1)
    report("default_fit_sets", "the fit with all given", ratio=t_fit / t_given, at_most=12.0, seconds=t_fit)


def bibtex_like(n, labels, rng, words=1836):
    """Sparse 0/1 inputs (n, words), some 70 words a sample that its labels make likely, and label sets (n, labels)."""
    popular = 1 / np.arange(1, labels + 1)
    Y = (rng.random((n, labels)) < 2.4 * popular / popular.sum()).astype(float)
    Y[Y.sum(axis=1) == 0, 0] = 1.0
    topics = rng.random((labels, words)) < 0.01
    rate = 0.02 + 0.2 * (Y @ topics > 0)
    return scipy.sparse.csr_array((rng.random((n, words)) < rate).astype(float)), Y


if __name__ == "__main__":
    main()
