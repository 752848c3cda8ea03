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
    """Independent coordinates: the kernel is ``k(x, z) I``.

    References
    ----------
    Micchelli and Pontil (2005). On learning vector-valued functions. Neural Computation 17.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, operators
    >>> X, Y = np.linspace(0, 1, 10)[:, None], np.random.default_rng(0).normal(size=(10, 2))
    >>> both = OperatorKernelRegressor(operator=operators.Identity(), gamma=1.0, alpha=0.1).fit(X, Y)
    >>> one = OperatorKernelRegressor(gamma=1.0, alpha=0.1).fit(X, Y[:, 0])
    >>> np.allclose(both.predict(X)[:, 0], one.predict(X))
    True
    """

    def matrix(self, Y, weights=None, space=None):
        """None, which stands for the identity."""
        return None


class Integral(BaseEstimator):
    """The integral operator ``f -> integral of k(., t) f(t) dt`` of a kernel on the functions' domain.

    Domains are mapped to the unit interval first, so gamma means the same on each. Functions of several variables get
    the product of kernels on each, several curves a sample the same operator each.

    Parameters
    ----------
    kernel : str or callable, default="laplacian"
        "laplacian", "rbf", another name of scikit-learn's ``pairwise_kernels`` or a callable on points (m, 1).
    gamma : float, default=10.0
        Coefficient of the kernel.

    References
    ----------
    Kadri, Duflos, Preux, Canu, Rakotomamonjy and Audiffren (2016). Operator-valued kernels for learning from functional
    response data. Journal of Machine Learning Research 17.

    Lambert, Bouche, Szabó and d'Alché-Buc (2022). Functional output regression with infimal convolution: exploring the
    Huber and epsilon-insensitive losses. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import FunctionalRegressor, operators
    >>> X, t = np.linspace(1, 2, 20)[:, None], np.linspace(0, 1, 30)
    >>> smooth = operators.Integral("laplacian", gamma=10.0)
    >>> model = FunctionalRegressor(operator=smooth, alpha=1e-5).fit(X, np.sin(X * t))
    >>> bool(np.abs(model.predict([[1.5]]) - np.sin(1.5 * t)).max() < 0.01)
    True
    """

    def __init__(self, kernel="laplacian", gamma=10.0):
        self.kernel, self.gamma = kernel, gamma

    def matrix(self, Y, weights=None, space=None):
        """The operator in the coordinates of a space of functions: a Kronecker product over its axes."""
        if space is None:
            raise ValueError("operator=Integral acts on functions of a variable; use FunctionalRegressor")
        self.validate()
        return kronecker([*(axis.integral(self.gram) for axis in space.axes), None], space.sizes)

    def validate(self, name="Integral"):
        """Raise where a setting is out of range; errors begin with the name."""
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
    domain : str, None, operator object or array of shape (m, m), default="auto"
        Operator on each variable's axis: "auto" for the space's own.
    curves : None, operator object or array of shape (p, p), default=None
        Operator between the p curves of outputs (n, m, p), such as ``Covariance()``; None for curves that share
        nothing.

    References
    ----------
    Álvarez, Rosasco and Lawrence (2012). Kernels for vector-valued functions: a review. Foundations and Trends in
    Machine Learning 4.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import FunctionalRegressor, operators
    >>> X, t = np.linspace(1, 2, 20)[:, None], np.linspace(0, 1, 15)
    >>> Y = np.stack([np.sin(X * t), np.sin(X * t) + t], axis=2)  # two curves a sample
    >>> between = operators.PerAxis(curves=operators.Covariance())
    >>> FunctionalRegressor(operator=between, alpha=1e-3).fit(X, Y).predict([[1.5]]).shape
    (1, 15, 2)
    """

    def __init__(self, domain="auto", curves=None):
        self.domain, self.curves = domain, curves

    def matrix(self, Y, weights=None, space=None):
        """The operator for coordinates Y (n, d) in a space of functions: a Kronecker product over axes and curves."""
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

    The levels' is ``exp(-coupling (tau_i - tau_j)^2)``: at coupling 0 quantiles of all levels are the same function up
    to constants, at infinity each is a model of its own.

    Parameters
    ----------
    operator : None, str, operator object or array of shape (d, d)
        Operator on the outputs, as an estimator takes it.
    levels : array of shape (L,)
        Numbers in (0, 1).
    coupling : float, default=1.0
        A number >= 0, or infinity.

    References
    ----------
    Sangnier, Fercoq and d'Alché-Buc (2016). Joint quantile regression in vector-valued RKHSs. NIPS 29.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import operators
    >>> between = operators.BetweenLevels(None, levels=[0.1, 0.5, 0.9], coupling=5.0)
    >>> M = between.matrix(np.zeros((4, 3)))  # one output at three levels
    >>> (M @ np.eye(3)).round(2)
    array([[1.  , 0.45, 0.04],
           [0.45, 1.  , 0.45],
           [0.04, 0.45, 1.  ]])
    """

    def __init__(self, operator, levels, coupling=1.0):
        self.operator, self.levels, self.coupling = operator, levels, coupling

    def matrix(self, Y, weights=None, space=None):
        """The operator (d L, d L) for coordinates Y (n, d L), the L levels of an output beside each other."""
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
    """Related tasks from similarities M between them.

    Parameters
    ----------
    M : array of shape (d, d), default=None
        Non-negative similarities, or None for ``exp(-gamma D_ij)``, D_ij the mean of ``(Y^i - Y^j)^2`` over the
        samples in which both tasks were observed. The paper has the sum: its gamma is this one over the number of
        samples. A mean does not depend on that number, which differs from pair to pair where there are gaps.
    mu : float, default=0.5
        Weight of the graph in [0, 1]; 0 is the identity.
    form : {"laplacian", "similarity"}, default="laplacian"
        "laplacian" for ``(mu L_M + (1 - mu) I)^-1`` (model 2) or "similarity" for ``mu M + (1 - mu) I`` (model 1).
    gamma : float or "median", default="median"
        In units of one over a squared output (of outputs divided by their spread where the estimator's ``scale`` does
        so); "median" for one over the median of D_ij between tasks.

    References
    ----------
    Brouard, Szafranski and d'Alché-Buc (2016). Input output kernel regression. Journal of Machine Learning Research 17,
    section 5.2.

    Evgeniou, Micchelli and Pontil (2005). Learning multiple tasks with kernel methods. Journal of Machine Learning
    Research 6.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, operators
    >>> alike = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])  # the first two tasks are
    >>> X = np.linspace(0, 1, 10)[:, None]
    >>> Y = np.column_stack([X, X, -X])
    >>> Y[5:, 1] = np.nan  # which the second was not observed at
    >>> model = OperatorKernelRegressor(operator=operators.TaskGraph(alike, mu=0.9), alpha=1e-3).fit(X, Y)
    >>> model.predict([[1.0]]).round(1)
    array([[ 1. ,  0.9, -1. ]])
    """

    def __init__(self, M=None, mu=0.5, form="laplacian", gamma="median"):
        self.M, self.mu, self.form, self.gamma = M, mu, form, gamma

    @property
    def from_outputs(self):
        return self.M is None

    def matrix(self, Y, weights=None, space=None):
        """The operator (d, d) for outputs Y (n, d), NaN where not observed, with weights (n,) of the samples."""
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

    Parameters
    ----------
    shrinkage : float, default=0.1
        A number in [0, 1]; 1 leaves outputs that share nothing.

    References
    ----------
    Ledoit and Wolf (2004). A well-conditioned estimator for large-dimensional covariance matrices. Journal of
    Multivariate Analysis 88.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import operators
    >>> Y = np.array([[1.0, 2.0], [-1.0, -2.0], [0.0, 0.0]])
    >>> operators.Covariance(shrinkage=0.1).matrix(Y).round(2)
    array([[0.77, 1.2 ],
           [1.2 , 2.57]])
    """

    from_outputs = True

    def __init__(self, shrinkage=0.1):
        self.shrinkage = shrinkage

    def matrix(self, Y, weights=None, space=None):
        """The operator (d, d) for outputs Y (n, d), NaN where not observed, with weights (n,) of the samples."""
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
    function, S its inner products ``<h_i, h_j>`` between coordinates. The problem is convex in both, the objective
    never increases, and M = I is where it starts.

    Parameters
    ----------
    max_iter : int, default=50
        Rounds at most.
    tol : float, default=5e-3
        What is at most left to gain, relative to the objective, when it stops.

    References
    ----------
    Argyriou, Evgeniou and Pontil (2008). Convex multi-task feature learning. Machine Learning 73.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, operators
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> Y = np.column_stack([X, X, np.cos(9 * X)])  # two outputs are the same
    >>> model = OperatorKernelRegressor(gamma=1.0, alpha=1e-3, operator=operators.Learned()).fit(X, Y)
    >>> model.operator_.round(1)
    array([[ 0.2,  0.2, -0.2],
           [ 0.2,  0.2, -0.2],
           [-0.2, -0.2,  2.5]])
    """

    from_outputs = True

    def __init__(self, max_iter=50, tol=5e-3):
        self.max_iter, self.tol = max_iter, tol

    def matrix(self, Y, weights=None, space=None):
        """None, the identity: where the search starts."""
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

    Parameters
    ----------
    rate : float, default=2.0
        A number >= 0; 0 is the identity.

    References
    ----------
    Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
    application to robust losses. ICML, function to function regression.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import operators
    >>> operators.Decay(rate=2.0).matrix(np.zeros((1, 3))).diagonal().round(2)
    array([1.  , 0.25, 0.11])
    """

    def __init__(self, rate=2.0):
        self.rate = rate

    def matrix(self, Y, weights=None, space=None):
        """The operator (d, d) for outputs Y (n, d); in a space of functions it acts on the atoms of each axis."""
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
    """Similarities of tasks, ``exp(-gamma D_ij)``, D_ij the mean of ``(Y^i - Y^j)^2`` over samples that observe both.

    Parameters
    ----------
    Y : array of shape (n, d)
        Outputs of d tasks, NaN where not observed.
    gamma : float or "median", default="median"
        "median" for one over the median of D_ij between tasks.
    weights : array of shape (n,), default=None
        Weights of the samples.

    Returns
    -------
    similarity : array of shape (d, d)
        Numbers in [0, 1]; 0 for tasks that were never seen together.

    References
    ----------
    Brouard, Szafranski and d'Alché-Buc (2016). Input output kernel regression. Journal of Machine Learning Research 17,
    section 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import operators
    >>> Y = np.array([[0.0, 0.1, 3.0], [1.0, 1.1, np.nan], [2.0, 1.9, 0.0]])
    >>> operators.task_similarity(Y, gamma=0.1).round(2)
    array([[1.  , 1.  , 0.52],
           [1.  , 1.  , 0.55],
           [0.52, 0.55, 1.  ]])
    """
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
