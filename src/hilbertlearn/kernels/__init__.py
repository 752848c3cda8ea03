"""Kernels: functions of two lists of inputs that return a Gram matrix."""

from .columns import Categorical, ColumnKernels, Columns
from .embedding import node_embedding
from .family import Best, Family, SharedDistances, alternatives, is_fixed, is_searched, named
from .functional import L2, Additive, ChannelSum, IntegratedKernel
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
from .metric import Metric
from .objects import (
    Matern,
    Named,
    NGrams,
    Pairwise,
    Precomputed,
    Tanimoto,
    TanimotoGaussian,
    as_output_kernel,
    of_objects,
)
from .output_built import OutputBuilt
from .ranks import input_ranks
from .stationary import MOVABLE, distances, metric, profile, slope
from .tables import Table
from .vector_fields import CurlFree, DivergenceFree, Helmholtz, OperatorValued

__all__ = [
    "Additive",
    "Affinity",
    "Best",
    "Categorical",
    "ChannelSum",
    "Columns",
    "CurlFree",
    "DivergenceFree",
    "Helmholtz",
    "IntegratedKernel",
    "L2",
    "Matern",
    "Metric",
    "NGrams",
    "Named",
    "OperatorValued",
    "OutputBuilt",
    "Pairwise",
    "Precomputed",
    "Tanimoto",
    "TanimotoGaussian",
    "node_embedding",
    "node_kernel",
]
