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
from .machine.spec import Spec
from .metrics import r2_score
from .operators import Covariance, depends_on_outputs
from .spaces import MetricVectorSpace, VectorSpace, output_scales, read_vectors


class OperatorKernelRegressor(MultiOutputMixin, RegressorMixin, BatchMachine):
    """Regression of vectors with the operator-valued kernel ``k(x, z) M``, any loss, and missing outputs.

    Minimises ``1/n sum_i loss(y_i - c - h(x_i)) + alpha/2 ||h||^2`` to a certified duality gap. NaN in y means "not
    observed", for every loss and operator. A data frame or series y, of pandas or polars, comes back from ``predict``
    with its names, and with the index of X where X is a data frame of pandas.

    An output that no sample observes is predicted as NaN, and ``fit`` warns of it. With ``center=False`` it is
    predicted around 0. ``score`` leaves outputs without predictions out, and their conformal intervals are infinite.

    Related tasks (Brouard et al. 2016, section 5.2): ``operator=None`` keeps them independent (model 0),
    ``output_metric=TaskGraph(form="similarity")`` measures errors by their similarities (model 1), and
    ``operator=TaskGraph()`` smooths the function over their graph (model 2). Similarities are computed from training
    outputs.

    Parameters
    ----------
    kernel : str, callable, kernel object or list, default="auto"
        Kernel of the inputs: a name of scikit-learn's ``pairwise_kernels``, "matern12", "matern32" (or "matern"),
        "matern52", an object of ``hilbertlearn.kernels``, a Gaussian-process kernel of scikit-learn, a callable
        ``(X, Z) -> Gram``, "precomputed", or a list of ``(kernel, operator)`` terms that add up. "auto" selects among
        "rbf", "matern32", "matern12", "laplacian" and "linear", together with gamma; ``kernels.KernelSearch`` selects
        among other kernels. Kernels that the samples cannot tell from the best are averaged, which concerns fewer than
        about a thousand samples: ``kernel_`` is then a ``kernels.AverageKernel``. From 400 samples on, for rows of
        numbers, a metric of the inputs is learnt where it lowers the error of samples outside the fit by 2 %:
        ``kernel_`` is then a ``kernels.MetricKernel``, and ``metric_`` shows which inputs matter.
    gamma : float, "auto", "median" or "scale", default="auto"
        Rate of a named kernel. "auto" selects it together with alpha, between 2^-11 and 2^9 times the median rule, by
        leave-one-out errors of the squared loss: up to 200 samples as an average over a fixed grid; with more than 600
        samples, subsamples of 400 and 1000 narrow the search. "median": the bandwidth is the median distance between
        samples. Kernel objects have their own setting.
    kernel_params : dict, default=None
        Further parameters of a named kernel, such as ``degree``.
    operator : "auto", array of shape (d, d), object or name of ``hilbertlearn.operators``, default="auto"
        Positive semi-definite output operator M. None is the identity; ``operators.LearnedOperator()`` is learnt with
        the function. "auto" is the identity, or the covariance of the outputs where its cross-validated error is
        smaller by 3 %. They are compared where kernel, gamma and alpha are selected too, for 2 to 30 outputs, at most a
        quarter of the number of samples. For losses in the units of the outputs, which have given constants or none
        (other than the squared loss), they are compared if ``scale`` is True or False.
    output_metric : array of shape (d, d) or object of ``hilbertlearn.operators``, default=None
        Inner product in which the loss measures residuals. None is the Euclidean one.
    loss : str or object of ``hilbertlearn.losses``, default="squared"
        Loss of the residuals.
    alpha : float, "auto", "n^-1/2" or "n^-1/4", default="auto"
        Regularisation. "auto" is a mean over a logarithmic grid, with weights by leave-one-out errors of the squared
        loss, each output relative to its variance; with many samples it is the minimum of the error. For losses with a
        bound the error is their own, under weights that limit large residuals. With more than 2000 samples a subsample
        of 1500 selects alpha n. Five folds select alpha where leave-one-out errors have no closed form (sums of terms
        with operators, missing outputs with an operator; for the selection, curves with at most a quarter of their
        values missing are interpolated instead). The other two names are the schedules of Ciliberto et al. 2016,
        theorems 5 and 4; n counts samples with an output and a positive weight.
    alpha_per_output : bool, default=False
        Whether ``alpha="auto"`` selects an alpha for each output, from the same factorisation. For the squared loss
        and ``operator=None``; ``operator_`` is then the diagonal matrix of ``min(alpha_) / alpha_``.
    center : bool, default=True
        Whether the model has a constant: the one of smallest loss, which is the mean of y for the squared loss and a
        median for losses that grow linearly. Linear and polynomial kernels then have centred inputs.
    scale : bool or "auto", default="auto"
        Whether each output is divided by its standard deviation (mean absolute deviation for other losses than the
        squared one). Numbers in the loss, the operator and ``dual_coef_`` are then those of scaled outputs. "auto"
        scales several outputs where an operator, a metric or constants of the loss are computed from them. Without an
        operator, the model of the squared loss does not depend on it.
    scale_inputs : bool or "auto", default="auto"
        Whether columns of X are divided by their standard deviations. Dense X is then clipped to one range beyond the
        training range on either side, and constant columns take no part, except in ``novelty``. This is for kernels
        given by name; True is an error for kernel objects and callables. "auto" is False where the rate of the kernel
        is not selected, for sparse X, and with a graph. Elsewhere it is True if the standard deviations differ by a
        factor of at most 1.5; otherwise leave-one-out errors compare scaled X, which is preferred if they are equal,
        with X as given, and the model of few samples is an average over both.
    graph : array of shape (n, n), networkx graph, ``kernels.Affinity`` or object with ``penalty(K)``, default=None
        Similarities of all samples, for ``manifold > 0``. None is the graph of 10 nearest neighbours. ``penalty(K)``
        returns the positive semi-definite penalty matrix (n, n) for a Gram matrix K.
    manifold : float, default=0.0
        Weight beta of the penalty ``beta/2 sum_ij L_ij <h(x_i), h(x_j)>`` over all samples, also those whose y is NaN
        (semi-supervised learning). With 0, samples without outputs are left out.
    feature_map : "auto", None, int, object of ``hilbertlearn.features`` or transformer of scikit-learn, default="auto"
        Features Z that replace the kernel matrix, ``K = Z Z'``: time and memory are then linear in the number of
        samples. None is the exact kernel. An int is a number of landmarks (Nyström features), as in
        ``features.Landmarks``; ``features.RandomFeatures`` is for Gaussian and Matérn kernels; the features of a
        transformer (``Nystroem``, ``RBFSampler``, pipeline) are the kernel. "auto" is exact up to 5000 samples; beyond
        that it doubles 1000 landmarks while the cross-validated error falls by 0.5 %, up to 4000 and within half a
        minute and a fifth of the memory; ``summary()`` says the result.
    solver : str, default="auto"
        One of ``hilbertlearn.core.solvers.NAMES``; "auto" is the cheapest that suits the problem.
    tol : float, default=1e-6
        Relative duality gap at which the solver stops.
    max_iter : int, default=1000
        Iterations after which the solver stops, with a warning.
    precision : "auto", "float32", "float64" or "refined", default="auto"
        Precision of the Gram matrix, its factors and the solver. "auto" is float32 for X in float32 and float64
        otherwise; also float64 where alpha is so small that rounding would matter (below 3e-6 times the mean of k(x, x)
        and the operator's norm for the squared loss, 1e-5 for others), or where the selection of alpha has computed
        factors in float64. "refined" computes factors in float32 and refines solutions in float64. Losses, sums and
        the gap are always float64. Predictions and learnt attributes are float32 for X in float32 with the first two.
        Sums of terms with operators, learnt operators, irregular functions, graphs, the hinge and ``Ball`` always use
        float64.
    verbose : int, default=0
        1 shows progress on standard error: settings tried, the gap, the remaining time. scikit-learn's callbacks
        (``set_callbacks``, from version 1.9) receive the same.

    Attributes
    ----------
    dual_coef_ : array of shape (n, d)
        Coefficients: predictions are ``k(x, X) @ dual_coef_ @ operator_ + center_``.
    dual_gap_ : float
        Relative duality gap of the solution.
    alpha_, loss_, operator_, center_, scale_
        The values used.
    kernel_ : str, object or list
        The kernel used, for few samples often a ``kernels.AverageKernel``; a list with that of each term.
    gamma_ : float, list or None
        The rate of the kernel, of scaled X where X is scaled. A list with the rate of each kernel of an average, or of
        each term; give ``kernel=model.kernel_`` to use an average again.
    search_results_ : dict of arrays
        One entry for each setting that was tried: kernel, gamma, alpha, error (squared errors, or twice the loss),
        standard_error, seconds, n_samples and method, "leave-one-out" or "folds". Errors of different methods are not
        comparable.
    support_ : array of int
        Indices of the samples with nonzero coefficients.
    saturated_ : array of bool of shape (n,), or (n, d) for p = 1
        Samples, or points, at the bound of the loss: candidates for outliers.
    screened_ : array of int
        Indices of the samples that outlier screening gave less than half of their weight, for losses with "auto"
        constants.
    screening_weights_ : array of shape (n,)
        Factors of the sample weights from outlier screening: 1 for regular samples, 1e-6 for gross outliers.
    outlier_scores_ : array of shape (n,) or (n, d)
        Sizes of residuals relative to their median.
    solver_, n_iter_, precision_
        The solver, its iterations, and the precision of the fit.
    feature_map_ : object or None
        The fitted feature map, ``feature_map_(X)`` are features; None for exact models.
    manifold_error_ : float
        Bound on the relative error of kernels under a graph's penalty. 0 unless the operator has more eigenvalues than
        memory holds kernels, so that some share one.
    objectives_ : array
        Objective of each round of ``operators.LearnedOperator``.
    metric_ : array of shape (n_features, n_features)
        Metric of ``kernels.MetricKernel``; its diagonal is the importance of the inputs.
    space_ : Space
        The space of the outputs.
    X_fit_ : array
        The samples of the kernel expansion.
    machine_ : FittedMachine
        What wrappers use: coordinates, residuals, leave-one-out models.
    n_features_in_, feature_names_in_
        As in scikit-learn.

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
        operator="auto",
        output_metric=None,
        loss="squared",
        alpha="auto",
        alpha_per_output=False,
        center=True,
        scale="auto",
        scale_inputs="auto",
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
        """Numbers (d,) that outputs were divided by."""
        scale = self.space_.scale
        return np.ones(len(self.center_)) if scale is None else scale

    def spec(self, y=None):
        operator = None if self._has_automatic_operator else self.operator
        operators = (None, Covariance()) if self._selects_operator else ()
        return Spec.from_estimator(self, takes_batches=True, operator=operator, operators=operators)

    @property
    def _has_automatic_operator(self) -> bool:
        return isinstance(self.operator, str) and self.operator == "auto"

    @property
    def _selects_operator(self) -> bool:
        """Whether the settings let the errors select the operator."""
        settings = (self.operator, self.kernel, self.gamma, self.alpha)
        is_auto = all(isinstance(setting, str) and setting == "auto" for setting in settings)
        is_plain = self.output_metric is None and not self.alpha_per_output and not self.manifold
        loss = as_loss(self.loss)
        # the covariance needs scaled outputs, but constants that are given, and norms, are in the units of the outputs
        can_scale = loss.quadratic or loss.needs_residuals or self.scale != "auto"
        return is_auto and is_plain and can_scale and not loss.on_margins

    def read_outputs(self, y):
        return read_vectors(y)

    def output_space(self, y, sample_weight):
        scale = self._output_scale(y, sample_weight)
        if self.output_metric is None:
            return VectorSpace(y.ndim == 1, scale)
        return MetricVectorSpace.from_outputs(y, self.output_metric, sample_weight, scale)

    def _output_scale(self, y, sample_weight):
        """Numbers (d,) that outputs are divided by; None where they are not scaled."""
        rows = y[:, None] if y.ndim == 1 else y
        check_choice(self.scale, "scale", ("auto", True, False))
        loss, is_scaled = as_loss(self.loss), self.scale
        if is_scaled == "auto":
            operator = None if self._has_automatic_operator else self.operator
            pairs = self.kernel if isinstance(self.kernel, (list, tuple)) else [(self.kernel, operator)]
            has_operator = any(provides_operator(kernel) or operator is not None for kernel, operator in pairs)
            is_computed = any(map(depends_on_outputs, [self.output_metric, *(operator for _, operator in pairs)]))
            # a given operator is in the units of the outputs, one that is computed from them is not
            is_computed = is_computed or self._selects_operator
            depends_on_scale = is_computed or (loss.needs_residuals and not has_operator)
            is_scaled = rows.shape[1] > 1 and not loss.on_margins and depends_on_scale
        return output_scales(rows, sample_weight, robust=not loss.quadratic) if is_scaled else None

    def score(self, X, y, sample_weight=None):
        """Mean R2 over outputs, at the observed entries of y.

        Parameters
        ----------
        X : array-like of shape (m, n_features), or other inputs of the kernel
            Inputs.
        y : array-like of shape (m,) or (m, d)
            Outputs, NaN where not observed.
        sample_weight : array-like of shape (m,), default=None
            Weights of the samples; None is 1 for all.

        Returns
        -------
        score : float
        """
        predicted = np.asarray(self.predict(X))
        self.machine_.form.check_order(y)
        is_predicted = ~np.isnan(predicted).any(axis=0)
        if not is_predicted.all() and np.shape(y) == predicted.shape:
            y = drop_unpredicted(read_vectors(y), ~is_predicted)[:, is_predicted]
            predicted = predicted[:, is_predicted]
        if np.isnan(read_vectors(y)).all():
            raise ValueError(
                "y has no observed output to score; give at least two samples with one (shuffle the folds)"
            )
        return r2_score(y, predicted, sample_weight)
