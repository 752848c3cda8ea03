"""Table 2 of Ciliberto et al. 2016: the lower half of a digit from its upper half, Hellinger and Gaussian losses.

USPS images, 1000 for training (100 of each digit), 5000 for testing, 10 draws. Lower halves are divided by their sum.
Gaussian kernel of the inputs, nothing centred. Three predictors: the loss trick with the squared Hellinger distance
(closed form); kernel dependency estimation with a Gaussian output kernel and a fixed-point pre-image, which is the
loss trick with the Gaussian loss (entries clipped at 0 and divided by their sum); the same with kernel PCA and a
pre-image among the training outputs. gamma and alpha are selected by 5 folds of the training set: by the Hellinger
loss for the first; for the two others by the squared distance in the output kernel's space, before any pre-image,
which is fast.

Measures: the Gaussian loss 1 - exp(-gamma ||y - z||^2), the Hellinger loss with the paper's factor 1 / sqrt(2), and
the recognition loss, the error of a support vector machine on images with predicted lower halves. It is trained on
the remaining 3298 images, with lower halves divided by their sum and multiplied by the mean sum of its own training
images, since predictions do not include the sum.

The paper does not give the bandwidth of its Gaussian loss, which sets the scale of the first column: it is that of the
median distance of the training outputs here, so that column cannot be compared with the paper's.

    python experiments/ciliberto2016_usps.py --data FOLDER            10 draws
    python experiments/ciliberto2016_usps.py --data FOLDER --quick    2 draws, 300 training and 500 test images

Prints the table of docs/results/ciliberto2016.md and writes output/ciliberto2016_usps.csv and .png.
"""

import numpy as np
from common import arguments, figures_of, progress, save_figure, smaller, table, with_error, write_csv
from scipy.linalg import eigh
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold
from sklearn.svm import SVC

from hilbertlearn import StructuredPredictor, kernels, readers
from hilbertlearn.baselines import KernelDependencyEstimation
from hilbertlearn.decoders.histograms import decode_hellinger
from hilbertlearn.metrics import squared_hellinger_loss

GAMMAS = np.array([1.0, 2.0, 4.0, 8.0, 16.0])  # times that of the median distance
ALPHAS = np.logspace(-5, -2, 4)
QUICK = 2, 300, 500  # draws, training and test images of a quick run
PAPER = {
    "hellinger": ("0.172 ± 0.011", "0.647 ± 0.017", "0.193 ± 0.015"),
    "gaussian": ("0.149 ± 0.013", "0.736 ± 0.032", "0.294 ± 0.012"),
}
LABELS = {
    "hellinger": "loss trick, Hellinger loss",
    "gaussian": "KDE, Gaussian loss, fixed-point pre-image",
    "kernel PCA": "KDE, kernel PCA, nearest training output",
    "true": "true lower half",
}
MEASURES = {"gaussian_loss": "Gaussian", "hellinger_loss": "Hellinger", "recognition_loss": "recognition"}


