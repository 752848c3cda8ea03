"""Features of 1000 landmarks (n = 20000, p = 20, rbf) against scikit-learn's Nystroem, and their selection."""

import numpy as np
from sklearn.kernel_approximation import Nystroem

from hilbertlearn import features, kernels

from .timing import best_of, report


def main(n=20_000, p=20, r=1000, repeats=3):
    X = np.random.default_rng(0).normal(size=(n, p))
    kernel = kernels.InputKernel("rbf", gamma=1 / (4 * p))
    setting, theirs = features.Landmarks(r), Nystroem(gamma=kernel.gamma, n_components=r, random_state=0)
    fitted = setting.fit(kernel, X)
    t_choice, t_features, t_theirs = best_of(
        lambda: setting.fit(kernel, X), lambda: fitted(X), lambda: theirs.fit_transform(X), repeats=repeats
    )
    report("landmarks", "sklearn Nystroem.fit_transform", ratio=(t_choice + t_features) / t_theirs, at_most=1.0,
           seconds=t_choice + t_features, choice_over_features=t_choice / t_features)  # fmt: skip


if __name__ == "__main__":
    main()
