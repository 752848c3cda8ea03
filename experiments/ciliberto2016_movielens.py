"""Table 1 of Ciliberto et al. 2016: rankings of movies by the loss trick with the rank loss, on MovieLens 100k.

Reads the original files u.data, u.user and u.item when they are in FOLDER/ml-100k, and generates ratings of the same
form otherwise, whose figures cannot be compared with the paper's. 643 users for training and 300 for testing; the
normalised rank loss.

The paper does not say which ratings of a test user are known. Here a random half of each user's ratings is known and
enters the features; rankings are learnt from the other half and scored by it. Features are age, gender, occupation
and 20 principal directions of the known ratings minus the user's mean, in a linear kernel with a constant. Only the
movies with most ratings are ranked (200, --movies changes that; decoding of all 1682 takes some seconds per user).
Compared with the pairwise linear, hinge and logistic surrogates on the same features and with the order of the
movies' mean training ratings. The paper's structured SVM of rankings is omitted.

alpha is selected by 5 folds of the training users (3 folds for the hinge and logistic surrogates); for the loss trick
the folds are ranked by the row sums of the weighted preferences instead of the feedback arc set, which is fast.

    python experiments/ciliberto2016_movielens.py --data FOLDER            10 draws
    python experiments/ciliberto2016_movielens.py --quick                  2 draws, 60 movies, here of generated ratings

Prints the table of docs/results/ciliberto2016.md and writes output/ciliberto2016_movielens.csv and .png.
"""

import os
import warnings

import numpy as np
from common import DATA, arguments, figures_of, progress, save_figure, smaller, table, with_error, write_csv
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, cross_val_score

from hilbertlearn import StructuredPredictor, datasets, readers
from hilbertlearn.baselines import PairwiseRanker
from hilbertlearn.metrics import normalized_rank_loss
from hilbertlearn.output_losses import Rank

N_TRAIN = 643
DIRECTIONS = 20
ALPHAS = np.logspace(-3, 1, 5)
PAIR_ALPHAS = np.logspace(-5, -2, 4)
PAPER = {
    "loss trick": "0.396 ± 0.003",
    "linear": "0.430 ± 0.004",
    "hinge": "0.432 ± 0.008",
    "logistic": "0.432 ± 0.012",
}
LABELS = {
    "loss trick": "loss trick, rank loss",
    "linear": "linear",
    "hinge": "hinge",
    "logistic": "logistic",
    "mean rating": "mean rating, the same for all users",
}


def load(folder):
    """The ratings, and whether they are the original ones."""
    if (folder / "u.data").exists():
        return readers.load_movielens(folder), True
    return datasets.make_movie_ratings(random_state=0), False


def halves(Y, rng):
    """Ratings known beforehand, and those to rank: two random halves of each user's, NaN elsewhere."""
    first = rng.uniform(size=Y.shape) < 0.5
    return np.where(first, Y, np.nan), np.where(first, np.nan, Y)


def features(data, known, train):
    """Features (n, 23 + DIRECTIONS) of the users; the directions are those of the training users."""
    centred = np.nan_to_num(known - np.nanmean(known, axis=1, keepdims=True))
    norms = np.linalg.norm(centred, axis=1, keepdims=True)
    centred = centred / np.where(norms > 0, norms, 1.0)
    directions = TruncatedSVD(DIRECTIONS, random_state=0).fit(centred[train])
    scores = directions.transform(centred)
    return np.hstack([data.X, scores / scores[train].std(axis=0)]) / np.sqrt(data.X.shape[1] + DIRECTIONS)


def with_constant(X):
    return np.column_stack([X, np.ones(len(X))])


def loss_trick(X, Y, seed):
    """The fitted predictor, alpha by the order of the net preferences ``sum_j G_ij`` on held-out users."""
    X = with_constant(X)
    errors = np.zeros(len(ALPHAS))
    net = net_preferences(Y)
    for train, test in KFold(5, shuffle=True, random_state=seed).split(X):
        for i, alpha in enumerate(ALPHAS):
            system = X[train] @ X[train].T + len(train) * alpha * np.eye(len(train))
            W = np.linalg.solve(system, X[train] @ X[test].T).T
            errors[i] += normalized_rank_loss(Y[test], W @ net[train])
    alpha = ALPHAS[errors.argmin()]
    return StructuredPredictor("linear", alpha=alpha, output_loss=Rank(normalize=True)).fit(X, Y), alpha


