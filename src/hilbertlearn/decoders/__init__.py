"""Decoders: from weights of the training outputs to the output with the smallest weighted loss, for all queries.

``DECODERS`` maps names to functions ``decode(W, Y, loss)`` of weights W (m, n), training outputs Y and their loss, an
object of ``hilbertlearn.output_losses``. Weights may be negative and need not sum to one. A decoder returns m outputs
z that minimise ``sum_i W[q, i] loss(z, Y[i])``. An output loss names its decoder in the attribute ``decoder``. A new
decoder is registered by ``DECODERS[name] = function``. The decoder ``"candidates"``, which tries a list of outputs,
suits every loss; the estimators implement it.

Decisions
---------
- All queries are decoded at once, in blocks that fit in scikit-learn's working memory.
- Ties are resolved by order: the candidate that comes first wins. Scores that differ by rounding count as equal.
- Ridge weights have both signs, so decoders are exact for these where that is possible. These are searches and may end
  in a local minimum: Jaccard beyond 12 labels, rankings beyond 12 items, chi-square with weights of both signs,
  directions on the sphere, Gaussian pre-images, sums of losses. Smooth losses of numbers and the Wasserstein loss are
  exact up to the limits of their grids; their docstrings state these.
- Compiled loops (`scalar_compiled`) are used where numba is installed and weights are many. The tests run with both.

References
----------
- Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29, algorithm
  1.

Examples
--------
The median of three numbers, and their 0.9-quantile:

>>> import numpy as np
>>> from hilbertlearn import decoders, output_losses
>>> W, Y = np.ones((1, 3)), np.array([1.0, 2.0, 9.0])
>>> for loss in (output_losses.Absolute(), output_losses.Pinball(0.9)):
...     print(decoders.DECODERS[loss.decoder](W, Y, loss))
[2.]
[9.]
"""

from collections.abc import Callable
from functools import partial

from . import candidates, custom, directions, gaussian, histograms, jaccard, rankings, scalar, sets, simplex, sums

__all__ = ["DECODERS"]

#: Decoders by name; see the docstring of the module.
DECODERS: dict[str, Callable] = {
    "classes": candidates.decode_classes,
    "threshold": sets.decode_hamming,
    "sets": sets.decode_f1,
    "jaccard_sets": jaccard.decode_jaccard,
    "assignment": rankings.decode_spearman,
    "ranking": rankings.decode_ranking,
    "mean": histograms.decode_mean,
    "sqrt_mean": histograms.decode_hellinger,
    "chi2_mean": simplex.decode_chi2,
    "distribution_median": simplex.decode_wasserstein,
    "scalar": scalar.decode_scalar,
    "directions": directions.decode_directions,
}
DECODERS["sum"] = partial(sums.decode_sum, DECODERS)  # it takes the proposals of the other decoders
