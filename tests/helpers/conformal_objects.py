"""Classes, words, rankings and sets of labels, and sets of candidates by hand."""

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

from hilbertlearn import ConformalPredictor, StructuredPredictor

N, LEVEL, ALPHA, GAMMA = 30, 0.8, 0.02, 0.7
DIRECTIONS = np.array([[2.0, 0.0], [0.0, 2.0], [-1.0, -1.0], [1.0, 1.0]])
SCORES = ["gap", "objective", "rank", "likelihood", "cumulative"]
WORDS = ["aa", "ab", "abb", "bbb", "ba", "bbab"]
FOLDS = [(train, test) for train, test in KFold(3, shuffle=True, random_state=0).split(np.arange(N))]


def inputs(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 2))


def numbers_of_classes(n, seed):
    X, rng = inputs(n, seed), np.random.default_rng(seed + 100)
    return X, np.digitize(X[:, 0] + 0.5 * rng.normal(size=n), [-1.0, -0.4, 0.3, 0.9])


def words(n, seed):
    X, numbers = numbers_of_classes(n, seed)
    return X, [WORDS[i] for i in numbers]


def rankings(n, seed, items=4):
    X, rng = inputs(n, seed), np.random.default_rng(seed + 200)
    W = np.vstack([DIRECTIONS, DIRECTIONS[:, ::-1] * 0.7])[:items]
    return X, (X @ W.T + 0.7 * rng.normal(size=(n, items))).argsort(axis=1).argsort(axis=1) + 1


def label_sets(n, seed, labels=4):
    X, rng = inputs(n, seed), np.random.default_rng(seed + 300)
    W = np.vstack([DIRECTIONS] * 4)[:labels]
    return X, (X @ W.T + 0.7 * rng.normal(size=(n, labels)) > 0.5).astype(int)


def predictor(**settings):
    return StructuredPredictor("rbf", **{"gamma": GAMMA, "alpha": ALPHA, **settings})


def conformal(method="cv+", estimator=None, **settings):
    cv = {"cv+": FOLDS, "split": FOLDS[:1]}.get(method)
    return ConformalPredictor(
        predictor() if estimator is None else estimator, method, **{"level": LEVEL, "cv": cv, **settings}
    )


def score_by_hand(name, g, j):
    """The score of candidate j from objectives g (c,), one formula each."""
    gap = g - g.min()
    mass = np.exp(-gap / (0.2 * gap.mean()))
    mass /= mass.sum()
    as_good = g <= g[j] + 1e-12
    return {
        "gap": gap[j],
        "objective": g[j],
        "rank": as_good.sum(),
        "likelihood": -np.log(mass[j]),
        "cumulative": mass[as_good].sum(),
    }[name]


def refits(X, y, splits, estimator):
    """Triples (fitted, train, test) of models without the test part."""
    take = (lambda rows: [y[i] for i in rows]) if isinstance(y, list) else (lambda rows: y[rows])
    return [(clone(estimator).fit(X[train], take(train)), train, test) for train, test in splits]


def members_by_definition(models, X, y, queries, pool, name, level=LEVEL):
    """Positions of the candidates in each set, by loops over samples, queries and candidates."""
    held, by_model = [], []
    for k, (model, _, test) in enumerate(models):
        for i, g in zip(test, -model.predict_scores(X[test], candidates=pool), strict=True):
            held.append((k, score_by_hand(name, g, pool.index(y[i]))))
        by_model.append(-model.predict_scores(queries, candidates=pool))
    out = []
    for q in range(len(queries)):
        inside = set()
        for j in range(len(pool)):
            smaller = sum(score_by_hand(name, by_model[k][q], j) - 1e-9 > R for k, R in held)
            if smaller < level * (len(held) + 1) - 1e-9:
                inside.add(j)
        out.append(inside)
    return out
