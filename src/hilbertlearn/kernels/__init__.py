"""Kernels: functions of two lists of inputs that return a Gram matrix."""

from .functional import L2, Additive, ChannelSum, IntegratedKernel
from .gram import (
    InputKernel,
    brings_operator,
    check_kernel,
    check_params,
    diagonal,
    gram,
    is_operator_valued,
    is_precomputed,
    resolve_gamma,
    scalar,
    training_gram,
)
from .graph import Affinity, as_graph, diffusion, node_kernel, smoothness
from .objects import Named, NGrams, Pairwise, Precomputed, Tanimoto, TanimotoGaussian, as_output_kernel
from .output_built import OutputBuilt
from .vector_fields import CurlFree, DivergenceFree, Helmholtz, OperatorValued
