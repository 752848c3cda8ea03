"""Scores of all pairs of 5000 nodes against the bare matrix products: at most 1.5 times."""

import numpy as np
import scipy.sparse
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import LinkPredictor

from .timing import best_of, report


def main(nodes=5000, known=1000, n_features=20):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(nodes, n_features))
    links = scipy.sparse.random_array((known, known), density=0.005, rng=rng)
    W = ((links + links.T) > 0).astype(float)
    W.setdiag(0.0)
    model = LinkPredictor(gamma=0.05, alpha=1e-3, similarities=None, cosine=False).fit(X[:known], W)
    coef = model.model_.dual_coef_

    def products():
        embedded = rbf_kernel(X, X[:known], gamma=0.05) @ coef
        return embedded @ embedded.T

    t_ours, t_bare = best_of(lambda: model.pair_scores(X), products)
    report(
        "link_scores",
        "sklearn rbf_kernel @ coef, times its transpose",
        ratio=t_ours / t_bare,
        at_most=1.5,
        seconds=t_ours,
        difference=float(np.abs(model.pair_scores(X) - products()).max()),
    )


if __name__ == "__main__":
    main()
