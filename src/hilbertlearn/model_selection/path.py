"""Selection of alpha and of constants of the loss along a path."""

from __future__ import annotations

import functools
import numbers
from dataclasses import replace
from typing import cast

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from .. import selection
from .._utils.callbacks import FitCallbacksMixin, with_fit_callbacks
from .._utils.fitting import copy_feature_names, store, transactional, with_tags_of
from .._utils.summary import SummaryItems, SummaryMixin
from .._utils.validation import check_choice, check_number
from ..leave_one_out import loo_residual_path
from ..machine.in_memory import MemorySource
from ..machine.steps import FitResult, check_solved, fitted_copy, solve_selection
from ..metrics import FunctionalScorer
from ..vector import OperatorKernelRegressor
from .grid import (
    RULES,
    check_alphas,
    check_loss_params,
    comparison_loss,
    error_curve,
    grid_losses,
    loss_grid,
    order_by_robustness,
    select_model,
    with_numbers,
)

_FOLD_TOLERANCE = 10.0  # factor of ``tol`` for models of folds on a two-way grid; a smaller one takes more iterations
_SCORED_GROUPS = 10  # groups of leave-one-out predictions, each with one value of the scorer


def _delegate(name):
    """A method that calls that of the best estimator; it exists where the wrapped estimator has it."""

    def method(self, X, *args, **kwargs):
        check_is_fitted(self)
        return getattr(self.best_estimator_, name)(X, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"""Call ``{name}`` of the best estimator.

        Parameters
        ----------
        X : array-like of length m
            Inputs.
        *args, **kwargs : tuple, dict
            Further arguments of its ``{name}``.

        Returns
        -------
        result : as of its ``{name}``
        """
    return available_if(lambda self: hasattr(self._wrapped(), name))(method)


class RegularizationPathCV(FitCallbacksMixin, SummaryMixin, MetaEstimatorMixin, BaseEstimator):
    """Select alpha and constants of the loss of an estimator of the package, by leave-one-out or folds along a path.

    The kernel of a fold is factored once for all models. The squared loss has leave-one-out errors in closed form;
    other losses start each fit from the solutions for the previous alpha and the previous constant.

    Parameters
    ----------
    estimator : estimator of hilbertlearn, default=None
        None is ``OperatorKernelRegressor()``.
    alphas : array of positive numbers, default=None
        In any order. None is a logarithmic grid that spans the spectrum of the kernel.
    loss_params : dict, default=None
        Values of parameters of the loss to select too, ``{"kappa": [0.1, 0.3, 1.0]}``. All combinations are compared
        with all alphas, by folds. "auto" instead of a list is an eighth to eight times the constant that the loss
        computes from residuals. Models of folds are solved to ten times ``tol``, and the centre of curves is smoothed
        as the first combination requires; the selected model is fitted with its own settings.
    cv : "loo", int, splitter of scikit-learn or iterable of (train, test), default=None
        None is "loo" for the squared loss and 5 folds otherwise.
    scoring : str or callable of scikit-learn, default=None
        None is twice the estimator's loss (the squared error for the squared loss). With ``loss_params`` None is twice
        one loss for all models, since values of losses with different constants are not comparable: for robust losses
        the one with constants computed from residuals, ``Huber("auto")``, for others the squared loss. Scorers ignore
        sample weights.
    aggregate : {"mean", "median"}, default="mean"
        Aggregation of the errors over samples ("loo") or folds; the median ignores corrupted ones.
    rule : {"best", "one_standard_error"}, default="best"
        "best" is the smallest error. "one_standard_error" is the simplest model whose error is within one standard
        error of the smallest: the largest alpha, then the most robust loss (the smallest kappa) or the widest tube (the
        largest epsilon).
    n_jobs : int, default=None
        Number of folds that are fitted at the same time, as elsewhere in scikit-learn. None is one unless
        ``joblib.parallel_config`` says otherwise, whose ``backend="dask"`` uses the workers of a cluster.

    Attributes
    ----------
    alpha_ : float
        The selected alpha, the largest of ties; larger where ``alphas`` is None and the solver does not converge.
    loss_ : Loss
        The selected loss, its constants numbers.
    loss_params_ : dict
        Its parameters among ``loss_params``; empty without these.
    best_estimator_ : estimator
        The estimator with both, fitted to all the data.
    alphas_ : (n_alphas,) array
        The path.
    loss_grid_ : list of n_params dicts, or None
        The combinations of ``loss_params``; None without these.
    errors_ : (n_alphas,) array, with ``loss_params`` (n_alphas, n_params)
        Twice the mean test loss, or minus the scores.
    standard_errors_ : array of the shape of ``errors_``
        Standard error of each.
    n_splits_ : int
        Number of samples or folds over which errors are aggregated.

    References
    ----------
    - Hastie, T., Tibshirani, R. and Friedman, J. (2009). The elements of statistical learning, chapter 7. Springer.
    - Lambert, A., Bouche, D., Szabo, Z. and d'Alche-Buc, F. (2022). Functional output regression with infimal
      convolution: exploring the Huber and epsilon-insensitive losses. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, RegularizationPathCV
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> y = np.sin(6 * X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=40)
    >>> path = RegularizationPathCV(OperatorKernelRegressor("rbf", gamma=10.0), np.logspace(-6, 0, 7)).fit(X, y)
    >>> path.errors_.shape, bool(path.alpha_ == path.alphas_[path.errors_.argmin()])
    ((7,), True)
    >>> bool(abs(path.predict([[0.25]])[0] - 1) < 0.2)
    True
    """

    def __init__(
        self,
        estimator=None,
        alphas=None,
        *,
        loss_params=None,
        cv=None,
        scoring=None,
        aggregate="mean",
        rule="best",
        n_jobs=None,
    ):
        store(self, locals())

    @transactional
    @with_fit_callbacks
    def fit(self, X, y, sample_weight=None):
        """Compute the errors, select alpha and the loss, and fit the estimator with them to all the data.

        Parameters
        ----------
        X, y : inputs and outputs
            As the estimator takes them.
        sample_weight : (n,) array, default=None
            Non-negative weights of the loss.

        Returns
        -------
        self : RegularizationPathCV
            The fitted estimator.
        """
        check_choice(self.aggregate, "aggregate", ("mean", "median"))
        check_choice(self.rule, "rule", RULES)
        if isinstance(self.cv, str):
            check_choice(self.cv, "cv", ("loo",))
        base = clone(self._wrapped())
        if not hasattr(base, "fit_path"):
            raise TypeError(
                f"estimator must be an estimator of hilbertlearn with a path over alpha, got {base!r}; LinkPredictor "
                "selects its alpha itself, with alpha='auto'"
            )
        spec = base.spec(y)
        loss, options = spec.loss, spec.options
        if self.loss_params is not None:
            check_loss_params(loss, self.loss_params)
        training = MemorySource(X, y, sample_weight).prepare(spec)
        alphas = training.alphas() if self.alphas is None else check_alphas(self.alphas)
        grid, losses, factors = None, [loss], None
        if self.loss_params is not None:
            training = _for_loss(base, training, with_numbers(loss, self.loss_params))
            grid = loss_grid(loss, self.loss_params, training, alphas, options)
            losses = grid_losses(loss, grid)
        if self._uses_leave_one_out(training, losses):
            training, factors = training.factor_for_path(alphas)
            errors, weights = self._leave_one_out_errors(base, training, alphas, factors, indexable(y)[0])
        elif len(training.rows) == 1:  # no test part: the smoothest model
            errors, weights = np.zeros((1, len(alphas), len(losses))), np.ones(1)
        else:
            common = None if grid is None else comparison_loss(loss, grid, training, alphas, options)
            errors = self._fold_errors(base, spec, X, y, training, alphas, losses, common)
            weights = np.ones(len(errors))
        if not np.isfinite(errors).all():
            raise ValueError(
                "scoring gave NaN or infinity in a fold, as R2 does for fewer than two samples and a Ball's own loss "
                "does for residuals beyond it; use fewer folds (cv) or scoring='neg_mean_squared_error'"
            )
        curves, spread = error_curve(errors, weights, self.aggregate)
        i, j = select_model(alphas, losses, curves, spread, self.rule)
        alpha = float(alphas[i])
        base.set_params(alpha=alpha)
        if grid is not None:
            training = _for_loss(base, training, losses[j])
        resolved_loss = selection.resolve_loss(training, losses[j], alphas, options)
        bounds = selection.automatic_bounds(losses[j], resolved_loss)
        selected = selection.Selection(
            alpha, resolved_loss, training, factors, selected_alpha=self.alphas is None, selected_bounds=bounds
        )
        result = solve_selection(spec, selected)
        base.keep(result)
        selected = cast(selection.Selection, result.selection)
        self.alphas_, self.loss_grid_, self.n_splits_ = alphas, grid, len(errors)
        self.errors_, self.standard_errors_ = (curves[:, 0], spread[:, 0]) if grid is None else (curves, spread)
        self.alpha_, self.loss_, self.loss_params_ = selected.alpha, selected.loss, {} if grid is None else grid[j]
        self.best_estimator_ = base
        copy_feature_names(base, self)

    def summary_items(self) -> SummaryItems:
        """Path, errors and selected parameters; then the items of the best estimator."""
        check_is_fitted(self)
        errors, spread = self.errors_, self.standard_errors_
        row = np.flatnonzero(self.alphas_ == self.alpha_)[0]
        position = row if self.loss_grid_ is None else (row, self.loss_grid_.index(self.loss_params_))
        path = f"{len(self.alphas_)} alphas from {self.alphas_.min():.2g} to {self.alphas_.max():.2g}"
        facts: SummaryItems = [("path", path), ("splits", self.n_splits_)]
        facts += [("cross-validated error", errors[position]), ("its standard error", spread[position])]
        facts += [("selected parameters of the loss", self.loss_params_)] if self.loss_params_ else []
        return facts + self.best_estimator_.summary_items()

    predict = _delegate("predict")
    transform = _delegate("transform")

    def score(self, X, y, sample_weight=None):
        """Score of the best estimator.

        Parameters
        ----------
        X, y : inputs and outputs
        sample_weight : (m,) array, default=None

        Returns
        -------
        score : float
        """
        check_is_fitted(self)
        return self.best_estimator_.score(X, y, sample_weight)

    def _wrapped(self):
        return OperatorKernelRegressor() if self.estimator is None else self.estimator

    def _uses_leave_one_out(self, training, losses) -> bool:
        """Whether errors are leave-one-out errors in closed form."""
        closed_form = training.closed_form and len(losses) == 1 and losses[0].quadratic and len(training.rows) > 1
        if self.scoring is not None and not training.space.decodes:  # scorers compare outputs
            closed_form = False
        if self.cv == "loo" and not closed_form:
            raise ValueError(
                "cv='loo' has a closed form for the squared loss, one (kernel, operator) term and no gaps that its "
                "operator mixes only, and a scorer needs predictions that are outputs; use cv=5"
            )
        return self.cv == "loo" or (self.cv is None and closed_form)

    def _fold_errors(self, base, spec, X, y, training, alphas, losses, common):
        """Errors (n_folds, n_alphas, n_losses); common : the loss that compares models, None for their own."""
        options, order = spec.options, [0]
        if len(losses) > 1:  # hundreds of models that only serve the comparison
            options, order = replace(options, tol=_FOLD_TOLERANCE * options.tol), order_by_robustness(losses)
        if self.scoring is None:
            error = functools.partial(spec.steps.fold_error, loss=common)
        else:
            inputs, outputs = indexable(X, y)
            by_predictions = isinstance(self.scoring, str)
            error = _score_error(self._scorer(base, training), base, spec, inputs, outputs, by_predictions)

        def checked_error(training, result, test):
            check_solved(spec, result)
            return error(training, result, test)

        errors = selection.fold_errors(
            training,
            self._folds(X, y, training.rows),
            alphas,
            [lambda part, loss=losses[j]: selection.resolve_loss(part, loss, alphas, options) for j in order],
            options,
            error=checked_error,
            n_jobs=self.n_jobs,
        )
        return errors[:, :, np.argsort(order)]

    def _leave_one_out_errors(self, base, training, alphas, factors, y):
        """Errors (n or groups, n_alphas, 1) of the distinct samples, and their weights."""
        data, space = training.merge_duplicates(), training.space
        residuals = loo_residual_path(data, alphas, factors if data is training else None)
        if self.scoring is None:
            return np.stack([space.sample_errors(data.Y, r) for r in residuals], axis=1)[:, :, None], data.weights
        scorer = self._scorer(base, training)
        groups = np.array_split(np.arange(len(data.Y)), max(1, min(_SCORED_GROUPS, len(data.Y) // 2)))
        errors = np.empty((len(groups), len(alphas)))
        for column, r in zip(errors.T, residuals, strict=True):
            for i, rows in enumerate(groups):
                predictions = _Predictions(space.decode(data.Y[rows] - r[rows]))
                column[i] = -scorer(predictions, None, _safe_indexing(y, data.rows[rows]))
        return errors[:, :, None], np.ones(len(groups))

    def _scorer(self, base, training):
        """Scikit-learn's scorer; for functions in any container one of their values."""
        functions = hasattr(training.space, "grids") and isinstance(self.scoring, str)
        scorer = check_scoring(base, self.scoring)
        return FunctionalScorer(self.scoring) if functions else scorer

    def _folds(self, X, y, rows):
        """Folds (train, test) as positions among the samples in use; rows : positions (n,) of these."""
        cv = 5 if self.cv is None else self.cv
        if isinstance(cv, numbers.Integral):
            number = min(check_number(int(cv), "cv", low=1, integer=True), len(rows))
            return list(KFold(number).split(rows))
        folds = []
        for parts in check_cv(cv).split(X, y):
            train, test = (np.flatnonzero(np.isin(rows, np.arange(_num_samples(X))[part])) for part in parts)
            if not len(train) or not len(test):
                raise ValueError("cv: a fold has no observed output with a positive weight; use other folds")
            folds.append((train, test))
        return folds

    def __sklearn_tags__(self):
        return with_tags_of(self._wrapped(), super().__sklearn_tags__())


def _for_loss(base, training, loss):
    """The training data for another loss, on which scale and centre of outputs may depend."""
    base.set_params(loss=loss)
    return training.take(np.arange(len(training.rows)))


def _score_error(scorer, base, spec, X, y, by_predictions):
    """The error of a fit to a part of the data: minus the score of its model.

    by_predictions : whether predictions are enough for the scorer, as for scikit-learn's own
    """

    def error(training, fit, test):
        rows = training.rows[test]
        X_test = _safe_indexing(X, rows)
        if by_predictions and fit.training.space.decodes:
            values = fit.coordinates_at(training.cross(test, fit.training))
            model = _Predictions(training.form.wrap(fit.training.space.decode(values), X_test))
        else:
            model = fitted_copy(base, FitResult(state=spec.steps.make_state(fit), form=training.form))
        return -scorer(model, X_test, _safe_indexing(y, rows))

    return error


class _Predictions(RegressorMixin, BaseEstimator):
    """An estimator that returns fixed predictions, for a scorer."""

    def __init__(self, predictions):
        self.predictions = predictions

    def predict(self, X):
        return self.predictions
