"""Kernels of inputs and outputs: functions of two lists of objects that return a Gram matrix.

A kernel is a name, a callable ``(X, Z) -> array (n, m)``, or an object of this package. Kernel objects hold settings
and no data. Settings that depend on the training data, such as ``gamma="median"``, become numbers by ``resolve(X,
sample_weight)``, which returns another kernel. A fitted model keeps an ``InputKernel``, in which all settings are
numbers. Operator-valued kernels return blocks (n, m, d, d).

A kernel class may define these attributes and methods:

=================================  =====================================================================================
``positive_definite = True``       Gram matrices are positive semi-definite and are not checked
``operator_valued = True``         values are matrices (d, d)
``provides_operator = True``       the kernel contains the output operator
``reads_columns = True``           inputs are data frames, given as ``InputTable``
``accepts_missing = True``         inputs may contain NaN
``accepts_any_input = True``       inputs reach the kernel unchecked
``selects_by_name = True``         columns are selected by name, so that their order and further columns do not matter
``returns_gram = False``           values have more axes than a Gram matrix
``scalar_kernel``                  the kernel that is evaluated on inputs, inside a kernel built from outputs
``diagonal(X)``                    computes ``k(x, x)`` without a Gram matrix
``rate_is_searched``               the rate is selected by leave-one-out errors; ``with_rate(factor)`` changes it
``is_average = True``              the kernel is a weighted sum of the kernels ``parts``, with ``shares``
``variants(X, C, sample_weight)``  kernels to try after a fit with coefficients C
=================================  =====================================================================================

Decisions
---------
*Rates.* gamma is a rate: values are functions of gamma times a distance. ``gamma="median"`` of the Gaussian kernel is 1
/ (2 median squared distance), so that the median distance is one bandwidth. Matérn kernels have gamma = 1 / (2 l²) for
a length scale l, which makes the Gaussian kernel their limit. ``ChannelSum`` and ``AdditiveKernel`` have bandwidths
instead, as in their paper.

*Distances are shared.* Stationary kernels are profiles of a distance, so that all shapes and rates of one search use
one matrix of distances. A ``KernelFamily`` is the kernels of a model up to a common rate.

*kernel="auto"* also tries the city-block distance: on tables of mixed inputs it gains more than any smoothness does.
With a gamma other than "auto" it is the Gaussian kernel, because a number means something else for each shape.

*Scaled inputs* are a part of the resolved kernel, an ``InputScaling``: the estimator's inputs stay as they are given,
and candidates with and without scaling are compared by the same errors. Values far outside the training range are
limited, because the linear part of an average is otherwise unbounded at an outlying row.

*An average is a kernel.* ``AverageKernel`` is a weighted sum of resolved kernels. A model with it is one problem, with
its gap, leave-one-out, bounds and files, where an average of models would be a second kind of model everywhere.

*Origin.* Linear and polynomial kernels have their origin at the mean of the inputs if ``center=True``: a model with a
constant should not depend on the origin of the inputs.

*Kernels built from outputs.* The paper leaves the families k_i, k_ij and k(s, x_i, x_j) of ``OutputTensorKernel`` open.
By default they are the scalar kernel localised at the samples. The weights mu follow the sample weights unless given.
Outputs are centred at their mean, whatever the loss.

*Vector fields.* All kernels of vector fields are the identity at x = z.

*Graph penalties.* ``Affinity(smoother=("diffusion", t))`` is ``I - exp(-t L)``. The paper uses the diffusion kernel
``exp(-t L)`` itself, here ("diffusion_kernel", t), which penalises smooth functions most.
"""

from .average import AverageKernel, SharedDistances
from .columns import CategoricalKernel, Columns, ResolvedColumns
from .embedding import node_embedding
from .family import (
    KernelFamily,
    KernelSearch,
    can_scale,
    candidate_kernels,
    check_scalable,
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
    is_average,
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
from .scaling import InputScaling
from .stationary import DIFFERENTIABLE, distances, metric_name, profile, profile_derivative
from .tables import InputTable
from .vector_fields import CurlFreeKernel, DivergenceFreeKernel, HelmholtzKernel, OperatorValuedKernel

__all__ = [
    "AdditiveKernel",
    "Affinity",
    "AverageKernel",
    "CategoricalKernel",
    "ChannelSum",
    "Columns",
    "CurlFreeKernel",
    "DivergenceFreeKernel",
    "HelmholtzKernel",
    "IntegratedKernel",
    "KernelSearch",
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
