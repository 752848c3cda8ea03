"""Choice of the regularisation along a whole path."""

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
from .._utils.facts import Facts, WithFacts
from .._utils.fitting import store, transactional, with_tags_of
from .._utils.validation import check_choice, check_number
from ..leave_one_out import loo_residual_path
from ..machine.in_memory import InMemory
from ..machine.steps import FitResult, check_solved, fit_selection, fitted_copy
from ..metrics import FunctionalScorer
from ..vector import OperatorKernelRegressor
from .grid import (
    RULES,
    check_alphas,
    check_loss_params,
    choose,
    error_curve,
    from_plain_to_robust,
    judge,
    loss_grid,
    losses_of,
    with_numbers,
)

_ROUGHER = 10.0  # times ``tol`` for the models of folds on a two-way grid
_SCORED_GROUPS = 10  # leave-one-out predictions are scored in this many groups when a scorer is given


def _passed_through(name):
    """A method that calls the best estimator's, there when the wrapped estimator has it."""

    def method(self, X, *args, **kwargs):
        check_is_fitted(self)
        return getattr(self.best_estimator_, name)(X, *args, **kwargs)

    method.__name__ = name
    method.__doc__ = f"``{name}`` of the best estimator."
    return available_if(lambda self: hasattr(self._wrapped(), name))(method)


