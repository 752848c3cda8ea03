"""A network with known and unknown nodes, and table 2 of Brouard et al. 2016 written out densely."""

import itertools

import cvxpy as cp
import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.metrics import f1_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold

from helpers.by_hand import solve
from hilbertlearn import LinkPredictor

N, KNOWN, ALPHA, BETA, GAMMA = 22, 15, 0.02, 0.1, 0.8
RNG = np.random.default_rng(2)
X, NEW = RNG.normal(size=(N, 2)), RNG.normal(size=(6, 2))
K, CROSS = rbf_kernel(X, gamma=GAMMA), rbf_kernel(NEW, X, gamma=GAMMA)
LINKS = ((K > 0.45) & ~np.eye(N, dtype=bool)).astype(float)
LINKS[4], LINKS[:, 4] = 0.0, 0.0
ADJACENCY = LINKS[:KNOWN, :KNOWN]
GRAPH = np.where(K > 0.3, K, 0.0) * ~np.eye(N, dtype=bool)
L = np.diag(GRAPH.sum(axis=1)) - GRAPH
K_Y = scipy.linalg.expm(-(np.diag(ADJACENCY.sum(axis=1)) - ADJACENCY))
EVERY = np.arange(KNOWN)
UPPER = np.triu_indices(KNOWN, 1)
TRUTH = ADJACENCY[UPPER]


def links(**settings):
    """Scores of h alone, as in the paper."""
    plain = {"gamma": GAMMA, "alpha": ALPHA, "tol": 1e-10, "similarities": None, "cosine": False}
    return LinkPredictor(**{**plain, **settings})


SEMI = {"manifold": BETA, "graph": GRAPH}


def table_2(loss, manifold, gram=K, K_Y=K_Y, known=EVERY, s=ALPHA * KNOWN, b=BETA * KNOWN):
    """B (l, N) of the nodes whose embeddings are known; s = alpha l and b = beta l."""
    J = np.eye(len(gram))[known]
    b = b if manifold else 0.0
    if loss == "squared":
        return J @ np.linalg.inv(s * np.eye(len(gram)) + gram @ (J.T @ J + b * L[: len(gram), : len(gram)]))
    lambda_1, lambda_2 = s / 2, b / 4
    inverse = np.linalg.inv(lambda_1 * np.eye(len(gram)) + 2 * lambda_2 * gram @ L[: len(gram), : len(gram)])
    quadratic = K_Y * (J @ inverse @ gram @ J.T)
    alpha = cp.Variable(len(known))
    objective = cp.quad_form(alpha, cp.psd_wrap((quadratic + quadratic.T) / 2)) / 4 - cp.sum(alpha)
    solve(objective, [alpha >= 0, alpha <= 1])
    assert alpha.value.max() > 0.999  # some are at the bound
    return np.diag(alpha.value) @ J @ inverse / 2


def best_f1(scores):
    return max(f1_score(TRUTH, scores[UPPER] >= t) for t in scores[UPPER])


def held_out_by_folds(order, predict, compare):
    """Scores (l, l) of pairs by models that were told of neither's fold; two of one fold are left out with another.

    order : of the nodes, that folds are drawn from
    """
    folds = [order[test] for _, test in KFold(5, shuffle=True, random_state=0).split(np.arange(KNOWN))]
    scores = np.zeros((KNOWN, KNOWN))
    for a, b in itertools.combinations_with_replacement(range(5), 2):
        other = (4 if a < 4 else 3) if a == b else b
        out = np.concatenate([folds[a], folds[other]])
        H = np.zeros((KNOWN, KNOWN))
        H[out] = predict(np.setdiff1d(np.arange(KNOWN), out), out)
        for pairs in (np.ix_(folds[a], folds[b]), np.ix_(folds[b], folds[a])):
            scores[pairs] = compare(H)[pairs]
    return scores


def drawn_from(model):
    """The order of the known nodes that does not depend on that of the rows."""
    return model.link_state_.nodes.order[:KNOWN]
