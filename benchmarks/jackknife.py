"""Jackknife+ in closed form (n = 2000, d = 50, M != I) against one fit by eigendecompositions: at most twice."""

from hilbertlearn import ConformalPredictor, OperatorKernelRegressor

from .data import curves
from .timing import best_of, report


def main(n=2000, d=50, queries=20):
    X, Y, M, _ = curves(n + queries, d)
    X, new, Y = X[:n], X[n:], Y[:n]
    model = OperatorKernelRegressor("rbf", gamma=0.1, operator=M, alpha=1e-4, solver="spectral")

    def ours():
        ConformalPredictor(model, "jackknife+").fit(X, Y).predict_band(new)

    t_ours, t_fit = best_of(ours, lambda: model.fit(X, Y), repeats=3)
    report("jackknife", f"one fit, {queries} queries", ratio=t_ours / t_fit, at_most=2.0, seconds=t_ours)


if __name__ == "__main__":
    main()