class RegularizationPathCV(FitCallbacksMixin, WithFacts, MetaEstimatorMixin, BaseEstimator):
    """Any estimator of the package, its alpha and constants of its loss chosen by leave-one-out or folds along a path.

    Each fold's kernel is factored once for all models. The squared loss has its leave-one-out errors in closed form,
    other losses start each fit from the solutions for the alpha and for the constant before.

    Parameters
    ----------
    estimator : estimator of hilbertlearn, default ``OperatorKernelRegressor()``
    alphas : increasing or not, positive numbers; None for a logarithmic grid that spans the kernel's spectrum
    loss_params : None, or settings of the loss to be chosen too, ``{"kappa": [0.1, 0.3, 1.0]}``
        All combinations are tried with all alphas, by folds. In place of values "auto" stands for an eighth to eight
        times the constant that the loss takes from residuals itself. Models of folds are solved to ten times ``tol``,
        and the centre of curves is smoothed as the first of the combinations asks for; the model that is chosen is
        fitted as if its settings had been given.
    cv : "loo", number of folds, splitter of scikit-learn, iterable of (train, test) or None
        None is "loo" for the squared loss and 5 folds otherwise.
    scoring : name or callable of scikit-learn; None is twice the estimator's own loss (squared error, for the squared);
        scorers do not see sample weights. With ``loss_params`` None is twice one loss that is the same for all models,
        since values of losses with different constants cannot be compared: of losses that resist outliers the one with
        constants taken from residuals, ``Huber("auto")``, of others the squared loss.
    aggregate : "mean" or "median" of the errors over samples ("loo") or folds; the median ignores corrupted ones
    rule : "best", the smallest error, or "one_standard_error", the simplest model whose error is within one standard
        error of the smallest: the largest alpha there is, then the loss that holds outliers back most (the smallest
        kappa), or has the widest tube (the largest epsilon)
    n_jobs : folds that are fitted at the same time, as elsewhere in scikit-learn: None is one unless
        ``joblib.parallel_config`` says otherwise, whose ``backend="dask"`` takes folds to the workers of a cluster

    Attributes
    ----------
    alpha_ : the alpha that was chosen (with the smallest error; the largest of equals); larger where ``alphas`` is None
        and the solver does not converge there
    loss_ : the loss that was chosen, its constants numbers
    loss_params_ : its settings among ``loss_params``; empty without these
    best_estimator_ : the estimator fitted with both to all the data
    alphas_ : (n_alphas,) the path
    loss_grid_ : list of the n_params combinations of ``loss_params``, each a dict; None without these
    errors_ : (n_alphas,), with ``loss_params`` (n_alphas, n_params); twice the mean held-out loss, or minus the scores
    standard_errors_ : standard error of each, of the same shape
    n_splits_ : samples or folds the errors are aggregated over

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
        """Compute the errors, choose alpha and the loss, and fit the estimator with them to all the data."""
        check_choice(self.aggregate, "aggregate", ("mean", "median"))
        check_choice(self.rule, "rule", RULES)
        if isinstance(self.cv, str):
            check_choice(self.cv, "cv", ("loo",))
        base = clone(self._wrapped())
        if not hasattr(base, "fit_path"):
            raise TypeError(
                f"estimator must be an estimator of hilbertlearn with a path over alpha, got {base!r}; LinkPredictor "
                "chooses its alpha itself, with alpha='auto'"
            )
        spec = base.spec(y)
        loss, options = spec.loss, spec.options
        if self.loss_params is not None:
            check_loss_params(loss, self.loss_params)
        training = InMemory(X, y, sample_weight).prepare(spec)
        alphas = training.alphas() if self.alphas is None else check_alphas(self.alphas)
        grid, losses, factors = None, [loss], None
        if self.loss_params is not None:
            training = _for_loss(base, training, with_numbers(loss, self.loss_params))
            grid = loss_grid(loss, self.loss_params, training, alphas, options)
            losses = losses_of(loss, grid)
        if self._leaves_one_out(training, losses):
            training, factors = training.prepared(alphas)
            errors, weights = self._leave_one_out(base, training, alphas, factors, indexable(y)[0])
        elif len(training.rows) == 1:  # nothing to hold out: the smoothest model
            errors, weights = np.zeros((1, len(alphas), len(losses))), np.ones(1)
        else:
            common = None if grid is None else judge(loss, grid, training, alphas, options)
            errors = self._fold_errors(base, spec, X, y, training, alphas, losses, common)
            weights = np.ones(len(errors))
        if not np.isfinite(errors).all():
            raise ValueError(
                "scoring gave NaN or infinity in a fold, as R2 does for fewer than two samples and a Ball's own loss "
                "does for residuals beyond it; use fewer folds (cv) or scoring='neg_mean_squared_error'"
            )
        curves, spread = error_curve(errors, weights, self.aggregate)
        i, j = choose(alphas, losses, curves, spread, self.rule)
        alpha = float(alphas[i])
        base.set_params(alpha=alpha)
        if grid is not None:
            training = _for_loss(base, training, losses[j])
        chosen = selection.resolve_loss(training, losses[j], alphas, options)
        bounds = selection.automatic_bounds(losses[j], chosen)
        choice = selection.Selection(
            alpha, chosen, training, factors, selected_alpha=self.alphas is None, selected_bounds=bounds
        )
        result = fit_selection(spec, choice)
        base.keep(result)
        choice = cast(selection.Selection, result.selection)
        self.alphas_, self.loss_grid_, self.n_splits_ = alphas, grid, len(errors)
        self.errors_, self.standard_errors_ = (curves[:, 0], spread[:, 0]) if grid is None else (curves, spread)
        self.alpha_, self.loss_, self.loss_params_ = choice.alpha, choice.loss, {} if grid is None else grid[j]
        self.best_estimator_ = base
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(base, name):
                setattr(self, name, getattr(base, name))

    def facts(self) -> Facts:
        """What was chosen and how good it looks, then what the best estimator found."""
        check_is_fitted(self)
        errors, spread = self.errors_, self.standard_errors_
        chosen = np.flatnonzero(self.alphas_ == self.alpha_)[0]
        place = chosen if self.loss_grid_ is None else (chosen, self.loss_grid_.index(self.loss_params_))
        path = f"{len(self.alphas_)} alphas from {self.alphas_.min():.2g} to {self.alphas_.max():.2g}"
        facts: Facts = [("path", path), ("left out in turn", self.n_splits_)]
        facts += [("held-out error", errors[place]), ("its standard error", spread[place])]
        facts += [("chosen settings of the loss", self.loss_params_)] if self.loss_params_ else []
        return facts + self.best_estimator_.facts()

    predict = _passed_through("predict")
    transform = _passed_through("transform")

    def score(self, X, y, sample_weight=None):
        """Score of the best estimator."""
        check_is_fitted(self)
        return self.best_estimator_.score(X, y, sample_weight)

    def _wrapped(self):
        return OperatorKernelRegressor() if self.estimator is None else self.estimator

    def _leaves_one_out(self, training, losses) -> bool:
        """Whether errors are those of samples left out by the formula."""
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
        """Errors (n_folds, n_alphas, n_losses); common : the loss that models are judged by, None for their own."""
        options, order = spec.options, [0]
        if len(losses) > 1:  # hundreds of models that only serve to choose
            options, order = replace(options, tol=_ROUGHER * options.tol), from_plain_to_robust(losses)
        if self.scoring is None:
            error = functools.partial(spec.steps.fold_error, loss=common)
        else:
            inputs, outputs = indexable(X, y)
            named = isinstance(self.scoring, str)
            error = _scored(self._scorer(base, training), base, spec, inputs, outputs, named)

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

    def _leave_one_out(self, base, training, alphas, factors, y):
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
                predictions = _HeldOut(space.decode(data.Y[rows] - r[rows]))
                column[i] = -scorer(predictions, None, _safe_indexing(y, data.rows[rows]))
        return errors[:, :, None], np.ones(len(groups))

    def _scorer(self, base, training):
        """Scikit-learn's scorer; for functions, of their values in whatever container."""
        functions = hasattr(training.space, "grids") and isinstance(self.scoring, str)
        scorer = check_scoring(base, self.scoring)
        return FunctionalScorer(self.scoring) if functions else scorer

    def _folds(self, X, y, rows):
        """Folds (train, test) of the samples that count, as positions among them, for a number or a splitter."""
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
    """The training data as the estimator with another loss has them: scale and centre of outputs may depend on it."""
    base.set_params(loss=loss)
    return training.take(np.arange(len(training.rows)))


def _scored(scorer, base, spec, X, y, named):
    """The error of a fit to a part of the data: minus the score of the model it makes.

    named : whether the scorer is one of scikit-learn's, which need no more of a model than its predictions
    """

    def error(training, found, test):
        rows = training.rows[test]
        some = _safe_indexing(X, rows)
        if named and found.training.space.decodes:
            values = found.coordinates_at(training.cross(test, found.training))
            model = _HeldOut(training.form.wrap(found.training.space.decode(values), some))
        else:
            model = fitted_copy(base, FitResult(state=spec.steps.make_state(found), form=training.form))
        return -scorer(model, some, _safe_indexing(y, rows))

    return error


class _HeldOut(RegressorMixin, BaseEstimator):
    """Predictions made elsewhere, in the form a scorer asks for."""

    def __init__(self, predictions):
        self.predictions = predictions

    def predict(self, X):
        return self.predictions
