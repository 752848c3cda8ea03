"""Spaces: the map from outputs to orthonormal coordinates and back.

Decisions
---------
- *Functions.* A space of functions is a product of axes, one for each variable, and of the curves of a sample. An
  axis is a grid or a whitened dictionary. The papers' representations differ in nothing else, so functions of several
  variables and several curves need no code of their own.
- *Inner products* of a dictionary are those of the grid of the outputs (101 points for irregular outputs):
  coordinates are orthonormal in the norm in which the loss is computed.
- *Gaps and irregular points* are not imputed. In a dictionary, ``encode`` returns the observed values and
  ``sampling`` the map from coordinates to them (``irregular="exact"``). ``regressor=`` needs complete coordinates:
  ``encode_filled`` interpolates linearly along each curve.
- *Outside the subspace.* Losses of the norm see the whole residual, also the part that a dictionary or landmarks
  cannot express: ``outside_norms`` is one more column of the problem. ``irregular="projected"`` is the projected
  residual of the papers. Losses with p other than 2 need point values on a common grid.
- *Principal components* span deviations from the mean curve. The part of the mean outside their span is the origin of
  the space, to which combinations are added.
- *Wavelets* are restricted to the interval, not folded at its ends.
- *Loss trick.* An output is its unit vector over the distinct training outputs (``WeightSpace``).
- *Output kernels.* Coordinates come from a pivoted Cholesky decomposition, so new outputs need kernel values with the
  pivots only. With ``rank=`` the pivots are landmarks, drawn with probability proportional to the remaining ``k(y,
  y)`` times the weight of the samples (randomly pivoted Cholesky; the largest remainders would be outliers), and the
  matrix of all outputs is never formed.
- *Means.* A noisy mean curve on a grid is smoothed by a spline (``smoothing.py``). The penalty minimises an unbiased
  estimate of the error, with the noise variance from fourth differences of the curves. Smoothing is linear in the
  outputs, so leave-one-out stays exact. Where no curve is observed, a spline in tension interpolates the mean: a
  natural spline diverges beyond the ends, a straight line misses the bend of short gaps.
"""

from .base import FixedSpace, MeanSmoother, Space
from .dictionaries import BSpline, Fourier, PrincipalComponents, Wavelet
from .functional import FunctionSpace, function_space
from .quantile import QuantileSpace
from .settings import Dictionary, Eigen, Grid, as_space, named_space
from .structured import KernelSpace, OutputKernel, ProbeSpace, WeightSpace
from .vector import MetricVectorSpace, VectorSpace, output_scales, read_vectors

__all__ = [
    "BSpline",
    "Dictionary",
    "Eigen",
    "Fourier",
    "Grid",
    "OutputKernel",
    "PrincipalComponents",
    "Space",
    "Wavelet",
]
