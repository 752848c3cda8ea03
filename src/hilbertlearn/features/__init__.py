"""Feature maps that replace Gram matrices: inputs -> Z (n, r) with ``K = Z Z'``, exactly or approximately.

    feature_map = Landmarks(500).fit(kernels.InputKernel("rbf", gamma=0.1), X)
    Z = feature_map(X)

Settings objects (``Landmarks``, ``RandomFeatures``, ``TransformerFeatures``) are fitted to a kernel and samples. The
fitted maps are frozen.

Decisions
---------
*Cholesky factor.* Features of landmarks L are ``Z = K(X, L) R^-1`` with ``K(L, L) = R'R``. A triangular solve takes
half the time of a product with a symmetric root, and needs no eigenvectors. Features are nested, so that a model with
more landmarks extends one with fewer (``head``, ``extend``, ``Landmarks.fit(start=)``). Landmarks that depend linearly
on others up to rounding are dropped. R is computed in double precision, whatever the precision of Z is. Predictions are
computed from kernel values with the landmarks (``expansion``).

*Candidates.* Landmarks are selected from a random pool of eight candidates for each: a selection from P candidates
costs P r² operations, features of n samples cost n r².

*Default "medoids".* Random pivots leave 0.4 to 0.75 times the trace that uniform samples leave (pendigits, cpu-small).
But ridge regression on random pivots, or on leverage scores, had up to 1.5 % larger errors on new samples: both place
landmarks where there are few samples, and the error is dominated by regions with many. Medoids of clusters follow the
density and are spread more evenly than random draws. Their errors were 0.2 to 0.7 % smaller than those of uniform
samples on pendigits, within 0.3 % on cpu-small, and smaller in all nine cases on delicious. A fifth of the centres
start at random pivots, which also provide the coordinates: medoids thus exist for kernels of any objects, and rare
clusters keep one.

*Two steps.* A map has two steps: ``values`` for a block of rows, and ``finish``, in place and for any number of rows.
Kernel values use numpy's BLAS and triangular solves use scipy's. If they alternate block by block, their threads
obstruct each other, which costs as much as either step.
"""

from .base import FeatureMap
from .kernel import FeatureKernel, TransformerKernel, fit_feature_map
from .landmarks import LandmarkMap, Landmarks
from .random import RandomFeatures, RandomMap
from .settings import as_feature_map
from .transformer import TransformerFeatures, TransformerMap

__all__ = [
    "Landmarks",
    "RandomFeatures",
    "TransformerFeatures",
]
