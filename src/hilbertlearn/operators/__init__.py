"""Output operators: settings that become a PSD matrix (d, d) when the training coordinates are known.

``matrix(Y, weights, space)`` takes training coordinates Y (n, d), NaN where not observed, their weights, and, for
functions, the space behind the coordinates: it has one axis for each variable, and one for several curves a sample.
"""

from .._utils.linalg import Kronecker
from .matrices import as_learned, depends_on_outputs, operator_from_name, operator_matrix
from .products import AxisProduct, LevelCoupling
from .settings import Covariance, Decay, Identity, Integral, LearnedOperator, TaskGraph, task_similarity

__all__ = [
    "LevelCoupling",
    "Covariance",
    "Decay",
    "Identity",
    "Integral",
    "LearnedOperator",
    "AxisProduct",
    "TaskGraph",
    "task_similarity",
]
