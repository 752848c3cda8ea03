"""Kernels: functions of two lists of inputs that return a Gram matrix."""

from .columns import CategoricalKernel, Columns, ResolvedColumns
from .embedding import node_embedding
from .family import (
    KernelFamily,
    KernelSearch,
    SharedDistances,
    candidate_kernels,
    is_fixed,
    is_searched,
    kernel_from_name,
)
from .functional import L2, AdditiveKernel, ChannelSum, IntegratedKernel
from .gram import (
    InputKernel,
    centred_linear,
    check_kernel,
    check_kernel_params,
    diagonal,
    gram,
    has_gamma,
    is_operator_valued,
    is_precomputed,
    provides_operator,
    resolve_gamma,
    scalar_kernel,
    training_gram,
)
from .graph import Affinity, check_graph, computes_penalty, diffusion_kernel, graph_penalty, node_kernel
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
    object_kernel,
)
from .output_tensor import OutputTensorKernel
from .ranks import input_ranks
from .stationary import DIFFERENTIABLE, distances, metric_name, profile, profile_derivative
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
