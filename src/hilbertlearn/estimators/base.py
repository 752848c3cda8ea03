"""The one fit and predict; the estimators of the package are defaults, spaces and decoders around it."""

from __future__ import annotations

import copy
import re
import sys
import warnings

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.utils import _safe_indexing, check_array, indexable
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted, validate_data

from .. import kernels, solvers
from .._validation import check_choice, check_number
from ..losses import Squared, as_loss
from ..problem import Problem, Separable
from ..solvers.spectral import leave_one_out
from .training import Training, build, centre, kernel_terms

_PREDICT_BYTES = 2**27  # kernel values held at once while predicting
_AS_GOOD = 1e-4  # relative difference between errors that does not count
_ROUNDING = 1e-12  # squared errors this small beside the largest are rounding
_AUTO_FOLDS = 5  # where leave-one-out has no closed form
_AUTO_THIN = 2  # every second alpha of the default grid is tried there
_ROBUST_RANGE = (1e-4, 10, 11)  # smallest, largest and number of alphas tried, relative to the squared loss's
_CLEAR_RISE = 2.0  # a path stops when its error is this many times its smallest
_CHOICE_TOL, _CHOICE_ITER = 1e-4, 200  # gap and iterations of models that only serve to choose


class KernelMachine(BaseEstimator):
    """Kernel regression of coordinates in a Hilbert space; see ``OperatorKernelRegressor`` for the settings."""

    def _space(self):
        """A fresh output space with ``encode``, ``decode``, ``measure`` and ``pointwise``."""
        raise TypeError(f"{type(self).__name__} must define _space()")

    # ---------------------------------------------------------------- fit

    def fit(self, X, y, sample_weight=None):
        """Fit to inputs X and outputs y; NaN in y means not observed.

        Parameters
        ----------
        X : (n, n_features) array, sparse matrix, (n, n) Gram matrix for ``kernel="precomputed"``, or a list of objects
        y : (n,) or (n, d) outputs
        sample_weight : (n,) non-negative weights, samples of weight 0 are left out; default 1
        """
        new = copy.copy(self)  # a fit that fails changes nothing
        training, loss, space = new._prepare(X, y, sample_weight)
        alpha, loss = new._choose(training, loss, y)
        new._learn(training, loss, space, alpha, init=None)
        self.__dict__ = new.__dict__
        return self

    def fit_path(self, X, y, alphas, sample_weight=None):
        """Yield a fitted copy of the estimator for each alpha; kernel and factorisation are shared, starts are warm."""
        new = copy.copy(self)
        training, loss, space = new._prepare(X, y, sample_weight)
        if loss.needs_residuals:
            few = alphas if training.closed_form else [np.median(alphas)]
            loss = new._from_ridge(training, loss, y, few)[1]
        if training.separable and len(alphas) > 1:
            _ = training.terms[0].input_spectrum  # one factorisation for all
        init = None
        for alpha in alphas:
            model = copy.copy(new)
            init = model._learn(training, loss, space, check_number(alpha, "alphas"), init)
            yield model

    def _prepare(self, X, y, sample_weight):
        """Check everything that can be checked cheaply, then build kernels: (training, loss, space)."""
        loss = as_loss(self.loss)
        check_number(self.alpha, "alpha", choices=("auto",))
        check_number(self.tol, "tol")
        check_number(self.max_iter, "max_iter", integer=True)
        check_choice(self.solver, "solver", solvers.NAMES)
        kernel_terms(self.kernel, self.operator)
        kernels.check_params(self._kernels(), self.kernel_params)
        space = self._space()
        if loss.pointwise and not space.pointwise:
            raise ValueError(f"loss={loss!r} acts on point values; use p=2, or a space that has them (space='grid')")
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        X = self._check_X(X, reset=True)
        Y = space.encode(y)
        n = _num_samples(X)
        if len(Y) != n:
            raise ValueError(f"X and y must have as many samples, got inconsistent numbers {n} and {len(Y)}")
        weights = np.ones(n)
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        rows = np.flatnonzero((weights > 0) & np.isfinite(Y).any(axis=1))
        if not len(rows):
            raise ValueError(
                "y has no observed entry with a positive weight, it contains only NaN; "
                "give at least one sample with an output"
            )
        X_used, Y, weights = self._take(X, rows), Y[rows], weights[rows]
        center = centre(Y, weights, loss) if self.center else np.zeros(Y.shape[1])
        return build(self, X_used, Y, weights, rows, n, space.measure, center), loss, space

    def _choose(self, training: Training, loss, y):
        """alpha, and the loss with its settings as numbers, from held-out residuals."""
        search = isinstance(self.alpha, str)
        if not search and not loss.needs_residuals:
            return float(self.alpha), loss
        alphas = training.alphas() if search else [float(self.alpha)]
        if len(training.Y) == 1:  # nothing to hold out: the smoothest model
            return float(alphas[-1]), loss.resolve(training.Y - training.Y)
        alpha, loss = self._from_ridge(training, loss, y, alphas)
        if search and np.isfinite(loss.bound):
            alpha = self._robust_alpha(training, loss, y, alpha)
        return float(alpha), loss

    def _from_ridge(self, training: Training, loss, y, alphas):
        """The best of alphas for the squared loss, and the loss with settings from its held-out residuals there."""
        if training.closed_form:
            training = training.distinct()
            alpha = alphas[0]
            if len(alphas) > 1:
                errors = [training.weights @ (r**2).sum(axis=1) for r in training.loo(alphas, self.center)]
                alpha = alphas[best_index(errors)]
            residuals = next(training.loo([alpha], self.center)) if loss.needs_residuals else None
        else:
            ridge = clone(self).set_params(loss=Squared(), solver="auto")
            alpha = self._search(ridge, training, y, alphas[::_AUTO_THIN])
            residuals = self._held_out(ridge, training, y, alpha) if loss.needs_residuals else None
        return alpha, loss.resolve(residuals, training.measure, training.weights)

    def _robust_alpha(self, training: Training, loss, y, alpha):
        """alpha of a loss that resists outliers: they blow up the squared loss's, so smaller ones are tried as well."""
        model = clone(self).set_params(loss=loss)
        return self._search(model, training, y, alpha * np.geomspace(*_ROBUST_RANGE))

    def _search(self, model, training: Training, y, alphas):
        """The alpha with the smallest error over folds."""
        if len(alphas) == 1:
            return alphas[0]
        model, data, folds = self._quick(model, training, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of models that only serve to choose
            errors = fold_errors(model, alphas, folds, *data, stop_after=_CLEAR_RISE)
        return alphas[best_index(errors.mean(axis=0))]

    def _held_out(self, model, training: Training, y, alpha):
        """Residuals (n, d) of each sample under the model fitted without its fold."""
        model, data, folds = self._quick(model, training, y)
        residuals = np.full(training.Y.shape, np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for X_train, y_train, weight, test, X_test, _ in split(model, folds, *data):
                fitted = next(model.fit_path(X_train, y_train, [alpha], weight))
                residuals[test] = training.Y[test] - fitted._coordinates(fitted._check_X(X_test, reset=False))
        return residuals

    def _quick(self, model, training: Training, y):
        """A model, data and folds for choosing: to a loose gap, quietly."""
        model.set_params(alpha=1.0, tol=max(self.tol, _CHOICE_TOL), max_iter=_CHOICE_ITER, verbose=0)
        n = len(training.Y)
        folds = list(KFold(min(_AUTO_FOLDS, n), shuffle=True, random_state=0).split(np.arange(n)))
        return model, (training.X, _safe_indexing(indexable(y)[0], training.rows), training.weights), folds

    def _centre(self, training, loss):
        return centre(training.Y, training.weights, loss) if self.center else np.zeros(training.Y.shape[1])

    def _learn(self, training: Training, loss, space, alpha, init):
        """Solve, and set everything learnt; returns the dual variables for a warm start."""
        center = self._centre(training, loss)
        problem = training.problem(loss, alpha, center)
        solution = solvers.solve(
            problem,
            self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            init=init,
            callback=self._progress(alpha),
        )
        if np.isfinite(problem.loss.largest_residual) and not np.isfinite(solution.gap):
            raise ValueError(
                f"loss={problem.loss!r} allows no larger residuals, and no function was found that fits every sample "
                "so closely (equal inputs with different outputs?); raise scale, or use EpsilonInsensitive"
            )
        if not solution.converged:
            warnings.warn(
                f"{type(self).__name__}: gap {solution.gap:.1e} > tol {self.tol:.1e} after {solution.n_iter} "
                "iterations; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        self._store(training, problem, solution, space, alpha, center)
        return solution.dual

    def _store(self, training: Training, problem: Problem, solution, space, alpha, center):
        root = np.ones((len(training.Y), 1)) if problem.root_weights is None else problem.root_weights[:, None]
        n = training.n_samples
        self.alpha_, self.loss_, self.center_ = alpha, problem.loss, center
        self.gamma_ = training.gammas[0] if len(training.gammas) == 1 else list(training.gammas)
        self.operator_ = training.terms[0].M if problem.separable is not None else None
        self.dual_gap_, self.n_iter_ = float(solution.gap), max(solution.n_iter, 1)
        self.dual_coef_ = np.zeros((n, problem.Y.shape[1]))
        self.dual_coef_[training.rows] = root * solution.dual / problem.penalty
        used = np.flatnonzero(np.abs(solution.dual).sum(axis=1))
        self.support_ = training.rows[used]
        bounded = problem.to_margins(solution.dual) if problem.loss.on_margins else solution.dual
        held = problem.loss.saturated(bounded / root, problem.measure)
        self.saturated_ = np.zeros((n, *held.shape[1:]), dtype=bool)
        self.saturated_[training.rows] = held
        self.space_ = space
        # prediction needs the samples in use only, so sparse losses predict faster
        kept = used if problem.separable is not None and problem.loss.sparse else np.arange(len(training.rows))
        self.X_fit_ = self._take(training.X, kept)
        self._columns = training.rows[kept]
        self._predictors = [term.predictor(self.dual_coef_[self._columns]) for term in training.terms]
        closed_form = problem.loss.quadratic and training.closed_form
        self._loo_data = (training.Y, training.weights) if closed_form else None

    def _progress(self, alpha):
        if not self.verbose:
            return None

        def show(iteration, gap):
            print(
                f"[{type(self).__name__}] alpha {alpha:.2e}  iteration {iteration:4d}  gap {gap:.2e}",
                file=sys.stderr,
            )

        return show

    # ---------------------------------------------------------------- predict

    def predict(self, X):
        """Outputs predicted for X."""
        check_is_fitted(self)
        return self.space_.decode(self._coordinates(self._check_X(X, reset=False)))

    def _coordinates(self, X):
        """Predicted coordinates (m, d) of checked inputs, block by block of rows."""
        m = _num_samples(X)
        if not len(self._columns):
            return np.tile(self.center_, (m, 1))
        block = max(1, int(_PREDICT_BYTES / (8 * len(self._columns))))
        out = np.empty((m, len(self.center_)))
        for start in range(0, m, block):
            rows = slice(start, start + block)
            part = X if block >= m else _safe_indexing(X, np.arange(m)[rows])
            out[rows] = sum(
                predictor(self._cross_gram(kernel, part, gamma))
                for kernel, gamma, predictor in zip(self._kernels(), self._gammas(), self._predictors, strict=True)
            )
        out += self.center_
        return out

    def _cross_gram(self, kernel, X, gamma):
        if kernel == "precomputed":
            return X if X.shape[1] == len(self._columns) else X[:, self._columns]
        return kernels.gram(kernel, X, self.X_fit_, gamma=gamma, params=self.kernel_params)

    def _kernels(self):
        terms = kernel_terms(self.kernel, self.operator)
        return [k.kernel if isinstance(k, kernels.OutputBuilt) else k for k, _ in terms]

    def _gammas(self):
        return self.gamma_ if isinstance(self.gamma_, list) else [self.gamma_]

    # ---------------------------------------------------------------- inspect

    def loo_residuals(self):
        """Leave-one-out residuals of the training outputs, in closed form, alpha n held fixed (squared loss only).

        Shape of the training Y; NaN for samples that were left out of the fit.
        """
        check_is_fitted(self)
        if self._loo_data is None:
            raise ValueError(
                "loo_residuals() has a closed form for the squared loss, one (kernel, operator) term and no missing "
                "outputs; use RegularizationPathCV with cv=5, or sklearn.model_selection.cross_val_predict"
            )
        Y, weights = self._loo_data
        (kernel,), (gamma,) = self._kernels(), self._gammas()
        K = kernels.gram(kernel, self.X_fit_, gamma=gamma, params=self.kernel_params)
        term = Separable(K, self.operator_).scaled(np.sqrt(weights))
        residuals = np.full(self.dual_coef_.shape, np.nan)
        ((_, residuals[self._columns]),) = leave_one_out(
            term, Y, [self.alpha_ * weights.sum()], center=self.center, weights=weights
        )
        fitted = np.full(self.dual_coef_.shape, np.nan)
        fitted[self._columns] = Y
        return self.space_.decode(fitted) - self.space_.decode(fitted - residuals)

    def summary(self):
        """A few lines on what was learnt."""
        check_is_fitted(self)
        n, d = self.dual_coef_.shape
        lines = [
            f"{type(self).__name__}: {n} samples, {d} coordinates",
            f"loss       {_short(self.loss_)}",
            f"alpha      {self.alpha_:.3g}    gamma {_short(self.gamma_)}",
            f"support    {len(self.support_)} of {n} samples, {int(self.saturated_.sum())} held at the loss's bound",
            f"certified  relative duality gap {self.dual_gap_:.1e} after {self.n_iter_} iterations",
        ]
        return "\n".join(lines)

    # ---------------------------------------------------------------- inputs

    def _check_X(self, X, reset):
        scalar = self._kernels()
        if any(isinstance(kernel, str) for kernel in scalar):
            X = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=np.float64)
            if "precomputed" in scalar and scipy.sparse.issparse(X):
                X = X.toarray()
            if "precomputed" in scalar and reset and X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"X must be the square Gram matrix of the samples for kernel='precomputed', got shape {X.shape}"
                )
            return X
        if isinstance(X, (list, tuple)):
            as_array = _numeric(X)
            if as_array is None:
                return list(X)
            X = as_array
        if hasattr(X, "dtype") and X.dtype.kind in "biuf":
            X = check_array(X, accept_sparse="csr", ensure_2d=False, allow_nd=True, input_name="X", dtype=np.float64)
        return X

    def _take(self, X, rows):
        """Samples of X; for a Gram matrix rows and columns."""
        if len(rows) == _num_samples(X):
            return X
        X = _safe_indexing(X, rows)
        return X[:, rows] if "precomputed" in self._kernels() else X

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        kernel = [kernel[0] for kernel in self.kernel] if isinstance(self.kernel, (list, tuple)) else [self.kernel]
        tags.input_tags.pairwise = "precomputed" in [k for k in kernel if isinstance(k, str)]
        tags.input_tags.sparse = True
        return tags


def split(estimator, folds, X, Y, sample_weight):
    """For each fold ``(X_train, Y_train, weight_train, test, X_test, Y_test)``; Gram matrices are cut on both sides."""
    for train, test in folds:
        X_train, Y_train = _safe_split(estimator, X, Y, train)
        X_test, Y_test = _safe_split(estimator, X, Y, test, train)
        weight = None if sample_weight is None else _safe_indexing(sample_weight, train)
        yield X_train, Y_train, weight, test, X_test, Y_test


def fold_errors(estimator, alphas, folds, X, Y, sample_weight, *, scorer=None, stop_after=None):
    """Errors (n_folds, n_alphas) on held-out folds: ``held_out_loss``, or minus the scores of a scorer.

    Each fold's kernel is factored once; paths run from the largest alpha down, the order in which warm starts help,
    with ``stop_after`` only until an error exceeds that many times the smallest; what is left counts as infinite.
    """
    order = np.argsort(alphas)[::-1]
    errors = np.full((len(folds), len(alphas)), np.inf)
    parts = split(estimator, folds, X, Y, sample_weight)
    for row, (X_train, Y_train, weight, test, X_test, Y_test) in zip(errors, parts, strict=True):
        weight_test = None if sample_weight is None else _safe_indexing(sample_weight, test)
        models = estimator.fit_path(X_train, Y_train, [alphas[i] for i in order], weight)
        for i, model in zip(order, models, strict=False):
            if scorer is None:
                row[i] = held_out_loss(model, X_test, Y_test, weight_test)
            else:
                row[i] = -scorer(model, X_test, Y_test)
            if stop_after is not None and row[i] > stop_after * row.min():
                break
    return errors


def held_out_loss(model, X, Y, sample_weight=None):
    """Twice the weighted mean of the model's own loss: for the squared loss the mean squared error of coordinates."""
    Y = copy.copy(model.space_).encode(Y)
    values = model._coordinates(model._check_X(X, reset=False))
    residuals = -np.nansum(Y * values, axis=1, keepdims=True) if model.loss_.on_margins else np.nan_to_num(Y - values)
    losses = model.loss_.row_value(residuals, None if model.loss_.on_margins else model.space_.measure)
    return 2 * float(np.average(losses, weights=sample_weight))


def best_index(errors):
    """Index, in order of increasing alpha, of the last error that is as good as the smallest.

    Errors often are flat towards small alpha; there the largest alpha is better conditioned and as good.
    """
    errors = np.asarray(errors)
    smallest = errors.min()
    as_good = smallest + _AS_GOOD * abs(smallest) + _ROUNDING * np.abs(errors[np.isfinite(errors)]).max()
    return int(np.flatnonzero(errors <= as_good)[-1])


def _short(value):
    """Text of a loss or a number, floats with three digits."""
    return re.sub(r"\d+\.\d+(e-?\d+)?", lambda match: f"{float(match[0]):.3g}", str(value))


def _numeric(X):
    """X as an array of numbers, None when it is a list of something else."""
    try:
        array = np.asarray(X)
    except ValueError:  # ragged
        return None
    return array if array.dtype.kind in "biuf" else None