def split(target, n_train, n_test, rng):
    """Indices for training, as many of each digit, for testing, and the others."""
    train = np.concatenate([rng.permutation(np.flatnonzero(target == d))[: n_train // 10] for d in range(10)])
    others = rng.permutation(np.setdiff1d(np.arange(len(target)), train))
    return train, others[:n_test], others[n_test:]


def chosen(X, Y, output_gamma, seed):
    """For each of the two losses the pair (gamma, alpha) of smallest cross-validated error."""
    median = kernels.resolve_gamma("rbf", "median", X)
    errors = np.zeros((2, len(GAMMAS), len(ALPHAS)))
    K_out = rbf_kernel(Y, gamma=output_gamma)
    for train, test in KFold(5, shuffle=True, random_state=seed).split(X):
        for i, gamma in enumerate(GAMMAS * median):
            values, vectors = eigh(rbf_kernel(X[train], gamma=gamma))
            rotated = rbf_kernel(X[test], X[train], gamma=gamma) @ vectors
            for j, alpha in enumerate(ALPHAS):
                W = (rotated / (np.maximum(values, 0.0) + len(train) * alpha)) @ vectors.T
                errors[0, i, j] += squared_hellinger_loss(Y[test], decode_hellinger(W, Y[train], None))
                products = W @ K_out[np.ix_(train, train)] - 2 * K_out[np.ix_(test, train)]
                errors[1, i, j] += np.einsum("ij,ij->i", W, products).mean()
    best = [np.unravel_index(error.argmin(), error.shape) for error in errors]
    return {name: (GAMMAS[i] * median, ALPHAS[j]) for name, (i, j) in zip(("hellinger", "gaussian"), best, strict=True)}


def models(parameters, output_gamma):
    output_kernel = kernels.NamedKernel("rbf", output_gamma)
    gamma, alpha = parameters["hellinger"]
    yield "hellinger", StructuredPredictor(gamma=gamma, alpha=alpha, output_loss="hellinger")
    gamma, alpha = parameters["gaussian"]
    yield (
        "gaussian",
        StructuredPredictor(gamma=gamma, alpha=alpha, output_kernel=output_kernel, decoder="gaussian"),
    )
    yield "kernel PCA", KernelDependencyEstimation(gamma=gamma, alpha=alpha, output_kernel=output_kernel)


def histograms(Z):
    """The vectors clipped at 0 and divided by their sum."""
    Z = np.maximum(Z, 0.0)
    return Z / Z.sum(axis=1, keepdims=True)


def run(data, draws, n_train, n_test):
    """One dictionary for each draw and method; of the first draw also the predictions."""
    shown = {}
    rows = []
    for draw in progress(range(draws), "table 2"):
        train, test, others = split(data.target, n_train, n_test, np.random.default_rng(draw))
        X, Y = data.X, data.Y
        output_gamma = kernels.resolve_gamma("rbf", "median", Y[train])
        mass = data.images[others, 8:].sum(axis=(1, 2)).mean()
        classifier = SVC(C=10.0).fit(np.hstack([X[others], mass * Y[others]]), data.target[others])
        parameters = chosen(X[train], Y[train], output_gamma, draw)
        predictions = {name: model.fit(X[train], Y[train]) for name, model in models(parameters, output_gamma)}
        predictions = {name: histograms(model.predict(X[test])) for name, model in predictions.items()}
        predictions["true"] = Y[test]
        for method, predicted in predictions.items():
            squares = ((Y[test] - predicted) ** 2).sum(axis=1)
            recognised = classifier.predict(np.hstack([X[test], mass * predicted]))
            gamma, alpha = parameters["hellinger" if method == "hellinger" else "gaussian"]
            rows.append(
                {
                    "draw": draw,
                    "method": method,
                    "gaussian_loss": (1 - np.exp(-output_gamma * squares)).mean(),
                    "hellinger_loss": squared_hellinger_loss(Y[test], predicted),
                    "recognition_loss": np.mean(recognised != data.target[test]),
                    "gamma": gamma,
                    "alpha": alpha,
                    "output_gamma": output_gamma,
                }
            )
        if draw == 0:
            first = [np.flatnonzero(data.target[test] == d)[0] for d in range(10)]
            shown = {method: (X[test][first], predicted[first]) for method, predicted in predictions.items()}
    return rows, shown


def plot(shown, name):
    import matplotlib.pyplot as plt

    order = ["true", "hellinger", "gaussian", "kernel PCA"]
    figure, axes = plt.subplots(len(order), 10, figsize=(10, 4.6))
    for row, method in zip(axes, order, strict=True):
        for axis, upper, lower in zip(row, *shown[method], strict=True):
            # the largest entry of a lower half is shown as black as that of the upper half
            lower = lower / lower.max() * upper.max()
            axis.imshow(np.vstack([upper.reshape(8, 16), lower.reshape(8, 16)]), cmap="gray_r")
            axis.axhline(7.5, color="tab:red", linewidth=0.6)
            axis.set(xticks=[], yticks=[])
        row[0].set_ylabel(LABELS[method].replace(", ", ",\n"), rotation=0, ha="right", va="center", fontsize=8)
    figure.suptitle("Lower halves predicted from upper halves, first draw", fontsize=11)
    save_figure(figure, name)


def quick(folder):
    """Figures of a small piece: a short run on few samples, see ``common.figures_of``."""
    with smaller(__name__, QUICK=(1, 50, 100)):
        return figures_of(main, list(MEASURES), "method", data=folder)


def main():
    given = arguments(__doc__, data="usps", draws=10)
    data = readers.load_usps(given.data)
    draws, n_train, n_test = QUICK if given.quick else (given.draws, 1000, 5000)
    rows, shown = run(data, draws, n_train, n_test)
    name = "ciliberto2016_usps" + "_quick" * given.quick
    write_csv(name, rows)
    values = {
        (method, measure): np.array([row[measure] for row in rows if row["method"] == method])
        for method in LABELS
        for measure in MEASURES
    }
    lines = []
    for method, label in LABELS.items():
        lines.append([label, "ours", *(with_error(values[method, measure]) for measure in MEASURES)])
        if method in PAPER:
            lines.append([label, "paper", *PAPER[method]])
    print(table(["method", "", *(f"{text} loss" for text in MEASURES.values())], lines))
    for method in ("gaussian", "kernel PCA"):
        gains = [with_error(values["hellinger", measure] - values[method, measure]) for measure in MEASURES]
        print(f"- Hellinger less {LABELS[method]}, paired: " + ", ".join(gains))
    plot(shown, name)


if __name__ == "__main__":
    main()
