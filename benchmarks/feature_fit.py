"""Fits on features against the same with scikit-learn, and input output kernel regression on features.

n = 100 000 samples with 20 inputs and 20 outputs, the same 1000 landmarks for both:

- alpha given: at most 1.1 times ``make_pipeline(Nystroem(1000), Ridge(alpha))``
- alpha by leave-one-out over 40 values: at most 1.6 times the same with ``RidgeCV``
- prediction of 20 000: at most 1.1 times

Label sets like BibTeX's (4880 samples, 1836 words, 159 labels), 500 landmarks of the inputs and of the outputs: fit and
prediction of 2515 together at most 3 times the bare products that they consist of.
"""

import numpy as np
import scipy.linalg
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.metrics import f1_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline

from hilbertlearn import OperatorKernelRegressor, RegularizationPathCV, StructuredPredictor, features

from .default_fit import bibtex_like
from .timing import best_of, report


def main(
    n=100_000, p=20, d=20, r=1000, new=20_000, n_alphas=40, sets=4880, queries=2515, labels=159, rank=500, repeats=3
):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + new, p))
    Y = np.sin(X[:n] @ rng.normal(size=(p, d)) / np.sqrt(p)) + 0.1 * rng.normal(size=(n, d))
    X, X_new, gamma, alpha = X[:n], X[n:], 1 / (4 * p), 1e-6
    alphas = np.geomspace(1e-9, 1e-1, n_alphas)
    theirs = Nystroem(gamma=gamma, n_components=r, random_state=0)
    ours = features.Landmarks(points=X[theirs.fit(X).component_indices_])
    pipeline, path = make_pipeline(theirs, Ridge(alpha * n)), make_pipeline(theirs, RidgeCV(alphas * n))
    model = OperatorKernelRegressor("rbf", gamma=gamma, alpha=alpha, feature_map=ours)
    chosen = RegularizationPathCV(model, alphas)
    t_model, t_pipeline = best_of(lambda: model.fit(X, Y), lambda: pipeline.fit(X, Y), repeats=repeats)
    report("feature_fit", "make_pipeline(Nystroem, Ridge)", step="alpha given", ratio=t_model / t_pipeline, at_most=1.1,
           seconds=t_model)  # fmt: skip
    t_predict, t_theirs = best_of(lambda: model.predict(X_new), lambda: pipeline.predict(X_new), repeats=repeats)
    away = float(np.abs(model.predict(X_new) - pipeline.predict(X_new)).max())
    report("feature_fit", "make_pipeline(Nystroem, Ridge)", step="predict", ratio=t_predict / t_theirs, at_most=1.1,
           largest_difference=away)  # fmt: skip
    t_chosen, t_path = best_of(lambda: chosen.fit(X, Y), lambda: path.fit(X, Y), repeats=1)
    report("feature_fit", "make_pipeline(Nystroem, RidgeCV)", step="leave-one-out", ratio=t_chosen / t_path,
           at_most=1.6, seconds=t_chosen, alpha=float(chosen.alpha_),
           their_alpha=float(path[-1].alpha_ / n))  # fmt: skip
    on_both_sides(sets, queries, labels, rank, repeats)


def on_both_sides(n, new, labels, rank, repeats):
    X, Y = bibtex_like(n + new, labels, np.random.default_rng(0))
    settings = {"gamma": 1e-2, "alpha": 1e-4, "output_kernel": "rbf", "rank": rank, "feature_map": rank}
    model, outputs = StructuredPredictor("rbf", **settings), np.unique(Y[:n], axis=0).astype(float)
    inputs, targets = X[:n], Y[:n].astype(float)

    def bare():
        """Kernel values with landmarks on both sides, Cholesky factors, products, and scores of all candidates."""
        Z, V = (_whitened(values, rank, 1e-2) for values in (inputs, targets))
        W = scipy.linalg.solve(Z.T @ Z + 1e-4 * n * np.eye(rank), Z.T @ V, assume_a="pos")
        H = _whitened(inputs, rank, 1e-2, X[n:]) @ W
        return (H @ _whitened(targets, rank, 1e-2, outputs).T).argmax(axis=1)

    t_model, t_bare = best_of(lambda: model.fit(inputs, Y[:n]).predict(X[n:]), bare, repeats=repeats)
    f1 = float(f1_score(Y[n:], model.predict(X[n:]), average="samples"))
    report("feature_fit", "bare products", step="label sets, 500 landmarks on both sides", ratio=t_model / t_bare,
           at_most=3.0, seconds=t_model, f1=f1)  # fmt: skip


def _whitened(samples, rank, gamma, values=None):
    landmarks = samples[:: max(1, samples.shape[0] // rank)][:rank]
    K = rbf_kernel(landmarks, gamma=gamma)
    root = scipy.linalg.cholesky(K + 1e-10 * np.eye(K.shape[0]))
    return scipy.linalg.solve_triangular(
        root, rbf_kernel(samples if values is None else values, landmarks, gamma=gamma).T, trans="T"
    ).T


if __name__ == "__main__":
    main()
