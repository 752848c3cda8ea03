"""Rankings of 100 items from ratings with gaps, also for weights of both signs: at most 50 milliseconds per query."""

import numpy as np

from hilbertlearn.decoders.rankings import decode_ranking
from hilbertlearn.output_losses import Rank

from .timing import best_of, report

LIMIT = 50.0  # milliseconds


def main(items=100, n=500, queries=40):
    rng = np.random.default_rng(0)
    tastes, qualities = rng.normal(size=(n, 5)), rng.normal(size=(items, 5))
    Y = np.clip(np.rint(3 + tastes @ qualities.T / 2 + rng.normal(size=(n, items))), 1, 5)
    Y[rng.random(Y.shape) < 0.5] = np.nan
    W = np.abs(rng.normal(size=(queries, n)))
    W[::2] = rng.normal(size=(len(W[::2]), n))  # of both signs, which is harder
    loss = Rank()
    (seconds,) = best_of(lambda: decode_ranking(W, Y, loss), repeats=3)
    milliseconds = 1e3 * seconds / queries
    Z = decode_ranking(W, Y, loss)
    found, trained = np.einsum("qi,qi->q", W, loss(Z, Y)), (W @ loss(Y, Y).T).min(axis=1)
    report("ranking_decoder", f"{LIMIT:g} ms a query", ratio=milliseconds / LIMIT, at_most=1.0,
           milliseconds=milliseconds, least_gain_over_training=float((trained - found).min()))  # fmt: skip


if __name__ == "__main__":
    main()
