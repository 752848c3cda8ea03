"""Kernels: functions of two lists of inputs that return a Gram matrix."""

from .functional import L2, Additive, ChannelSum, Integral
from .gram import check_kernel, check_params, diagonal, gram, resolve_gamma, training_gram
from .graph import Affinity, diffusion
from .objects import Pairwise, Tanimoto
from .output_built import OutputBuilt
from .outputs import Named, NGrams, Precomputed, TanimotoGaussian, as_output_kernel

__all__ = [
    "L2",
    "Additive",
    "Affinity",
    "ChannelSum",
    "Integral",
    "NGrams",
    "Named",
    "OutputBuilt",
    "Pairwise",
    "Precomputed",
    "Tanimoto",
    "TanimotoGaussian",
    "as_output_kernel",
    "check_kernel",
    "check_params",
    "diagonal",
    "diffusion",
    "gram",
    "resolve_gamma",
    "training_gram",
]
