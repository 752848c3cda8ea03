"""Decoders: from weights of the training outputs to the output with the smallest weighted loss, for all queries.

``DECODERS`` has them by name: functions ``decode(W, Y, loss)`` of weights W (m, n), which may be negative and need not
sum to one, training outputs Y and their loss, an object of ``hilbertlearn.output_losses``. They return m outputs z,
each a minimum of ``sum_i W[q, i] loss(z, Y[i])``. An output loss names its own as ``decoder``; a decoder of one's own
is registered by ``DECODERS[name] = function``. ``"candidates"``, which tries a list of outputs, goes with every loss
and is the estimators' own.

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

#: Decoders by name; see the text of the module.
DECODERS: dict[str, Callable] = {
    "classes": candidates.classes,
    "threshold": sets.threshold,
    "sets": sets.f1_sets,
    "jaccard_sets": jaccard.decode,
    "assignment": rankings.assignment,
    "ranking": rankings.feedback_arc_set,
    "mean": histograms.mean,
    "sqrt_mean": histograms.sqrt_mean,
    "chi2_mean": simplex.chi2,
    "distribution_median": simplex.wasserstein1d,
    "scalar": scalar.decode,
    "directions": directions.decode,
}
DECODERS["sum"] = partial(sums.decode, DECODERS)  # which asks the others for proposals
