"""Prediction sets around any regressor."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted, column_or_1d

from .._utils.callbacks import FitCallbacksMixin, with_fit_callbacks
from .._utils.facts import Facts, WithFacts
from .._utils.fitting import router_to, routing_enabled, store, transactional, with_tags_of
from .._utils.progress import propagate_callbacks
from .._utils.validation import check_choice, warn
from ..data.frames import check_collected
from ..machine.wrapping import can_fit_parts, fit_with_parts
from ..vector import OperatorKernelRegressor
from .calibration import Calibration
from .leaving_out import Data, LeavingOut, among, by_refits, in_closed_form
from .levels import check_level
from .outputs import OutputForm, with_common_domain
from .quantiles import QuantileCalibration, QuantileForm, Quantiles, levels_of
from .regions import Band, Box, Ellipsoid, Region
from .scores import Mahalanobis, as_score, units_of
from .set_predictor import SetPredictor
from .splits import check_enough, each, folds, halves
from .wrapped import (
    KernelMachineBehind,
    check_estimator,
    fitted,
    grid_of,
    innermost,
    of_functions,
    resists_outliers,
    weights_of_machine,
)

METHODS = ("auto", "jackknife+", "cv+", "split")
_SPLIT = 10_000  # samples beyond which "auto" fits one model
_CLOSED_FORM = 5000  # and up to which it has a model without each


class ConformalPredictor(FitCallbacksMixin, WithFacts, SetPredictor, MetaEstimatorMixin, BaseEstimator):
    """Intervals, regions, bands and sets with a promised coverage, around estimators of the package or scikit-learn.

    *The promise.* Let the samples and a new one be exchangeable (drawn independently from one law, for example), and
    the estimator treat samples alike whatever their order. Then, whatever the model and the law are, the set at the new
    input holds the new output with probability at least

    - ``level`` for "split";
    - ``1 - 2 (1 - level)`` for "jackknife+", and ``1 - 2 (1 - level) - min(2 (1 - 1/K) / (n/K + 1), (1 - K/n) / (K +
      1))`` for "cv+" with K folds (Barber et al. 2021). In practice it is the level, or a little more.

    The probability is over the draw of samples and new one together. Each *interval* has it by itself; a *region*, and
    a *band*, holds all outputs, or all points of the curve, at once. Of an output with gaps the promise is of what will
    be observed of a new one with gaps of the same kind; outputs that too few samples have are free, with infinite ends.
    A *set* of objects holds the new one if it is a candidate at all: the promise is of "it is, and was left out" having
    at most the rest of the probability. Pairs of nodes are the samples of a ``LinkPredictor``: a link that is hidden at
    random is among the *partners*. What a model without a sample holds fixed is not exact: for "jackknife+" in
    closed form these are alpha n, kernel and operator where they were chosen by all samples, for folds of "auto" with
    other losses alpha n, kernel and constants of the loss.

    Parameters
    ----------
    estimator : regressor with one or several outputs, default ``OperatorKernelRegressor()``; a ``StructuredPredictor``
        for ``predict_set``, a ``LinkPredictor`` for ``predict_set`` and ``predict_probability``
    method : "auto", "jackknife+", "cv+" or "split"
        "jackknife+": a model without each sample. In closed form, with no refit, for estimators of the package with the
        squared loss where ``machine_.has_leave_one_out_models`` says so,
        also behind steps of a pipeline that learn nothing (neither in
        ``fit`` nor from the batch that they are given) and in ``RegularizationPathCV`` (its
        alpha is that of all samples, as with alpha="auto"); n refits elsewhere.
        "cv+": a model without each of ten folds, or as ``cv`` says. "split": one model of some samples, calibrated on
        the others. "auto": jackknife+ where it has a closed form and there are up to 5000 samples, cv+ for up to
        10 000, split for more; cv+ where ``cv`` or groups are given. Folds of an estimator of the package with another
        loss than the squared then share what was chosen by all samples, and kernel values
        (``machine.wrapping.fit_with_parts``); with method="cv+" each chooses for itself.
    level : float between 0 and 1, the coverage aimed at
    score : "auto", of numbers "constant", "scale", "robust", "trimmed", "mahalanobis" or one of ``conformal.scores``
        How far an output is from a prediction, for regions and bands: the largest of its residuals relative to a
        scale (boxes and bands, see ``scores.MaxScaled``), or their length (ellipsoids). Intervals do not depend on it.
        Of objects "gap", "objective", "rank", "likelihood", "cumulative", "loss", or an object of
        ``conformal.candidate_scores``: how far the decoder's objective at a candidate is above its minimum ("gap",
        also "auto"), the objective, the candidate's rank, softmax-like masses, or the loss to the prediction ("auto"
        where outputs cannot be listed). "gap" has the smallest sets in the median on most data, "rank" and
        "likelihood" in the mean where a few queries are hard.
        An estimator that predicts quantiles takes "auto": how far an output is beyond the two of its levels nearest to
        ``(1 -+ level) / 2``, so that the width of intervals and bands follows the input (Romano et al. 2019).
    cv : None, number of folds, splitter of scikit-learn or iterable of (train, test)
        Test parts must not overlap. For "split" the first pair counts.
    calibration : share, or number, of the samples that calibrate, for "split"
    n_jobs : models that are fitted at the same time, as elsewhere in scikit-learn
    random_state : of folds of "cv+" and the parts of "split", as elsewhere in scikit-learn
        They are drawn by position: the same samples in another order are another draw. "jackknife+" draws nothing and
        does not depend on the order.
    verbose : 1 shows how many models are fitted, and how long it takes

    Attributes
    ----------
    estimator_ : the fitted estimator that ``predict`` asks: of all samples, for "split" of those that do not calibrate
    method_ : the method in use
    closed_form_ : whether models without a sample came from a formula
    n_calibration_ : number of samples left out, by whose scores sets are made

    References
    ----------
    - Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic learning in a random world. Springer.
    - Barber, R. F., Candes, E. J., Ramdas, A. and Tibshirani, R. J. (2021). Predictive inference with the jackknife+.
      Annals of Statistics 49(1).
    - Romano, Y., Patterson, E. and Candes, E. J. (2019). Conformalized quantile regression. NeurIPS.
    - Diquigiovanni, J., Fontana, M. and Vantini, S. (2022). Conformal prediction bands for multivariate functional
      data. Journal of Multivariate Analysis 189.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import ConformalPredictor, OperatorKernelRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(120, 1))
    >>> Y = np.hstack([np.sin(6 * X), np.cos(6 * X)]) + 0.1 * rng.normal(size=(120, 2))
    >>> model = ConformalPredictor(OperatorKernelRegressor(), level=0.9).fit(X[:100], Y[:100])
    >>> model.method_
    'jackknife+'
    >>> model.predict_interval(X[100:]).shape
    (20, 2, 2)
    >>> region = model.predict_region(X[100:])
    >>> bool(region.contains(Y[100:]).mean() > 0.7)
    True

    Objects have sets of candidates:

    >>> from hilbertlearn import StructuredPredictor
    >>> labels = [("low", "middle", "high")[int(3 * x)] for x in X[:, 0]]
    >>> sets = ConformalPredictor(StructuredPredictor()).fit(X[:100], labels[:100]).predict_set([[0.1], [0.66]])
    >>> sets[0]
    ['low']
    """

    calibration_: Any
    _known_: Any = None  # columns of inputs that are values with all samples, where the model knows some
    estimator_: Any

    def __init__(
        self,
        estimator=None,
        method="auto",
        level=0.9,
        score="auto",
        *,
        cv=None,
        calibration=0.3,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        store(self, locals())

    # ---------------------------------------------------------------- fit

    @transactional
    @with_fit_callbacks
    def fit(self, X, y=None, sample_weight=None, groups=None, candidates_per_query=None):
        """Fit the estimator, and models without some samples; NaN in y means not observed, if the estimator takes it.

        Parameters
        ----------
        X : inputs as the estimator takes them, which can be indexed by rows
        y : (n,) numbers, (n, d) vectors, (n, m), (n, m, p) or (n, m_1, m_2) functions on a grid, a data frame,
            ``IrregularFunctions``, a FDataGrid, FDataIrregular or FDataBasis, as the estimator takes them;
            objects of a ``StructuredPredictor``; the graph of a ``LinkPredictor``, None beside ``graphs.Pairs``
        sample_weight : (n,) non-negative weights of the loss, those of weight 0 are left out. For a known shift of the
            inputs they are ratios of densities, of the queries' law to the samples'; see ``predict_interval``. Those of
            a pipeline go to its last step; with metadata routing enabled they go where the estimator requests them,
            ``estimator.set_fit_request(sample_weight=True)``.
        groups : (n,) of samples that belong together, which are left out together
        candidates_per_query : of a ``StructuredPredictor``, a list with a collection of candidates for each sample, its
            output among them, where queries will have candidates of their own too; see ``predict_set``
        """
        check_collected(X, "X")
        check_collected(y, "y")
        check_choice(self.method, "method", METHODS)
        if self.method == "jackknife+" and self.cv is not None:
            raise ValueError(f"cv={self.cv!r}: 'jackknife+' leaves out each sample; set cv=None, or method='cv+'")
        level, wrapped = check_level(self.level), self._wrapped()
        check_estimator(wrapped)
        if self._fit_special(level, X, y, sample_weight, groups, candidates_per_query):
            self._take_over_features()
            return
        levels = levels_of(wrapped)
        score = as_score(self.score) if levels is None else self._score_of_quantiles()
        data, groups = self._data(X, y, sample_weight, levels), self._groups(X, groups)
        if data.form.irregular and not score.pointwise:
            raise ValueError("score='mahalanobis' is not for functions at points of their own; use 'auto' or 'scale'")
        method = self._first_choice(data, groups)
        check_enough(len(data.rows), level, method)
        closed_form, part = self._fit_whole(method, data, indexable(y)[0], groups)
        if method == "auto":
            method = "cv+" if closed_form is None else "jackknife+"
        functions = data.form if levels is None and of_functions(wrapped, y) else None
        learn = partial(_scale, score, level, functions) if score.learns else None
        left: LeavingOut
        if closed_form is not None:
            left = in_closed_form(closed_form, data, learn)
        else:
            splits = self._splits(method, data, groups)
            check_enough(sum(len(test) for _, test in splits), level, method)
            left = by_refits(wrapped, data, splits, learn, part=part, n_jobs=self.n_jobs, progress=self._progress())
        if method == "split":
            (self.estimator_,), (self._known_,) = left.models, left.columns
        self.form_ = data.form
        kind = Calibration if levels is None else QuantileCalibration
        self.calibration_ = kind(left, score, data.values[left.rows], data.weights[left.rows], level)
        self.method_, self.closed_form_, self.n_calibration_ = method, closed_form is not None, len(left.rows)
        self._take_over_features()

    def facts(self) -> Facts:
        """What is promised, and by which samples; then what the estimator found."""
        check_is_fitted(self)
        facts: Facts = [
            ("promised level", self.calibration_.level),
            ("method", f"{self.method_}{', in closed form' * self.closed_form_}"),
            ("calibration size", self.n_calibration_),
        ]
        covered = getattr(self.calibration_, "covered", None)
        facts += [] if covered is None else [("share of it covered", covered)]
        inner = self.estimator_.facts() if hasattr(self.estimator_, "facts") else [("estimator", self.estimator_)]
        return facts + inner

    def _take_over_features(self):
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))

    def _fit_whole(self, method, data: Data, y, groups):
        """Fit the estimator to all samples, but for a split.

        Returns the machine with a formula for models without each sample, and what fits models of parts with what was
        chosen by all samples; None where there are none.
        """
        if method == "split":
            return None, None
        self.estimator_ = clone(self._wrapped())
        given = (self.estimator_, data.X, y, data.sample_weight)
        with self._one_model(), propagate_callbacks(self.estimator_):
            if self.method == "auto" and can_fit_parts(self.estimator_):
                weights = weights_of_machine(self.estimator_, data.sample_weight)
                return None, fit_with_parts(self.estimator_, data.X, y, weights)
            if method != "cv+" and groups is None:
                return KernelMachineBehind.fitted(*given), None
            fitted(*given)
        return None, None

    def _wrapped(self):
        if self.estimator is not None:
            return self.estimator
        default = OperatorKernelRegressor()
        return default.set_fit_request(sample_weight=True) if routing_enabled() else default

    def _score_of_quantiles(self):
        if not isinstance(self.score, Quantiles) and self.score != "auto":
            raise ValueError(
                f"score={self.score!r} is of residuals around one prediction, and the estimator predicts quantiles; "
                "set score='auto'"
            )
        return Quantiles()

    def _data(self, X, y, sample_weight, levels=None) -> Data:
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        X, y = indexable(X)[0], indexable(y)[0]
        form = OutputForm.of(y, grid_of(self._wrapped()))
        form = form if levels is None else QuantileForm.around(form, levels, float(self.level))
        if form.irregular:
            y = with_common_domain(y)
        values = form.seen(y)
        n = _num_samples(X)
        if len(values) != n:
            raise ValueError(f"X and y must have as many samples, got inconsistent numbers {n} and {len(values)}")
        counts = values.known
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, counts[:, None], dtype=float, ensure_non_negative=True)
            counts &= sample_weight > 0
        return Data(X, y, values, form, sample_weight, np.flatnonzero(counts))

    def _groups(self, X, groups):
        if groups is None:
            return None
        groups = column_or_1d(groups)
        if len(groups) != _num_samples(X):
            raise ValueError(f"groups must have one entry a sample, got {len(groups)} for {_num_samples(X)}")
        return groups

    def _first_choice(self, data, groups):
        """The method as far as it is known before a fit."""
        if self.method != "auto":
            return self.method
        if len(data.rows) > _SPLIT and self.cv is None:
            return "split"
        given = self.cv is not None or groups is not None or len(data.rows) > _CLOSED_FORM
        return "cv+" if given else "auto"

    def _splits(self, method, data, groups):
        if method == "split":
            return halves(data, self.calibration, self.cv, groups, self.random_state)
        return each(data, groups) if method == "jackknife+" else folds(data, self.cv, groups, self.random_state)

    # ---------------------------------------------------------------- predict

    @available_if(lambda self: hasattr(self._wrapped(), "predict"))
    def predict(self, X, **options):
        """Predictions of the wrapped estimator, which may take options: ``candidates`` for instance."""
        check_is_fitted(self)
        return self.estimator_.predict(X if self._known_ is None else among(X, self._known_), **options)

    def predict_interval(self, X, sample_weight=None):
        """An interval for each output by itself: (m, 2) for y (n,), (m, d, 2) for y (n, d), lower and upper ends.

        Parameters
        ----------
        X : inputs
        sample_weight : (m,) weights of the queries, for a known shift of the inputs (Tibshirani et al. 2019): ratios of
            densities, in the units of those that ``fit`` had, which then count in the calibration too. None: the
            samples count alike, whatever weights the model was fitted with. A query that weighs much has an infinite
            interval: there are too few samples like it.
        """
        X, own = indexable(X)[0], self._own(X, sample_weight)
        lower, upper = self._fitted().intervals(X, own)
        self._say_infinite(upper, own)
        form = self.form_
        return np.stack([form.array(lower), form.array(upper)], axis=-1)

    def predict_region(self, X, sample_weight=None) -> Region:
        """Regions for all outputs at once: a ``Box``, or an ``Ellipsoid`` for score="mahalanobis".

        They have ``contains(y)``, ``lower``, ``upper`` and ``volume()``. X, sample_weight : as in ``predict_interval``
        """
        kind = Ellipsoid if isinstance(self._fitted().score, Mahalanobis) else Box
        return self._region(kind, X, sample_weight)

    def predict_band(self, X, sample_weight=None, grid=None) -> Band:
        """Bands that hold the function at all points at once; outputs of any kind are taken as values on a grid.

        They have ``contains(y)``, ``lower``, ``upper``, ``width`` and ``mean_width()``. Of functions at points of their
        own the score is the largest at these points, and ``contains`` looks at those of each new one; bands are on the
        grid of the model's predictions. What is promised is of the points at which functions are seen.

        Parameters
        ----------
        X, sample_weight : as in ``predict_interval``
        grid : increasing points (m,), or a tuple of them for several variables; None for the training grid. Between
            its points predictions and scales are linear.
        """
        if isinstance(self._fitted().score, Mahalanobis):
            raise ValueError("predict_band has no score='mahalanobis'; set score='scale', 'trimmed' or 'constant'")
        return self._region(Band, X, sample_weight, grid=grid)

    def _region(self, kind, X, sample_weight, **where):
        X, own = indexable(X)[0], self._own(X, sample_weight)
        region = kind.of(self._fitted(), X, self.form_, own, **where)
        self._say_infinite(region.ends[1], own)
        return region

    def _fitted(self) -> Calibration:
        return self._calibrated(Calibration, "intervals, regions and bands")

    def _calibrated(self, kind, what):
        check_is_fitted(self)
        if not isinstance(self.calibration_, kind):
            name = type(innermost(self.estimator_)[0]).__name__
            numbers = isinstance(self.calibration_, Calibration)
            remedy = "predict_interval, predict_region or predict_band" if numbers else "predict_set"
            raise ValueError(f"{what}: not available for the outputs of {name}; use {remedy}")
        return self.calibration_

    def _own(self, X, sample_weight):
        check_is_fitted(self)
        if sample_weight is None:
            return None
        return _check_sample_weight(
            sample_weight, np.empty((_num_samples(X), 1)), dtype=float, ensure_non_negative=True
        )

    def _say_infinite(self, upper, own):
        if own is None and np.isinf(upper).any():
            warn(
                "some outputs were observed in too few samples for the level, or in none, their intervals are "
                "infinite; take a lower level, or more samples that observe them"
            )

    def __sklearn_is_fitted__(self):
        return hasattr(self, "calibration_")

    def get_metadata_routing(self):
        """Metadata routing: ``fit`` uses its arguments itself and hands sample_weight on to the estimator."""
        return router_to(self, estimator=self._wrapped()).add_self_request(self)

    def __sklearn_tags__(self):
        return with_tags_of(self._wrapped(), super().__sklearn_tags__())


def _scale(score, level, functions, residuals, outputs, weights, model):
    """What a fitted model has learnt of the sizes of residuals (n, d) of outputs (n, d).

    functions : the form of outputs that are functions, None for others
    """
    units = units_of(outputs)
    units = units if functions is None else functions.common(units)
    found = score.learn_in_units(residuals, units, weights, level, resists_outliers(model))
    return functions.smoothed(found) if functions is not None and score.smooth else found
