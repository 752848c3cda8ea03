"""Output operators: settings from which a positive semi-definite matrix (d, d) is computed.

``matrix(Y, weights, space)`` takes training coordinates Y (n, d), NaN where not observed, their weights (n,), and, for
functions, the space of the coordinates. The space has one axis for each variable, and one for several curves of a
sample.

Decisions
---------
*Operators see the space.* ``Integral`` needs the quadrature. ``Decay`` and matrices act on the atoms of a dictionary,
not on its whitened coordinates, whose order has no meaning.

*LearnedOperator* is output-kernel learning with a fixed trace of the operator (Argyriou et al. 2008) in place of a
penalty on its square (Dinuzzo et al. 2011): it is jointly convex, has the same step for every loss, and needs no
further setting. Alternating minimisation alone can stop before the optimum when a direction is dropped. The derivative
in M bounds the remaining gain and gives a direction of descent.
"""

from .._utils.linalg import Kronecker
from .matrices import as_learned, depends_on_outputs, operator_from_name, operator_matrix
from .products import AxisProduct, LevelCoupling
from .settings import Covariance, Decay, Identity, Integral, LearnedOperator, TaskGraph, task_similarity

__all__ = [
    "AxisProduct",
    "Covariance",
    "Decay",
    "Identity",
    "Integral",
    "LearnedOperator",
    "LevelCoupling",
    "TaskGraph",
    "task_similarity",
]
