"""Output operators: settings that become a PSD matrix (d, d) when the training coordinates are known.

``matrix(Y, weights, space)`` takes training coordinates Y (n, d), NaN where not observed, their weights, and, for
functions, the space behind the coordinates: it has one axis for each variable, and one for several curves a sample.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg
from sklearn.base import BaseEstimator

from . import kernels
from ._linalg import Kronecker, kronecker, psd_root, spectrum
from ._statistics import covariance
from ._validation import check_choice, check_number, check_symmetric_psd
from .graphs import laplacian

__all__ = [
    "BetweenLevels",
    "Covariance",
    "Decay",
    "Identity",
    "Integral",
    "Learned",
    "PerAxis",
    "TaskGraph",
    "task_similarity",
]


class Identity(BaseEstimator):
    """Independent coordinates: the kernel is ``k(x, z) I``."""

    def matrix(self, Y, weights=None, space=None):
        return None


class Integral(BaseEstimator):
    """The integral operator ``f -> integral of k(., t) f(t) dt`` of a kernel on the functions' domain.

    Domains are mapped to the unit interval first, so gamma means the same on each. Functions of several variables get
    the product of kernels on each, several curves a sample the same operator each.

    Parameters
    ----------
    kernel : "laplacian", "rbf", another name of scikit-learn's ``pairwise_kernels`` or a callable on points (m, 1)
    gamma : coefficient of the kernel
    """

    def __init__(self, kernel="laplacian", gamma=10.0):
        self.kernel, self.gamma = kernel, gamma

    def matrix(self, Y, weights=None, space=None):
        if space is None:
            raise ValueError("operator=Integral acts on functions of a variable; use FunctionalRegressor")
        self.validate()
        return kronecker([*(axis.integral(self.gram) for axis in space.axes), None], space.sizes)

    def validate(self, name="Integral"):
        try:
            kernels.check_kernel(self.kernel)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name}: {error}") from error
        if kernels.is_precomputed(self.kernel):
            raise ValueError(f"{name}: kernel='precomputed' has no values between points; give a name or a callable")
        check_number(self.gamma, f"{name}: gamma")

    def gram(self, points, others):
        """Kernel values (m, p) between points (m,) and others (p,) of the unit interval."""
        if not (len(points) and len(others)):
            return np.zeros((len(points), len(others)))
        return kernels.gram(self.kernel, points[:, None], others[:, None], gamma=self.gamma)


class PerAxis(BaseEstimator):
    """One operator on the functions' domain and another between the curves of a sample: their Kronecker product.

    Parameters
    ----------
    domain : operator on each variable's axis: "auto" for the space's own, None, an object or a matrix
    curves : operator between the p curves of outputs (n, m, p): None, an object such as ``Covariance()``, or a matrix
    """

    def __init__(self, domain="auto", curves=None):
        self.domain, self.curves = domain, curves

    def matrix(self, Y, weights=None, space=None):
        if space is None:
            raise ValueError("operator=PerAxis acts on functions of a variable; use FunctionalRegressor")
        factors = []
        for k, axis in enumerate([*space.axes, None]):
            along, repeats = space.unfolded(Y, k), len(Y) and math.prod(space.sizes) // space.sizes[k]
            own = np.repeat(np.ones(len(Y)) if weights is None else weights, repeats)
            setting, part = (self.curves, None) if axis is None else (self.domain, space.only(k))
            if as_learned(setting) is not None:
                raise ValueError("PerAxis: Learned is for all coordinates at once; use operator=Learned()")
            if axis is None and isinstance(setting, (Integral, PerAxis)):
                raise ValueError("PerAxis: curves has no domain to integrate over; give a matrix or Covariance()")
            factors.append(operator_matrix(setting, along, own, part))
        return Kronecker(size if f is None else f for f, size in zip(factors, space.sizes, strict=True))


class BetweenLevels(BaseEstimator):
    """An operator on the outputs and another between the levels of their quantiles: their Kronecker product.

    The levels' is ``exp(-coupling (tau_i - tau_j)^2)`` (Sangnier, Fercoq and d'Alché-Buc 2016): without coupling 0
    quantiles of all levels are the same function up to constants, at infinity each is a model of its own.

    Parameters
    ----------
    operator : operator on the outputs, as an estimator takes it
    levels : numbers in (0, 1)
    coupling : number >= 0, or infinity
    """

    def __init__(self, operator, levels, coupling=1.0):
        self.operator, self.levels, self.coupling = operator, levels, coupling

    def matrix(self, Y, weights=None, space=None):
        if as_learned(self.operator) is not None:
            raise ValueError("operator: Learned does not go with quantiles; give another operator, or None")
        levels = np.atleast_1d(np.asarray(self.levels, dtype=float))
        of_outputs = Y[:, :: len(levels)]
        M = operator_matrix(self.operator, of_outputs, weights, None if space is None else space.base)
        own = list(M.factors) if isinstance(M, Kronecker) else [of_outputs.shape[1] if M is None else M]
        sizes = [f if isinstance(f, int) else len(f) for f in own]
        factors = [None if isinstance(f, int) else f for f in own]
        return kronecker([*factors, self._between(levels)], [*sizes, len(levels)])

    def _between(self, levels):
        """Matrix (L, L), None for the identity."""
        if len(levels) == 1 or (isinstance(self.coupling, float) and self.coupling == np.inf):
            return None
        apart = np.subtract.outer(levels, levels) ** 2
        return np.exp(-check_number(self.coupling, "coupling", strict=False) * apart)


class TaskGraph(BaseEstimator):
    """Related tasks from similarities M between them (Brouard et al. 2016, section 5.2).

    Parameters
    ----------
    M : (d, d) non-negative similarities, or None for ``exp(-gamma D_ij)``, D_ij the mean of ``(Y^i - Y^j)^2`` over the
        samples in which both tasks were observed. The paper has the sum: its gamma is this one over the number of
        samples. A mean does not depend on that number, which differs from pair to pair where there are gaps.
    mu : weight of the graph in [0, 1]; 0 is the identity
    form : "laplacian" for ``(mu L_M + (1 - mu) I)^-1`` (model 2) or "similarity" for ``mu M + (1 - mu) I`` (model 1)
    gamma : a number, in units of one over a squared output (of outputs divided by their spread where the estimator's
        ``scale`` does so), or "median" for one over the median of D_ij between tasks
    """

    def __init__(self, M=None, mu=0.5, form="laplacian", gamma="median"):
        self.M, self.mu, self.form, self.gamma = M, mu, form, gamma

    @property
    def from_outputs(self):
        return self.M is None

    def matrix(self, Y, weights=None, space=None):
        d = Y.shape[1]
        check_number(self.mu, "TaskGraph: mu", strict=False)
        check_choice(self.form, "TaskGraph: form", ("laplacian", "similarity"))
        if self.mu > 1 or (self.mu == 1 and self.form == "laplacian"):
            limit = "< 1 (a graph Laplacian is singular)" if self.form == "laplacian" else "<= 1"
            raise ValueError(f"TaskGraph: mu must be {limit}, got {self.mu!r}")
        similarity = task_similarity(Y, self.gamma, weights) if self.M is None else np.asarray(self.M, dtype=float)
        if similarity.shape != (d, d):
            raise ValueError(f"TaskGraph: M must have shape {(d, d)}, one row a task, got {similarity.shape}")
        if not np.allclose(similarity, similarity.T) or similarity.min() < 0:
            raise ValueError("TaskGraph: M must be symmetric and non-negative; pass similarities between tasks")
        if self.form == "similarity":
            if self.M is None and not np.isfinite(Y).all():  # distances over different samples
                similarity = _psd_part(similarity)
            return self.mu * similarity + (1 - self.mu) * np.eye(d)
        return scipy.linalg.inv(self.mu * laplacian(similarity) + (1 - self.mu) * np.eye(d))


class Covariance(BaseEstimator):
    """Covariance of the training outputs, ``shrinkage`` of it replaced by a multiple of the identity of equal trace.

    Entries that were not observed are left out of each covariance; what is then not PSD is cut off.
    """

    from_outputs = True

    def __init__(self, shrinkage=0.1):
        self.shrinkage = shrinkage

    def matrix(self, Y, weights=None, space=None):
        check_number(self.shrinkage, "Covariance: shrinkage", strict=False)
        if self.shrinkage > 1:
            raise ValueError(f"Covariance: shrinkage must be at most 1, got {self.shrinkage!r}")
        S = covariance(Y, np.ones(len(Y)) if weights is None else weights)
        if not np.isfinite(Y).all():
            S = _psd_part(S)
        mean = np.trace(S) / len(S)
        return (1 - self.shrinkage) * S + self.shrinkage * (mean if mean > 0 else 1.0) * np.eye(len(S))


class Learned(BaseEstimator):
    """The operator that minimises the objective together with the function, among PSD ones of trace d.

    The two are found in turn: the function for a given operator, then the operator ``d S^1/2 / tr S^1/2`` for the
    function, S its inner products ``<h_i, h_j>`` between coordinates. The problem is convex in both (Argyriou et al.
    2008), the objective never increases, and M = I is where it starts.

    Parameters
    ----------
    max_iter : rounds at most
    tol : what is at most left to gain, relative to the objective, when it stops
    """

    from_outputs = True

    def __init__(self, max_iter=50, tol=5e-3):
        self.max_iter, self.tol = max_iter, tol

    def matrix(self, Y, weights=None, space=None):
        check_number(self.max_iter, "Learned: max_iter", integer=True)
        check_number(self.tol, "Learned: tol", strict=False)
        return None  # the start

    @staticmethod
    def best(S):
        """The operator (d, d) for inner products S (d, d) of a function's coordinates; None when all are zero."""
        root = psd_root(S)
        total = np.trace(root)
        return len(S) / total * root if total > 0 else None


