"""Output operators: identity, integral, task graph, covariance, learnt operator, decay."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .. import kernels
from .._utils.linalg import kronecker, psd_root, spectrum
from .._utils.statistics import covariance
from .._utils.validation import check_choice, check_number
from ..data.graphs import laplacian
from .base import OutputOperator


class Identity(OutputOperator):
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
        return None


class Integral(OutputOperator):
    """Integral operator ``f -> integral of k(., t) f(t) dt`` of a kernel on the domain of functions.

    Domains are mapped to the unit interval, so that gamma has the same meaning for all. Functions of several variables
    have a product of kernels, one for each variable. All curves of a sample have the same operator.

    Parameters
    ----------
    kernel : str or callable, default="laplacian"
        "laplacian", "rbf", another name of scikit-learn's ``pairwise_kernels`` or a callable on points (m, 1).
    gamma : float, default=10.0
        Rate of the kernel on the unit interval.

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
        if space is None:
            raise ValueError("operator=Integral acts on functions of a variable; use FunctionalRegressor")
        self.validate()
        return kronecker([*(axis.integral(self.gram) for axis in space.axes), None], space.sizes)

    def validate(self, name="Integral"):
        """Raise an error if a setting is out of range.

        Parameters
        ----------
        name : str, default="Integral"
            First word of the message.
        """
        try:
            kernels.check_kernel(self.kernel)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name}: {error}") from error
        if kernels.is_precomputed(self.kernel):
            raise ValueError(f"{name}: kernel='precomputed' has no values between points; give a name or a callable")
        check_number(self.gamma, f"{name}: gamma")

    def gram(self, points, others):
        """Compute kernel values between points of the unit interval.

        Parameters
        ----------
        points : array of shape (m,)
            Points.
        others : array of shape (p,)
            Points.

        Returns
        -------
        K : array of shape (m, p)
            Kernel values.
        """
        if not (len(points) and len(others)):
            return np.zeros((len(points), len(others)))
        return kernels.gram(self.kernel, points[:, None], others[:, None], gamma=self.gamma)


class TaskGraph(OutputOperator):
    """Operator of related tasks, from similarities between the tasks.

    Parameters
    ----------
    M : array of shape (d, d), default=None
        Non-negative similarities. None for ``exp(-gamma D_ij)``, where D_ij is the mean of ``(Y^i - Y^j)^2`` over the
        samples in which both tasks were observed. The paper uses the sum: its gamma is this gamma divided by the number
        of samples, which differs between pairs if there are gaps.
    mu : float, default=0.5
        Weight of the graph in [0, 1]; 0 is the identity.
    form : {"laplacian", "similarity"}, default="laplacian"
        "laplacian" for ``(mu L_M + (1 - mu) I)^-1`` (model 2) or "similarity" for ``mu M + (1 - mu) I`` (model 1).
    gamma : float or "median", default="median"
        Rate, in units of one over a squared output (after the estimator's ``scale``). "median" for 1 / median of D_ij
        between tasks.

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
    >>> alike = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])  # the first two tasks
    >>> X = np.linspace(0, 1, 10)[:, None]
    >>> Y = np.column_stack([X, X, -X])
    >>> Y[5:, 1] = np.nan  # the second task has missing values
    >>> model = OperatorKernelRegressor(operator=operators.TaskGraph(alike, mu=0.9), alpha=1e-3).fit(X, Y)
    >>> model.predict([[1.0]]).round(1)
    array([[ 1. ,  0.9, -1. ]])
    """

    def __init__(self, M=None, mu=0.5, form="laplacian", gamma="median"):
        self.M, self.mu, self.form, self.gamma = M, mu, form, gamma

    @property
    def depends_on_outputs(self):  # type: ignore[override]
        """Whether the similarities are computed from the outputs."""
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
            if self.M is None and not np.isfinite(Y).all():  # distances over different samples may be indefinite
                similarity = _psd_part(similarity)
            return self.mu * similarity + (1 - self.mu) * np.eye(d)
        return scipy.linalg.inv(self.mu * laplacian(similarity) + (1 - self.mu) * np.eye(d))