def net_preferences(Y):
    """``sum_j gamma(y)_ij`` (n, movies), divided by the sum of all positive gamma of the user."""
    net = np.zeros(Y.shape)
    for row, y in zip(net, Y, strict=True):
        gamma = np.nan_to_num(np.subtract.outer(y, y))
        row[:] = gamma.sum(axis=1) / max(np.abs(gamma).sum() / 2, 1.0)
    return net


def ranker(loss, X, Y, seed):
    """The fitted surrogate, alpha by the normalised rank loss on held-out users."""
    alphas, n_folds = (ALPHAS, 5) if loss == "linear" else (PAIR_ALPHAS, 3)
    folds = KFold(n_folds, shuffle=True, random_state=seed)
    candidates = [PairwiseRanker(loss, alpha=alpha, tol=1e-5, max_iter=60) for alpha in alphas]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 60 steps are enough to choose by
        best = max(candidates, key=lambda model: cross_val_score(model, X, Y, cv=folds).mean())
    return best.set_params(max_iter=500).fit(X, Y), best.alpha


def run(data, draws, n_movies):
    """One dictionary for each draw and method."""
    for draw in progress(range(draws), "table 1"):
        rng = np.random.default_rng(draw)
        known, Y = halves(data.Y, rng)
        order = rng.permutation(len(Y))
        train, test = order[:N_TRAIN], order[N_TRAIN:]
        often = np.argsort(-np.isfinite(known).sum(axis=0), kind="stable")[:n_movies]
        X, Y = features(data, known, train), Y[:, often]
        train = train[np.isfinite(Y[train]).any(axis=1)]
        means = np.nan_to_num(np.nanmean(Y[train], axis=0))
        predicted = {"mean rating": (np.tile(means, (len(test), 1)), None)}
        model, alpha = loss_trick(X[train], Y[train], draw)
        predicted["loss trick"] = model.predict(with_constant(X[test])), alpha
        for loss in ("linear", "hinge", "logistic"):
            model, alpha = ranker(loss, X[train], Y[train], draw)
            predicted[loss] = model.predict(X[test]), alpha
        for method in LABELS:
            ranks, alpha = predicted[method]
            yield {"draw": draw, "method": method, "loss": normalized_rank_loss(Y[test], ranks), "alpha": alpha}


def plot(losses, original, name):
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6.5, 3))
    for place, (method, values) in enumerate(losses.items()):
        axis.plot(values, np.full(len(values), place), ".", color="tab:blue", alpha=0.6)
        axis.plot(values.mean(), place, "|", color="black", markersize=14)
        if original and method in PAPER:
            axis.plot(float(PAPER[method].split()[0]), place, "x", color="tab:red")
    axis.set_yticks(range(len(losses)), [LABELS[method] for method in losses])
    axis.invert_yaxis()
    axis.set_xlabel("normalised rank loss of test users: draws and their mean" + ", paper in red" * original)
    axis.set_title("MovieLens 100k" if original else "Generated ratings", fontsize=11)
    axis.grid(alpha=0.3)
    save_figure(figure, name)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, N_TRAIN=28, DIRECTIONS=5):
        return figures_of(main, ["loss"], "method", data=folder)


def main():
    os.environ.setdefault(DATA, ".")  # the data are optional here
    given = arguments(__doc__, data="ml-100k", movies=200, draws=10)
    data, original = load(given.data)
    print("MovieLens 100k" if original else "generated ratings, not MovieLens")
    rows = list(run(data, 2 if given.quick else given.draws, 60 if given.quick else given.movies))
    name = "ciliberto2016_movielens" + "_quick" * given.quick
    write_csv(name, rows)
    losses = {method: np.array([row["loss"] for row in rows if row["method"] == method]) for method in LABELS}
    lines = []
    for method, values in losses.items():
        gain = "" if method == "loss trick" else with_error(losses["loss trick"] - values)
        lines.append([LABELS[method], with_error(values), PAPER.get(method, ""), gain])
    print(table(["method", "ours", "paper (MovieLens)", "loss trick less this, paired"], lines))
    plot(losses, original, name)


if __name__ == "__main__":
    main()