class Decay(BaseEstimator):
    """Diagonal with entries ``1 / (1 + j)^rate``, j = 0, 1, ...: later coordinates are smoothed more.

    In a dictionary j counts its atoms, on each axis of its own.
    """

    def __init__(self, rate=2.0):
        self.rate = rate

    def matrix(self, Y, weights=None, space=None):
        check_number(self.rate, "Decay: rate", strict=False)
        if space is None:
            return self._diagonal(Y.shape[1])
        return kronecker([*(axis.lifted(self._diagonal(axis.n_atoms)) for axis in space.axes), None], space.sizes)

    def _diagonal(self, size):
        return np.diag((1.0 + np.arange(size)) ** -self.rate)


def _psd_part(S):
    """S (d, d), symmetric, without its negative eigenvalues."""
    values, vectors = spectrum(S, rounding=0.0)
    return (vectors * values) @ vectors.T


def task_similarity(Y, gamma="median", weights=None):
    """``exp(-gamma D_ij)``, D_ij the mean of ``(Y^i - Y^j)^2`` over the samples of Y (n, d) that observe both."""
    observed = np.isfinite(Y)
    weights = np.ones(len(Y)) if weights is None else weights
    filled = np.where(observed, Y, 0.0)
    counts = (observed.T * weights) @ observed
    square = (filled.T**2 * weights) @ observed
    distances = square + square.T - 2 * (filled.T * weights) @ filled
    distances = np.divide(np.maximum(distances, 0), counts, out=np.zeros_like(distances), where=counts > 0)
    np.fill_diagonal(distances, 0.0)
    if check_number(gamma, "TaskGraph: gamma", choices=("median",)) == "median":
        apart = distances[distances > 0]  # each pair of tasks twice
        gamma = 1.0 / np.median(apart) if len(apart) else 1.0
    similarity = np.exp(-gamma * distances)
    similarity[counts == 0] = 0.0  # never seen together: no edge
    return similarity


