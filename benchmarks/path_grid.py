"""Alpha and kappa of the Huber loss of curves by 5 folds, against GridSearchCV: the same pair in a quarter of the time.

``RegularizationPathCV(loss_params=)`` and ``GridSearchCV`` have the same estimator, grid, folds and scorer.
"""

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold

from hilbertlearn import FunctionalRegressor, RegularizationPathCV, losses

from .data import curves
from .timing import report, seconds


def main(n=500, m=100, n_alphas=20, n_kappas=20, ps=(2, 1)):
    X, Y, _, _ = curves(n, m)
    Y = Y * np.sqrt(m)  # point values
    folds = KFold(5, shuffle=True, random_state=0)
    alphas, kappas = np.geomspace(1e-1, 1e-6, n_alphas), np.geomspace(0.05, 5.0, n_kappas)
    for p in ps:
        model = FunctionalRegressor("rbf", gamma=0.1, loss=losses.Huber(1.0, p=p))
        shared = {"cv": folds, "scoring": "neg_mean_absolute_error"}
        path = RegularizationPathCV(model, alphas, loss_params={"kappa": kappas}, **shared)
        search = GridSearchCV(model, {"alpha": alphas, "loss__kappa": kappas}, **shared)
        t_path, t_search = seconds(lambda: path.fit(X, Y)), seconds(lambda: search.fit(X, Y))
        chosen = (path.alpha_, path.loss_params_["kappa"])
        found = (search.best_params_["alpha"], search.best_params_["loss__kappa"])
        errors = -search.cv_results_["mean_test_score"].reshape(n_alphas, n_kappas)
        apart = float(np.abs(path.errors_ / errors - 1).max())
        report("path_grid", "GridSearchCV", p=p, ratio=t_path / t_search, at_most=0.25, seconds=t_path,
               same_pair=bool(np.allclose(chosen, found)), alpha=chosen[0], kappa=chosen[1],
               errors_differ_by=apart)  # fmt: skip


if __name__ == "__main__":
    main()
