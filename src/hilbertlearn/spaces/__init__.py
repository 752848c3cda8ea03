"""Spaces: outputs to orthonormal coordinates and back."""

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