_NAMES: dict = {
    "identity": Identity,
    "task_graph": TaskGraph,
    "covariance": Covariance,
    "decay": Decay,
    "integral": Integral,
    "learned": Learned,
}
_IDENTITY_WITHIN = 1e-12  # entries of an operator this close to the identity's are taken for it: no spectrum is needed


def as_learned(operator):
    """The setting of an operator that is learnt with the function, None for others."""
    if isinstance(operator, str) and operator == "learned":
        return Learned()
    return operator if isinstance(operator, Learned) else None


def is_from_outputs(operator):
    """Whether an operator, a setting, is made of the training outputs, so that their scales count."""
    known = _NAMES.get(operator, Identity)() if isinstance(operator, str) else operator
    return bool(getattr(known, "from_outputs", False))


def named_operator(operator, name="operator", others=()):
    """The object behind the name of an operator; others are names known besides."""
    known = (*_NAMES, *others)
    return _NAMES[check_choice(operator, name, known, ", a matrix or an object of hilbertlearn.operators")]()


def operator_matrix(operator, Y, weights=None, space=None, name="operator"):
    """The PSD matrix (d, d) of an operator for coordinates Y (n, d), NaN where not observed; None is the identity.

    In a space of functions "auto" is the space's own operator, and an array acts on the atoms of a dictionary.
    """
    if operator is None:
        return None
    if isinstance(operator, str) and operator == "auto" and space is not None:
        M = kronecker([*(axis.own_operator for axis in space.axes), None], space.sizes)
    elif isinstance(operator, str):
        M = named_operator(operator, name, () if space is None else ("auto",)).matrix(Y, weights, space)
    elif isinstance(operator, type):
        raise TypeError(f"{name} must be an object, got the class {operator.__name__}; pass {operator.__name__}()")
    elif hasattr(operator, "matrix"):
        M = operator.matrix(Y, weights, space)
    else:
        M = _given(operator, space, name)
    if M is None:
        return None
    d = Y.shape[1]
    if M.shape != (d, d):
        raise ValueError(f"{name} must have shape {(d, d)}, one row an output, got {M.shape}")
    if isinstance(M, Kronecker):
        return Kronecker(f if isinstance(f, int) else _checked(f, name) for f in M.factors)
    if np.abs(M - np.eye(d)).max() <= _IDENTITY_WITHIN:
        return None
    return _checked(M, name)


def _given(operator, space, name):
    """A matrix of the user; on functions of one variable it acts on the atoms."""
    try:
        M = np.asarray(operator, dtype=float)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{name} must be a matrix, a name or an object of hilbertlearn.operators, got {operator!r}"
        ) from error
    if space is None:
        return M
    if len(space.axes) > 1 or space.sizes[-1] > 1:
        raise ValueError(
            "operator: a matrix is for one curve of one variable; for several curves use "
            "operators.PerAxis(matrix, curves=matrix)"
        )
    axis = space.axes[0]
    shape = (axis.n_atoms, axis.n_atoms)
    if M.shape != shape:
        raise ValueError(f"operator must have shape {shape}, one row an atom or a point of the grid, got {M.shape}")
    return axis.lifted(M)


def _checked(M, name):
    return check_symmetric_psd(M, name, "pass a positive semi-definite matrix or an object of hilbertlearn.operators")
