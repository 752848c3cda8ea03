"""10 000 scalar decodings over 1000 outputs against scipy's minimize_scalar: 25 times faster, 50 with numba."""

from importlib.util import find_spec
from unittest.mock import patch

import numpy as np
from scipy.optimize import minimize_scalar

from hilbertlearn import output_losses
from hilbertlearn.decoders import scalar

from .timing import best_of, report

LOSSES = [
    output_losses.Cauchy(),
    output_losses.Cauchy(0.3),
    output_losses.GemanMcClure(),
    output_losses.GemanMcClure(0.3),
    output_losses.Absolute(),
    output_losses.Pinball(0.2),
    output_losses.EpsilonAbsolute(),
    output_losses.SquaredError(),
    output_losses.Huber(),
    output_losses.Huber(0.3),
    output_losses.Fair(),
    output_losses.Fair(0.3),
    output_losses.L2L1(),
    output_losses.Hinge(),
    output_losses.Logistic(),
]


def main(n=1000, m=10_000, looped=1000):
    W, numbers = weights(n, m)
    some = np.arange(0, m, -(-m // looped))  # the loop's time is proportional to the number of queries
    targets = {"numpy": 25, "numba": 50} if find_spec("numba") else {"numpy": 25}
    for loss in LOSSES:
        Y = (
            np.where(numbers > 0, 1.0, -1.0)
            if isinstance(loss, output_losses.Hinge | output_losses.Logistic)
            else numbers
        )
        found = np.empty(len(some))

        def theirs():
            for i, q in enumerate(some):
                found[i] = minimize_scalar(lambda z: W[q] @ loss.value(z, Y), bounds=loss.span(Y)).x

        def ours(loops):
            with patch.object(scalar, "_COMPILED_FROM", 0 if loops == "numba" else np.inf):
                return scalar.decode_scalar(W, Y, loss)

        predictions = {loops: ours(loops)[some] for loops in targets}  # also compiles
        for loops, at_least in targets.items():
            # one at a time beside the loop: threads of BLAS, which wait for more to do, would slow down compiled ones
            t_ours, t_some = best_of(lambda loops=loops: ours(loops), theirs)
            excess = objective(W[some], Y, loss, predictions[loops]) - objective(W[some], Y, loss, found)
            report("scalar_decoder", f"scipy.optimize.minimize_scalar, {loss!r}, {loops}",
                   speedup=t_some * m / len(some) / t_ours, at_least=at_least, seconds=t_ours,
                   largest_excess=float(excess.max()))  # fmt: skip


def weights(n, m):
    """Weights (m, n) of kernel ridge regression and outputs of the robust regression of Ciliberto et al. 2016."""
    rng = np.random.default_rng(0)
    x, new = rng.uniform(-1, 1, n), rng.uniform(-1, 1, m)
    outliers = np.where(rng.random(n) < 0.1, rng.uniform(-3, 3, n), 0.0)
    y = np.sin(6 * np.pi * x) + rng.normal(scale=np.sqrt(0.1), size=n) + outliers
    K = np.exp(-100 * (x[:, None] - x) ** 2)
    cross = np.exp(-100 * (new[:, None] - x) ** 2)
    return cross @ np.linalg.inv(K + 1e-4 * n * np.eye(n)), y


def objective(W, Y, loss, z):
    return np.array([w @ loss.value(prediction, Y) for w, prediction in zip(W, z, strict=True)])


if __name__ == "__main__":
    main()
