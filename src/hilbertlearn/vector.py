"""Vector outputs: multi-task, robust and sparse regression."""

from __future__ import annotations

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from ._utils.fitting import store
from ._utils.validation import check_choice
from .kernels import provides_operator
from .losses import as_loss
from .machine.fitted import drop_unpredicted
from .machine.partial_fit import BatchMachine
from .metrics import r2_score
from .operators import depends_on_outputs
from .spaces import MetricVectorSpace, VectorSpace, output_scales, read_vectors


class OperatorKernelRegressor(MultiOutputMixin, RegressorMixin, BatchMachine):
    """Regression of vectors with the operator-valued kernel ``k(x, z) M``, any loss, and outputs with gaps.

    Minimises ``1/n sum_i loss(y_i - h(x_i)) + alpha/2 ||h||^2`` to a certified duality gap. NaN in y means "not
    observed" for every loss and operator. A data frame or series y, of pandas or polars, comes back from ``predict``
    with its names, and with the index of X where that is pandas'.

    An output that no sample observes is predicted as NaN, and ``fit`` warns of it: an operator relates deviations from
    constants, and nothing tells this constant. With ``center=False`` there is none, and the output is predicted around
    0. ``score`` leaves outputs without predictions out, and conformal sets have no bounds for them.

    Related tasks (Brouard et al. 2016, section 5.2): ``operator=None`` keeps them independent (model 0),
    ``output_metric=TaskGraph(form="similarity")`` measures errors by their similarities (model 1), and
    ``operator=TaskGraph()`` smooths the function over their graph (model 2). Similarities come from training outputs.

    Parameters
    ----------
    kernel : str, callable, object of ``hilbertlearn.kernels``, Gaussian-process kernel or list
        A name of scikit-learn's ``pairwise_kernels``, "matern12", "matern32" (or "matern") or "matern52", a callable
        ``(X, Z) -> Gram``, ``"precomputed"``, or a list of ``(kernel, operator)`` terms that add up. "auto" is the best
        of "rbf", "matern32", "matern12", "laplacian" and "linear", chosen as gamma is; ``kernels.KernelSearch`` takes
        other lists.
    gamma : float, "auto", "median" or "scale"
        Coefficient of named kernels. "auto": chosen with alpha, from 2^-11 to 2^9 times the median rule's, by
        leave-one-out errors of the squared loss (of 500 samples, then of up to 2000 around the best). "median": the
        bandwidth is the median distance between samples. Kernel objects have a setting of their own.
    kernel_params : dict or None
        Further parameters of a named kernel, such as ``degree``.
    operator : (d, d) array, object or name of ``hilbertlearn.operators``, or None
        Positive semi-definite output operator M; None is the identity, ``operators.LearnedOperator()`` is found with
        the function.
    output_metric : (d, d) array, object of ``hilbertlearn.operators`` or None
        Inner product of the outputs that the loss is measured by; None is the usual one.
    loss : str or object of ``hilbertlearn.losses``
    alpha : float, "auto", "n^-1/2" or "n^-1/4"
        Regularisation. "auto": the best over a logarithmic grid by leave-one-out errors of the squared loss, each
        output as its share of the variance; for losses with a bound by their own value, under weights that hold large
        residuals back. Of more than 2000 samples 1500 are looked at, and alpha n stays. Where leaving out has no
        formula (operators in a sum, gaps with an operator) by 5 folds around what comes out without these. The last two
        are the schedules of Ciliberto et al. 2016, theorems 5 and 4, n the number of samples that have an output and a
        positive weight.
    alpha_per_output : bool
        alpha="auto" then gives each output an alpha of its own, from the same factorisation; for the squared loss and
        ``operator=None``. A number or a schedule is for all outputs.
        ``operator_`` becomes the diagonal matrix of ``min(alpha_) / alpha_``.
    center : bool
        Fit around the constant that the loss itself likes best: the mean of y for the squared loss, a median for
        losses that grow linearly, in between for Huber's. Linear and polynomial kernels then see centred inputs.
    scale : bool or "auto"
        Divide each output by its standard deviation (mean absolute deviation, for losses that are not squared), and
        multiply predictions by it. Numbers in the loss, the operator and ``dual_coef_`` are then those of scaled
        outputs. "auto": where something of several outputs is learnt together, an operator or metric made of them, or
        constants of the loss. Without an operator the squared loss has the same model either way.
    graph : (n, n) weights over all samples, networkx graph, ``kernels.Affinity`` or None for 10 nearest neighbours
        Or an object with ``penalty(K)``, which returns the PSD matrix (n, n) of the penalty for a Gram matrix K (n, n).
    manifold : float
        Weight beta of the penalty ``beta/2 sum_ij L_ij <h(x_i), h(x_j)>`` over all samples, those whose y is NaN too
        (semi-supervised learning); 0 leaves samples without outputs out.
    feature_map : "auto", None, int, object of ``hilbertlearn.features``, or transformer of scikit-learn
        Features Z in place of the kernel matrix: ``K = Z Z'`` is never formed, so that memory and time grow with the
        number of samples and not with its square and cube. None: exact. A number of landmarks, or
        ``features.Landmarks``: Nyström features of the kernel, whatever it is. ``features.RandomFeatures``: of Gaussian
        and Matérn kernels. A transformer (``Nystroem``, ``RBFSampler``, a pipeline): its features are the kernel.
        "auto": exact up to 5000 samples; beyond that 250 landmarks, then twice as many as long as the held-out error
        falls by 1 %, up to 4000 and what a minute and a fifth of memory allow. ``summary()`` says what was done.
    solver : "auto" for the cheapest that suits the problem, or one of ``hilbertlearn.core.solvers.NAMES``
    tol : float
        Relative duality gap at which the solver stops.
    max_iter : int
    precision : "auto", "float32", "float64" or "refined"
        What the Gram matrix, its factors and the solver work in. "auto": float32 where X is, else float64; float64
        too where alpha is so small that rounding would show (below 3e-6 times the mean of k(x, x) and the operator's
        norm for the squared loss, 1e-5 for others), or has been chosen with a factorisation that serves the fit.
        "float32": whatever X and alpha are. "refined": factors in float32, solutions refined in float64 to what
        float64 reaches. Losses, sums and the gap are float64 in all of them. Predictions and learnt attributes are
        float32 with the first two where X is; X of ``predict`` is read in the precision of the fit. A sum of terms with
        operators, learnt operators, irregular functions, graphs, the hinge and Ball work in float64 in any case.
    verbose : int
        1 shows on standard error what is tried, the gap as it falls, and about how much time is left: bars where it
        is a terminal and rich is installed, else text. scikit-learn's callbacks (``set_callbacks``, from its version
        1.9 on) are told the same.

    Attributes
    ----------
    feature_map_ : the fitted map in place of the kernel, ``feature_map_(X)`` are features; None for exact models
    dual_coef_ : (n, d) coefficients: predictions are ``k(x, X) @ dual_coef_ @ operator_ + center_``
    dual_gap_ : relative duality gap of the solution
    manifold_error_ : bound on the relative error of kernels under a graph's penalty, 0 unless the operator has
        more different eigenvalues than memory holds kernels, so that some share one
    solver_, n_iter_ : the solver in use, and its iterations
    precision_ : "float32", "float64" or "refined", what the fit was made in
    alpha_, gamma_, kernel_, loss_, operator_, center_, scale_ : the values used
    search_results_ : dict of arrays, an entry for each evaluated setting: kernel, gamma, alpha, error (squared errors,
        or twice the loss), standard_error, seconds, n_samples, and method, "leave-one-out" or "folds", whose errors
        are not to be compared with each other
    support_ : indices of the samples whose coefficients are not zero
    saturated_ : samples (n,), or points (n, d) for p = 1, held at the loss's bound: the candidates for outliers
    screened_ : indices of the samples that losses with "auto" found plainly wrong, and gave next to no weight
    outlier_scores_ : residual sizes of samples, or points, relative to their median
    objectives_ : of each round of ``operators.LearnedOperator``
    metric_ : (n_features, n_features) of ``kernels.Metric``, the importance of inputs on its diagonal
    space_ : the space of the outputs
    X_fit_ : the samples predictions are made from
    machine_ : what wrappers use of a fitted estimator: coordinates, residuals, leave-one-out models
    n_features_in_, feature_names_in_ : as in scikit-learn

    References
    ----------
    - Laforgue, P., Lambert, A., Brogat-Motte, L. and d'Alche-Buc, F. (2020). Duality in RKHSs with infinite dimensional
      outputs: application to robust losses. ICML.
    - Brouard, C., Szafranski, M. and d'Alche-Buc, F. (2016). Input output kernel regression: supervised and
      semi-supervised structured output prediction with operator-valued kernels. JMLR 17(176).

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
        kernel="auto",
        *,
        gamma="auto",
        kernel_params=None,
        operator=None,
        output_metric=None,
        loss="squared",
        alpha="auto",
        alpha_per_output=False,
        center=True,
        scale="auto",
        graph=None,
        manifold=0.0,
        feature_map="auto",
        solver="auto",
        tol=1e-6,
        max_iter=1000,
        precision="auto",
        verbose=0,
    ):
        store(self, locals())

    @property
    def scale_(self):
        """What outputs were divided by (d,)."""
        scale = self.space_.scale
        return np.ones(len(self.center_)) if scale is None else scale

    def read_outputs(self, y):
        return read_vectors(y)

    def output_space(self, y, sample_weight):
        scale, one = self._spread(y, sample_weight), y.ndim == 1
        if self.output_metric is None:
            return VectorSpace(one, scale)
        return MetricVectorSpace.from_outputs(y, self.output_metric, sample_weight, scale)

    def _spread(self, y, sample_weight):
        """What outputs are divided by (d,), None for nothing."""
        rows = y[:, None] if y.ndim == 1 else y
        check_choice(self.scale, "scale", ("auto", True, False))
        loss, scaled = as_loss(self.loss), self.scale
        if scaled == "auto":
            pairs = self.kernel if isinstance(self.kernel, (list, tuple)) else [(self.kernel, self.operator)]
            own = any(provides_operator(kernel) or operator is not None for kernel, operator in pairs)
            made = any(depends_on_outputs(operator) for operator in (self.output_metric, *(pair[1] for pair in pairs)))
            # what an operator says of the outputs is in their units, unless it is made of them
            scaled = rows.shape[1] > 1 and not loss.on_margins and (made or (loss.needs_residuals and not own))
        return output_scales(rows, sample_weight, robust=not loss.quadratic) if scaled else None

    def score(self, X, y, sample_weight=None):
        """Mean R2 over outputs, at the observed entries of y."""
        predicted = np.asarray(self.predict(X))
        self.machine_.form.check_order(y)
        known = ~np.isnan(predicted).any(axis=0)
        if not known.all() and np.shape(y) == predicted.shape:
            y = drop_unpredicted(read_vectors(y), ~known)[:, known]
            predicted = predicted[:, known]
        if np.isnan(read_vectors(y)).all():
            raise ValueError(
                "y has no observed output to score; give at least two samples with one (shuffle the folds)"
            )
        return r2_score(y, predicted, sample_weight)
