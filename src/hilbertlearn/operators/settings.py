"""Single operators: of functions, of related tasks, of the outputs' covariance, learnt, and of falling weights."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from sklearn.base import BaseEstimator

from .. import kernels
from .._utils.linalg import kronecker, psd_root, spectrum
from .._utils.statistics import covariance
from .._utils.validation import check_choice, check_number
from ..data.graphs import laplacian


class Identity(BaseEstimator):
    """Independent coordinates: the kernel is ``k(x, z) I``.

    References
    ----------
    - Micchelli and Pontil (2005). On learning vector-valued functions. Neural Computation 17.

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
    - Kadri, Duflos, Preux, Canu, Rakotomamonjy and Audiffren (2016). Operator-valued kernels for learning from
      functional response data. Journal of Machine Learning Research 17.
    - Lambert, Bouche, Szabó and d'Alché-Buc (2022). Functional output regression with infimal convolution: exploring
      the Huber and epsilon-insensitive losses. ICML.

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
    - Brouard, Szafranski and d'Alché-Buc (2016). Input output kernel regression. Journal of Machine Learning Research
      17, section 5.2.
    - Evgeniou, Micchelli and Pontil (2005). Learning multiple tasks with kernel methods. Journal of Machine Learning
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
    def depends_on_outputs(self):
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
    - Ledoit and Wolf (2004). A well-conditioned estimator for large-dimensional covariance matrices. Journal of
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

    depends_on_outputs = True

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


class LearnedOperator(BaseEstimator):
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
    - Argyriou, Evgeniou and Pontil (2008). Convex multi-task feature learning. Machine Learning 73.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, operators
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> Y = np.column_stack([X, X, np.cos(9 * X)])  # two outputs are the same
    >>> model = OperatorKernelRegressor(gamma=1.0, alpha=1e-3, operator=operators.LearnedOperator()).fit(X, Y)
    >>> model.operator_.round(1)
    array([[ 0.2,  0.2, -0.2],
           [ 0.2,  0.2, -0.2],
           [-0.2, -0.2,  2.5]])
    """

    depends_on_outputs = True

    def __init__(self, max_iter=50, tol=5e-3):
        self.max_iter, self.tol = max_iter, tol

    def matrix(self, Y, weights=None, space=None):
        """None, the identity: where the search starts."""
        check_number(self.max_iter, "LearnedOperator: max_iter", integer=True)
        check_number(self.tol, "LearnedOperator: tol", strict=False)
        return None  # the start

    @staticmethod
    def optimal_matrix(S):
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
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
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
        return kronecker(
            [*(axis.operator_from_atoms(self._diagonal(axis.n_atoms)) for axis in space.axes), None], space.sizes
        )

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
    - Brouard, Szafranski and d'Alché-Buc (2016). Input output kernel regression. Journal of Machine Learning Research
      17, section 5.2.

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
