"""The one fit and predict; the estimators of the package are defaults, spaces and decoders around it."""

from __future__ import annotations

import copy
import re
import sys
import warnings

import numpy as np
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_is_fitted,
    has_fit_parameter,
)

from .. import kernels, solvers
from .._statistics import mean_rows
from .._validation import check_choice, check_number
from ..losses import as_loss
from ..problem import Problem, Separable
from ..solvers.spectral import leave_one_out
from . import choice
from .inputs import check_inputs
from .operator_learning import alternate
from .outliers import outlier_scores
from .surroundings import deformed_term
from .training import Training, build, centre, kernel_terms

_LEARNT = (
    "_columns",
    "_predictors",
    "_integrals",
    "_loo_data",
    "_X_axes",
    "_labelled",
    "_smoothness",
    "_ratio",
)  # beside attributes that end in _
_ROUNDED = 1e-4  # relative error of a deformed kernel that is told
_PREDICT_BYTES = 2**27  # kernel values held at once while predicting


class KernelMachine(BaseEstimator):
    """Kernel regression of coordinates in a Hilbert space; see ``OperatorKernelRegressor`` for the settings."""

    regressor = None  # a setting of the estimators whose spaces are more than vectors
    graph, manifold = None, 0.0  # settings of those that learn from samples without outputs

    def _space(self, y, sample_weight):
        """The space of the outputs: ``encode``, ``decode``, ``sampling``, ``residuals``, ``measure``, ``pointwise``."""
        raise TypeError(f"{type(self).__name__} must define _space(y, sample_weight)")

    # ---------------------------------------------------------------- fit

    def fit(self, X, y, sample_weight=None):
        """Fit to inputs X and outputs y; NaN in y means not observed.

        Parameters
        ----------
        X : (n, n_features) array, sparse matrix, (n, n) Gram matrix for ``kernel="precomputed"``, or a list of objects
        y : (n,) or (n, d) outputs
        sample_weight : (n,) non-negative weights, samples of weight 0 are left out; default 1
        """
        new = blank(self)  # a fit that fails changes nothing
        if self.regressor is not None:
            new._fit_regressor(X, y, sample_weight)
        else:
            training, loss, space = new._prepare(X, y, sample_weight)
            alpha, loss = choice.choose(new, training, loss, y)
            new._learn(training, loss, space, alpha, init=None)
        self.__dict__ = new.__dict__
        return self

    def _fit_regressor(self, X, y, sample_weight):
        """Fit another model to the coordinates, gaps filled; alpha, loss and solver have no part in it."""
        check_regressor(self.regressor)
        if self.manifold:
            raise ValueError("regressor knows no graph; set manifold=0, or regressor=None")
        X, weights = self._read(X, y, sample_weight)
        self.space_ = self._space(y, weights)
        Y = self.space_.complete(y)
        rows = self._counting(weights, Y)
        Y = np.where(np.isfinite(Y), Y, mean_rows(Y, weights))  # a curve of a sample that was never seen
        model, options = clone(self.regressor), {}
        if sample_weight is not None:
            if not has_fit_parameter(model, "sample_weight"):
                raise ValueError(f"regressor={model!r} takes no sample_weight; give another regressor, or no weights")
            options["sample_weight"] = weights[rows]
        targets = Y[rows, 0] if Y.shape[1] == 1 else Y[rows]
        self.regressor_ = model.fit(self._take(X, rows), targets, **options)
        self.n_iter_ = getattr(self.regressor_, "n_iter_", 1)  # scikit-learn asks for it beside max_iter

    def fit_path(self, X, y, alphas, sample_weight=None):
        """Yield a fitted copy of the estimator for each alpha; kernel and factorisation are shared, starts are warm."""
        new = blank(self)
        training, loss, space = new._prepare(X, y, sample_weight)
        loss = choice.resolve(new, training, loss, y, alphas)
        training.prepare_path(alphas)
        init = None
        for alpha in alphas:
            model = copy.copy(new)
            init = model._learn(training, loss, space, check_number(alpha, "alphas"), init)
            yield model

    def _prepare(self, X, y, sample_weight):
        """Check everything that can be checked cheaply, then build kernels: (training, loss, space)."""
        if self.regressor is not None:
            raise ValueError("regressor has no path over alpha; set regressor=None, or search its own settings")
        loss = self._check_settings()
        X, weights = self._read(X, y, sample_weight)
        space = self._space(y, weights)
        if loss.pointwise and not space.pointwise:
            raise ValueError(
                f"loss={loss!r} acts on point values, which the space of the outputs does not have; use p=2, or "
                "space='grid' and outputs on a common grid (NaN where not observed)"
            )
        Y, sampling = space.encode(y), space.sampling(y)
        if sampling is not None and (loss.on_margins or np.isfinite(loss.largest_residual)):
            raise ValueError(
                f"loss={loss!r} needs outputs that are known on a whole common grid; use Huber, EpsilonInsensitive or "
                "the squared loss, or irregular='projected'"
            )
        rows = self._counting(weights, Y)
        n, everyone = len(Y), None
        if self.manifold:
            self._check_graph(sampling)
            all_rows = np.flatnonzero(weights > 0)
            everyone = self._take(X, all_rows), all_rows, weights[all_rows]
        X, Y, weights = self._take(X, rows), Y[rows], weights[rows]
        sampling = None if sampling is None else sampling.take(rows)
        coordinates = Y if sampling is None else space.complete(y)[rows]
        center = centre(coordinates, weights, loss) if self.center else np.zeros(coordinates.shape[1])
        return build(self, X, Y, weights, rows, n, space, center, sampling, coordinates, everyone), loss, space

    def _check_graph(self, sampling):
        """Refuse what the penalty of a graph does not go with."""
        terms = kernel_terms(self.kernel, self.operator)
        if len(terms) > 1 or isinstance(terms[0][0], kernels.OutputBuilt):
            raise ValueError("manifold goes with one kernel and operator; set manifold=0, or give a single kernel")
        if sampling is not None:
            raise ValueError(
                "manifold goes with outputs that are known on a whole common grid; set manifold=0 or "
                "irregular='projected'"
            )

    def _check_settings(self):
        """The loss, all plain settings checked."""
        check_number(self.alpha, "alpha", choices=("auto",))
        check_number(self.tol, "tol")
        check_number(self.max_iter, "max_iter", integer=True)
        check_choice(self.solver, "solver", solvers.NAMES)
        check_choice(self.center, "center", (True, False))
        check_number(self.manifold, "manifold", strict=False)
        kernels.check_params(self._kernels(), self.kernel_params)
        return as_loss(self.loss)

    def _read(self, X, y, sample_weight):
        """Checked inputs and the weight (n,) of each sample."""
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        X = self._check_X(X, reset=True)
        n = _num_samples(X)
        if _num_samples(y) != n:
            raise ValueError(f"X and y must have as many samples, got inconsistent numbers {n} and {_num_samples(y)}")
        weights = np.ones(n)
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        return X, weights

    def _counting(self, weights, Y):
        """Indices of the samples with a positive weight and something observed."""
        rows = np.flatnonzero((weights > 0) & np.isfinite(Y).any(axis=1))
        if not len(rows):
            raise ValueError(
                "y has no observed entry with a positive weight, it contains only NaN; "
                "give at least one sample with an output"
            )
        return rows

    def _learn(self, training: Training, loss, space, alpha, init):
        """Solve, and set everything learnt; returns the dual variables for a warm start."""
        if training.learns is None:
            problem = training.problem(loss, alpha)
            solution = self._solve(problem, alpha, init)
        else:
            training, problem, solution, self.objectives_, left = alternate(
                training, loss, alpha, lambda problem, start: self._solve(problem, alpha, start), init
            )
            setting = training.learns
            if setting is not None and left > setting.tol:
                warnings.warn(
                    f"{type(self).__name__}: operator={setting!r} leaves up to {left:.1e} of the objective to "
                    f"gain after {len(self.objectives_)} rounds; raise its max_iter or tol",
                    ConvergenceWarning,
                    stacklevel=3,
                )
        if np.isfinite(problem.loss.largest_residual) and not np.isfinite(solution.gap):
            raise ValueError(
                f"loss={problem.loss!r} allows no larger residuals, and no function was found that fits every sample "
                "so closely (equal inputs with different outputs?); raise scale, or use EpsilonInsensitive"
            )
        if not solution.converged:
            direct = problem.loss.quadratic and training.closed_form
            remedy = "alpha, which is at the limit of rounding," if direct else "max_iter"
            warnings.warn(
                f"{type(self).__name__}: gap {solution.gap:.1e} > tol {self.tol:.1e} after {solution.n_iter} "
                f"iterations; raise {remedy} or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        rounding = 0.0 if training.around is None else training.around.rounding(alpha)
        if rounding > _ROUNDED:
            warnings.warn(
                f"{type(self).__name__}: manifold={self.manifold:g} beside alpha={alpha:.3g} is at the limit of "
                f"rounding, relative errors may be {rounding:.0e}; lower manifold or raise alpha",
                ConvergenceWarning,
                stacklevel=3,
            )
        self._store(training, problem, solution, space, alpha)
        return solution.dual

    def _solve(self, problem, alpha, init):
        options = {"tol": self.tol, "max_iter": self.max_iter, "callback": self._progress(alpha)}
        return solvers.solve(problem, self.solver, init=init, **options)

    def _store_settings(self, training: Training, problem: Problem, solution, space, alpha):
        """Set the values in use and the certificate."""
        self.alpha_, self.loss_, self.center_ = alpha, problem.loss, training.center
        self.gamma_ = training.gammas[0] if len(training.gammas) == 1 else list(training.gammas)
        self.kernel_ = training.kernels[0] if len(training.kernels) == 1 else list(training.kernels)
        self.operator_ = training.terms[0].M if len(training.terms) == 1 and hasattr(training.terms[0], "M") else None
        self.dual_gap_, self.n_iter_ = float(solution.gap), max(solution.n_iter, 1)
        self.space_ = space

    def _store(self, training: Training, problem: Problem, solution, space, alpha):
        root = np.ones((len(training.Y), 1)) if problem.root_weights is None else problem.root_weights[:, None]
        n = training.n_samples
        self._store_settings(training, problem, solution, space, alpha)
        coefficients = root * training.to_coordinates(solution.dual) / problem.penalty
        self.dual_coef_ = np.zeros((n, coefficients.shape[1]))
        used = np.flatnonzero(np.abs(solution.dual).sum(axis=1))
        self.support_ = training.rows[used]
        bounded = problem.to_margins(solution.dual) if problem.loss.on_margins else solution.dual
        held = problem.loss.saturated(bounded / root, problem.measure)
        self.saturated_ = np.zeros((n, *held.shape[1:]), dtype=bool)
        self.saturated_[training.rows] = held
        scores = outlier_scores(problem, solution.dual, root)
        self.outlier_scores_ = np.zeros((n, *scores.shape[1:]))
        self.outlier_scores_[training.rows] = scores
        # prediction needs the samples in use only, so sparse losses predict faster
        X, rows, self.dual_coef_[rows] = training.expanded(coefficients, alpha)
        few = problem.separable is not None and problem.loss.sparse and training.around is None
        kept = used if few else np.arange(len(rows))
        self.X_fit_, self._columns, self._labelled = self._take(X, kept), rows[kept], training.rows
        self._predictors = [term.predictor(self.dual_coef_[self._columns]) for term in training.terms]
        closed_form = problem.loss.quadratic and training.closed_form
        self._loo_data = (training.Y, training.weights) if closed_form else None
        self._smoothness = None if training.around is None else training.around.kernel.S
        self._ratio = self.manifold / alpha

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
        """Predicted coordinates (m, d) of checked inputs."""
        if hasattr(self, "regressor_"):
            return np.asarray(self.regressor_.predict(X), dtype=float).reshape(_num_samples(X), -1)
        out = self._expansion(X, dict(enumerate(self._predictors)), len(self.center_))
        out += self.center_
        return out

    def _expansion(self, X, predictors, size):
        """Sum (m, size) of predictors, by term, at the kernel values with the samples, block by block of rows."""
        m = _num_samples(X)
        out = np.zeros((m, size))
        scalar, gammas = _as_list(self.kernel_), _as_list(self.gamma_)
        block = max(1, int(_PREDICT_BYTES / (8 * max(len(self._columns), 1))))
        for start in range(0, m if len(self._columns) else 0, block):
            rows = slice(start, start + block)
            part = X if block >= m else _safe_indexing(X, np.arange(m)[rows])
            for k, predictor in predictors.items():
                out[rows] += predictor(self._cross_gram(scalar[k], part, gammas[k]))
        return out

    def _cross_gram(self, kernel, X, gamma):
        if isinstance(kernel, str) and kernel == "precomputed":
            return X if X.shape[1] == len(self._columns) else X[:, self._columns]
        return kernels.gram(kernel, X, self.X_fit_, gamma=gamma, params=self.kernel_params)

    def _kernels(self):
        terms = kernel_terms(self.kernel, self.operator)
        return [k.kernel if isinstance(k, kernels.OutputBuilt) else k for k, _ in terms]

    def _held_out_loss(self, X, y, sample_weight):
        """What alpha is chosen by where leave-one-out has no closed form."""
        return choice.held_out_loss(self, X, y, sample_weight)

    # ---------------------------------------------------------------- inspect

    def loo_residuals(self):
        """Leave-one-out residuals of the training outputs, in closed form, alpha n held fixed (squared loss only).

        Shape of the training Y; NaN for samples that were left out of the fit.
        """
        check_is_fitted(self)
        data = getattr(self, "_loo_data", None)
        if data is None:
            raise ValueError(
                "loo_residuals() has a closed form for the squared loss, one (kernel, operator) term and no missing "
                "outputs; use RegularizationPathCV with cv=5, or sklearn.model_selection.cross_val_predict"
            )
        Y, weights = data
        term = Separable(None, self.operator_)
        if self._smoothness is None:
            term.K = self._training_gram()
        else:
            spectrum = None if self.operator_ is None else term.operator_spectrum
            kernel, r, rows = self._deformed()
            term = deformed_term(kernel, r, rows, self.operator_, spectrum)
        residuals = np.full(self.dual_coef_.shape, np.nan)
        ((_, residuals[self._labelled]),) = leave_one_out(
            term.scaled(np.sqrt(weights)), Y, [self.alpha_ * weights.sum()], center=self.center, weights=weights
        )
        return self.space_.decode_differences(residuals)

    def _training_gram(self):
        """Gram matrix of the samples that predictions are made from."""
        return kernels.gram(self.kernel_, self.X_fit_, gamma=self.gamma_, params=self.kernel_params)

    def _deformed(self):
        """The deformed kernel of a semi-supervised model, its ratio, and where the labelled samples are."""
        kernel = kernels.Deformed(self._training_gram(), self._smoothness)
        return kernel, self._ratio, np.searchsorted(self._columns, self._labelled)

    def summary(self):
        """A few lines on what was learnt."""
        check_is_fitted(self)
        if hasattr(self, "regressor_"):
            return f"{type(self).__name__}: {_short(self.regressor_)} on coordinates"
        n, d = len(self.saturated_), len(self.center_)
        kernel = f"kernel {_short(self.kernel_)}" if self.gamma_ is None else f"gamma {_short(self.gamma_)}"
        lines = [
            f"{type(self).__name__}: {n} samples, {d} coordinates",
            f"loss       {_short(self.loss_)}",
            f"alpha      {self.alpha_:.3g}    {kernel}",
            f"support    {len(self.support_)} of {n} samples, {int(self.saturated_.sum())} held at the loss's bound",
            f"certified  relative duality gap {self.dual_gap_:.1e} after {self.n_iter_} iterations",
        ]
        return "\n".join(lines)

    # ---------------------------------------------------------------- inputs

    def _check_X(self, X, reset):
        return check_inputs(self, X, self._kernels(), reset)

    def _take(self, X, rows):
        """Samples of X; for a Gram matrix rows and columns."""
        if len(rows) == _num_samples(X):
            return X
        X = _safe_indexing(X, rows)
        return X[:, rows] if "precomputed" in self._kernels() else X

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        terms = [term[0] for term in self.kernel] if isinstance(self.kernel, (list, tuple)) else [self.kernel]
        scalar = [k.kernel if isinstance(k, kernels.OutputBuilt) else k for k in terms]
        tags.input_tags.pairwise = any(isinstance(k, str) and k == "precomputed" for k in scalar)
        tags.input_tags.sparse = True
        return tags


def check_regressor(regressor):
    """Raise unless it is a regressor of scikit-learn, an object and not a class."""
    if isinstance(regressor, type) or not hasattr(regressor, "fit") or not is_regressor(regressor):
        called = f"; pass {regressor.__name__}()" if isinstance(regressor, type) else ""
        raise TypeError(f"regressor must be a regressor of scikit-learn or None, got {regressor!r}{called}")


def blank(estimator):
    """A copy with the settings and nothing learnt."""
    new = copy.copy(estimator)
    for name in [name for name in vars(new) if name.endswith("_") or name in _LEARNT]:
        delattr(new, name)
    return new


def _as_list(value):
    return value if isinstance(value, list) else [value]


def _short(value):
    """Text of a loss or a number, floats with three digits."""
    return re.sub(r"\d+\.\d+(e-?\d+)?", lambda match: f"{float(match[0]):.3g}", str(value))
