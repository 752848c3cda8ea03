"""Spaces: outputs to orthonormal coordinates and back."""

from .base import Given, Smoothed, Space
from .dictionaries import BSpline, Fourier, PrincipalComponents, Wavelet
from .functional import FunctionSpace, function_space
from .levels import Levels
from .settings import Dictionary, Eigen, Grid, as_space, named_space
from .structured import KernelSpace, OutputKernel, ProbeSpace, WeightSpace
from .vector import Metric, Vector, read_vectors, spread_of

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
