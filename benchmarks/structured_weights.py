"""Predictions by an output kernel and a loss (n = 2000, 10 queries) against their weights alone: at most 1.2 times.

The weights are kernel rows and triangular solves with the Cholesky factor of ``K + n alpha I``. The reference does
not include decoding, which is negligible for labels under the zero-one loss. The first prediction is not timed.
Weights are compared with those of a solver for general matrices.
"""

import numpy as np
import scipy.linalg

from hilbertlearn import StructuredPredictor, kernels

from .timing import best_of, report

GAMMA, ALPHA = 0.05, 1e-3


def main(n=2000, queries=10, n_labels=5, repeats=30):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(n, 10)), rng.normal(size=(queries, 10))
    y = np.digitize(np.sin(X @ rng.normal(size=10)), np.linspace(-0.8, 0.8, n_labels - 1))
    model = StructuredPredictor(
        gamma=GAMMA, alpha=ALPHA, output_kernel=kernels.NamedKernel("rbf", 1.0), output_loss="zero_one"
    ).fit(X, y)
    K = kernels.gram("rbf", X, gamma=GAMMA)
    K.flat[:: n + 1] += ALPHA * n
    expected = np.linalg.solve(K, kernels.gram("rbf", X, new, gamma=GAMMA)).T
    factor = scipy.linalg.cho_factor(K.T, lower=True, overwrite_a=True, check_finite=False)

    def reference():
        rows = kernels.gram("rbf", new, X, gamma=GAMMA)
        return scipy.linalg.cho_solve(factor, rows.T, check_finite=False).T

    model.predict(new)
    t_predict, t_reference = best_of(lambda: model.predict(new), reference, repeats=repeats)
    report("structured_weights", "kernels.gram + scipy.linalg.cho_solve", ratio=t_predict / t_reference, at_most=1.2,
           seconds=t_predict, gap=model.dual_gap_,
           difference_of_weights=float(np.abs(model.weights(new) - expected).max()))  # fmt: skip


if __name__ == "__main__":
    main()
