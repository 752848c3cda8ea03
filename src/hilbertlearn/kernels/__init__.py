"""Kernels: functions of two lists of inputs that return a Gram matrix."""

from .columns import CategoricalKernel, Columns, ResolvedColumns
from .embedding import node_embedding
from .family import KernelFamily, KernelSearch, SharedDistances, alternatives, is_fixed, is_searched, named
from .functional import L2, AdditiveKernel, ChannelSum, IntegratedKernel
from .gram import (
    InputKernel,
    brings_operator,
    centred_linear,
    check_kernel,
    check_params,
    diagonal,
    gram,
    has_gamma,
    is_operator_valued,
    is_precomputed,
    resolve_gamma,
    scalar,
    training_gram,
)
from .graph import Affinity, as_graph, diffusion, makes_penalty, node_kernel, smoothness
from .metric import MetricKernel
from .objects import (
    Matern,
    NamedKernel,
    NGrams,
    PairwiseKernel,
    PrecomputedKernel,
    Tanimoto,
    TanimotoGaussian,
    as_output_kernel,
    of_objects,
)
from .output_tensor import OutputTensorKernel
from .ranks import input_ranks
from .stationary import MOVABLE, distances, metric, profile, slope
from .tables import InputTable
from .vector_fields import CurlFreeKernel, DivergenceFreeKernel, HelmholtzKernel, OperatorValuedKernel

__all__ = [
    "AdditiveKernel",
    "Affinity",
    "KernelSearch",
    "CategoricalKernel",
    "ChannelSum",
    "Columns",
    "CurlFreeKernel",
    "DivergenceFreeKernel",
    "HelmholtzKernel",
    "IntegratedKernel",
    "L2",
    "Matern",
    "MetricKernel",
    "NGrams",
    "NamedKernel",
    "OperatorValuedKernel",
    "OutputTensorKernel",
    "PairwiseKernel",
    "PrecomputedKernel",
    "Tanimoto",
    "TanimotoGaussian",
    "node_embedding",
    "node_kernel",
]
