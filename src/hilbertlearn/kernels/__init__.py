"""Kernels: functions of two lists of inputs that return a Gram matrix."""

from .deformed import Deformed
from .functional import L2, Additive, ChannelSum, Integral
from .gram import check_kernel, check_params, diagonal, gram, is_precomputed, resolve_gamma, training_gram
from .graph import Affinity, as_graph, diffusion, node_kernel, smoothness
from .objects import Pairwise, Tanimoto
from .output_built import OutputBuilt
from .outputs import Named, NGrams, Precomputed, TanimotoGaussian, as_output_kernel

__all__ = [
    "L2",
    "Additive",
    "Affinity",
    "ChannelSum",
    "Deformed",
    "Integral",
    "NGrams",
    "Named",
    "OutputBuilt",
    "Pairwise",
    "Precomputed",
    "Tanimoto",
    "TanimotoGaussian",
    "as_graph",
    "as_output_kernel",
    "check_kernel",
    "check_params",
    "diagonal",
    "diffusion",
    "gram",
    "is_precomputed",
    "node_kernel",
    "resolve_gamma",
    "smoothness",
    "training_gram",
]
