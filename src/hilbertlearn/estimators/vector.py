"""Vector outputs: multi-task, robust and sparse regression."""

from __future__ import annotations

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from .._fitting import store
from ..functions import rows_of_none
from ..metrics import r2_score
from ..spaces import Metric, Vector, read_vectors
from .base import KernelMachine


class OperatorKernelRegressor(MultiOutputMixin, RegressorMixin, KernelMachine):
    """Regression of vectors with the operator-valued kernel ``k(x, z) M``, any loss, and outputs with gaps.

    Minimises ``1/n sum_i loss(y_i - h(x_i)) + alpha/2 ||h||^2`` to a certified duality gap. NaN in y means "not
    observed" for every loss and operator.

    Related tasks (Brouard et al. 2016, section 5.2): ``operator=None`` keeps them independent (model 0),
    ``output_metric=TaskGraph(form="similarity")`` measures errors by their similarities (model 1), and
    ``operator=TaskGraph()`` smooths the function over their graph (model 2). Similarities come from training outputs.

    Parameters
    ----------
    kernel : str, callable, object of ``hilbertlearn.kernels``, Gaussian-process kernel or list
        A name of scikit-learn's ``pairwise_kernels``, a callable ``(X, Z) -> Gram``, ``"precomputed"``, or a list of
        ``(kernel, operator)`` terms that add up.
    gamma : float, "median" or "scale"
        Coefficient of named kernels. "median": the bandwidth is the median distance between samples.
    kernel_params : dict or None
        Further parameters of a named kernel, such as ``degree``.
    operator : (d, d) array, object or name of ``hilbertlearn.operators``, or None
        Positive semi-definite output operator M; None is the identity, ``operators.Learned()`` is found with the
        function.
    output_metric : (d, d) array, object of ``hilbertlearn.operators`` or None
        Inner product of the outputs that the loss is measured by; None is the usual one.
    loss : str or object of ``hilbertlearn.losses``
    alpha : float or "auto"
        Regularisation. "auto": leave-one-out of the squared loss over a logarithmic grid (5 folds with gaps in y or
        sums of terms); losses with a bound then try 1e-4 to 10 times it, by their own loss over 5 folds.
    center : bool
        Fit around the constant that the loss itself likes best: the mean of y for the squared loss, a median for
        losses that grow linearly, in between for Huber's.
    graph : (n, n) weights over all samples, networkx graph, ``kernels.Affinity`` or None for 10 nearest neighbours
    manifold : float
        Weight beta of the penalty ``beta/2 sum_ij L_ij <h(x_i), h(x_j)>`` over all samples, those whose y is NaN too
        (semi-supervised learning); 0 leaves samples without outputs out.
    solver : "auto" for the cheapest that suits the problem, or one of ``hilbertlearn.solvers.NAMES``
    tol : float
        Relative duality gap at which the solver stops.
    max_iter : int
    verbose : int
        1 prints the gap as it falls.

    Attributes
    ----------
    dual_coef_ : (n, d) coefficients: predictions are ``k(x, X) @ dual_coef_ @ operator_ + center_``
    dual_gap_ : relative duality gap of the solution
    solver_, n_iter_ : the solver in use, and its iterations
    alpha_, gamma_, loss_, operator_, center_ : the values used
    support_ : indices of the samples whose coefficients are not zero
    saturated_ : samples (n,), or points (n, d) for p = 1, held at the loss's bound: the candidates for outliers
    outlier_scores_ : residual sizes of samples, or points, relative to their median
    objectives_ : of each round of ``operators.Learned``
    X_fit_ : the samples predictions are made from
    n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> Y = np.hstack([np.sin(6 * X), np.cos(6 * X)])
    >>> Y[::3, 0] = np.nan  # gaps are fine
    >>> model = OperatorKernelRegressor().fit(X, Y)
    >>> bool(model.score(X, Y) > 0.999)
    True
    """

    def __init__(
        self,
        kernel="rbf",
        *,
        gamma="median",
        kernel_params=None,
        operator=None,
        output_metric=None,
        loss="squared",
        alpha="auto",
        center=True,
        graph=None,
        manifold=0.0,
        solver="auto",
        tol=1e-6,
        max_iter=1000,
        verbose=0,
    ):
        store(self, locals())

    def read_outputs(self, y):
        return read_vectors(y)

    def output_space(self, y, sample_weight):
        return Vector(y.ndim == 1) if self.output_metric is None else Metric.of(y, self.output_metric, sample_weight)

    def score(self, X, y, sample_weight=None):
        """Mean R2 over outputs, at the observed entries of y."""
        y = rows_of_none(y)
        if not np.isfinite(np.asarray(y, dtype=float)).any():
            raise ValueError(
                "y has no observed output to score; give at least two samples with one (shuffle the folds)"
            )
        return r2_score(y, self.predict(X), sample_weight)