class Covariance(OutputOperator):
    """Covariance of the training outputs, shrunk towards a multiple of the identity with the same trace.

    Each entry is computed from the samples in which both outputs were observed; negative eigenvalues are set to zero.

    Parameters
    ----------
    shrinkage : float, default=0.1
        Weight of the identity, in [0, 1]; at 1 the outputs are independent.

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
        check_number(self.shrinkage, "Covariance: shrinkage", strict=False)
        if self.shrinkage > 1:
            raise ValueError(f"Covariance: shrinkage must be at most 1, got {self.shrinkage!r}")
        S = covariance(Y, np.ones(len(Y)) if weights is None else weights)
        if not np.isfinite(Y).all():
            S = _psd_part(S)
        mean = np.trace(S) / len(S)
        return (1 - self.shrinkage) * S + self.shrinkage * (mean if mean > 0 else 1.0) * np.eye(len(S))


class LearnedOperator(OutputOperator):
    """Operator that minimises the objective jointly with the function, among positive semi-definite ones of trace d.

    The minimisation alternates between the function for a given operator and the operator ``d S^1/2 / tr S^1/2`` for
    the function, where S holds the inner products ``<h_i, h_j>`` of its coordinates. The problem is jointly convex, the
    objective never increases, and the start is M = I.

    Parameters
    ----------
    max_iter : int, default=50
        Largest number of alternations.
    tol : float, default=5e-3
        Bound on the remaining gain, relative to the objective, at which the alternation stops.

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
        check_number(self.max_iter, "LearnedOperator: max_iter", integer=True)
        check_number(self.tol, "LearnedOperator: tol", strict=False)
        return None

    @staticmethod
    def optimal_matrix(S):
        """Compute the operator that minimises the penalty of a function.

        Parameters
        ----------
        S : array of shape (d, d)
            Inner products of the coordinates of the function.

        Returns
        -------
        M : array of shape (d, d) or None
            ``d S^1/2 / tr S^1/2``; None if S is zero.
        """
        root = psd_root(S)
        total = np.trace(root)
        return len(S) / total * root if total > 0 else None


class Decay(OutputOperator):
    """Diagonal operator with entries ``1 / (1 + j)^rate``, j = 0, 1, ..., which penalises later coordinates more.

    In a dictionary, j is the index of an atom on its axis.

    Parameters
    ----------
    rate : float, default=2.0
        Rate of the decay, a number >= 0; 0 is the identity.

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
        check_number(self.rate, "Decay: rate", strict=False)
        if space is None:
            return self._diagonal(Y.shape[1])
        return kronecker(
            [*(axis.operator_from_atoms(self._diagonal(axis.n_atoms)) for axis in space.axes), None], space.sizes
        )

    def _diagonal(self, size):
        """The diagonal matrix (size, size)."""
        return np.diag((1.0 + np.arange(size)) ** -self.rate)


def _psd_part(S):
    """The symmetric matrix S (d, d) with negative eigenvalues set to zero."""
    values, vectors = spectrum(S, rounding=0.0)
    return (vectors * values) @ vectors.T


def task_similarity(Y, gamma="median", weights=None):
    """Compute similarities of tasks, ``exp(-gamma D_ij)``.

    D_ij is the mean of ``(Y^i - Y^j)^2`` over samples in which both tasks are observed.

    Parameters
    ----------
    Y : array of shape (n, d)
        Outputs of d tasks, NaN where not observed.
    gamma : float or "median", default="median"
        "median" for 1 / median of D_ij between tasks.
    weights : array of shape (n,), default=None
        Weights of the samples; None for ones.

    Returns
    -------
    similarity : array of shape (d, d)
        Numbers in [0, 1]; 0 for tasks without a common sample.

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
        positive = distances[distances > 0]  # each pair of tasks twice
        gamma = 1.0 / np.median(positive) if len(positive) else 1.0
    similarity = np.exp(-gamma * distances)
    similarity[counts == 0] = 0.0  # no common sample: no edge
    return similarity
