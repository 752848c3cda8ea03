"""``ConformalPredictor``: prediction sets with guaranteed coverage around any estimator."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._utils.callbacks import FitCallbacksMixin, with_fit_callbacks
from .._utils.fitting import (
    available_if_checked,
    copy_feature_names,
    router_to,
    routing_enabled,
    store,
    transactional,
    with_tags_of,
)
from .._utils.summary import SummaryItems, SummaryMixin
from ..data.frames import check_collected
from ..vector import OperatorKernelRegressor
from .links import LinkSets
from .objects import ObjectSets
from .output_sets import ALL_SAMPLES, FOLDS, GIVEN, OutputSets
from .quantiles import QuantileSets
from .regions import Band, Region
from .rows import RowSets
from .settings import ConformalSettings
from .wrapped import check_estimator, strategy_name, unwrap

STRATEGIES: dict[str, type[OutputSets]] = {
    "rows": RowSets,
    "quantiles": QuantileSets,
    "objects": ObjectSets,
    "links": LinkSets,
}

_UNKNOWN = "unknown"  # of models in files of earlier versions, which store neither reason nor selection
_SELECTIONS = {
    GIVEN: "given",
    FOLDS: "selected without the calibration samples of each model",
    ALL_SAMPLES: "selected with all samples, so that the guarantee is approximate",
    _UNKNOWN: "unknown, because the file is of an earlier version; fit again",
}


def _offers(name):
    """Decorator that makes a prediction method available only if the strategy of the estimator lists it.

    The AttributeError of a missing method lists the available ones.
    """

    def check(predictor):
        methods = predictor._strategy.methods
        if name not in methods:
            estimator = type(unwrap(predictor._wrapped(), sklearn_searches=True)[0]).__name__
            alternatives = " or ".join([", ".join(methods[:-1]), methods[-1]] if len(methods) > 1 else methods)
            raise AttributeError(f"{name}: not available for the outputs of {estimator}; use {alternatives}")

    return available_if_checked(check)


class ConformalPredictor(FitCallbacksMixin, SummaryMixin, MetaEstimatorMixin, BaseEstimator):
    """Intervals, regions, bands and sets with guaranteed coverage, around an estimator of the package or scikit-learn.

    *The guarantee.* Let the samples and a new one be exchangeable (for example independent with the same law), and let
    the fit of the estimator not depend on the order of the samples. Then, for any model and any law, the set at the new
    input contains the new output with probability at least

    - ``level`` for "split";
    - ``1 - 2 (1 - level)`` for "jackknife+", and ``1 - 2 (1 - level) - min(2 (1 - 1/K) / (n/K + 1), (1 - K/n) / (K +
      1))`` for "cv+" with K folds (Barber et al. 2021). In practice the coverage is the level, or a little more.

    The probability is over the draw of the samples and the new one together. An *interval* has it for one output; a
    *region*, or a *band*, for all outputs, or all points of the curve, simultaneously. For outputs with gaps it
    concerns the observed part of a new output with gaps of the same kind; outputs that too few samples observe have
    infinite ends. A *set* of objects can only contain candidates: the event "the new output is a candidate and not in
    the set" has at most the rest of the probability. The samples of a ``LinkPredictor`` are pairs of nodes: a link that
    is hidden at random is among the *partners*.

    Far from all samples no calibration sample says how large errors are. ``predict_interval``, ``predict_region`` and
    ``predict_band`` warn of queries whose ``novelty`` is above a threshold, half way from the most isolated sample,
    seen from the others, to inputs of which the samples say nothing. They do so for kernel machines of up to 5000
    samples, or features.

    *Settings that are selected from the data*, such as kernel and alpha, belong to the fit: a model without a sample
    must not know settings that were selected with it. Refits select their own. Models in closed form, and the folds of
    "auto" with losses other than the squared one, do so for up to 300 samples, and of any number where a metric of the
    inputs is learnt; with more they share the settings of all samples, and the guarantee is approximate
    (``selection_``). So do models in closed form of any number of samples on features, with ``alpha_per_output=True``,
    and in ``RegularizationPathCV``. In closed form the settings of the model without a sample are selected without its
    fifth of the samples: jackknife+ by refits but for these folds, so that its bound is not proven either. Measured at
    level 0.9 with 20 to 100 samples and six kinds of noise: 0.90 to 0.92,
    and 0.86 to 0.90 where settings were selected once; with 500 samples that costs at most 0.006.

    Parameters
    ----------
    estimator : estimator, default=None
        A regressor with one or several outputs, a ``StructuredPredictor`` for ``predict_set``, or a ``LinkPredictor``
        for ``predict_set`` and ``predict_probability``. None is ``OperatorKernelRegressor()``. Its class attribute
        ``conformal_strategy`` ("rows" by default, "quantiles", "objects" or "links") decides which prediction methods
        there are.
    method : {"auto", "jackknife+", "cv+", "split"}, default="auto"
        - "jackknife+": one leave-one-out model per sample. They have a closed form, without refits, for estimators of
          the package with the squared loss, also after pipeline steps that learn nothing (neither in ``fit`` nor from
          their batch) and in ``RegularizationPathCV`` (whose alpha is that of all samples). Other estimators are
          refitted n times.
        - "cv+": one model per fold, ten folds or as ``cv`` says.
        - "split": one model of a part of the samples, calibrated on the others.
        - "auto": "jackknife+" where it has a closed form and there are up to 5000 samples (500 for objects), "cv+" for
          up to 10 000 samples, "split" above; "cv+" where ``cv`` or groups are given. ``method_reason_`` is the reason.
          The folds of an estimator of the package with another loss than the squared one share, with more than 300
          samples, kernel values and the settings selected from all samples; with method="cv+" each fold selects its
          own.
    level : float between 0 and 1, default=0.9
        The nominal coverage.
    score : str or object of ``conformal.scores`` or ``conformal.candidate_scores``, default="auto"
        The distance of an output from a prediction.

        - For numbers: "constant", "scale", "robust", "trimmed", "mahalanobis", "novelty", or an object of
          ``conformal.scores``. It is the largest residual relative to a scale (boxes and bands, see
          ``scores.ScaledMaximum``), or the Mahalanobis length (ellipsoids). "auto" is "robust" for robust losses and
          "scale" otherwise. Intervals do not depend on it, except for "novelty": the residual is relative to the spread
          of the kernel's posterior at the input, so that sets are wider where there are fewer samples (see
          ``scores.NoveltyScaled``).
        - For objects: "gap", "objective", "rank", "likelihood", "cumulative", "loss", or an object of
          ``conformal.candidate_scores``. "gap" is the difference of the decoder's objective at a candidate and its
          minimum, "objective" the objective itself, "rank" the candidate's rank, "likelihood" and "cumulative" use
          softmax-like masses, "loss" is the output loss to the prediction. "auto" is "gap", or "loss" where outputs
          cannot be listed. "gap" has the smallest sets in the median on most data, "rank" and "likelihood" in the mean
          where a few queries are hard.
        - For quantiles: "auto" only, the distance of an output beyond the two levels nearest to ``(1 -+ level) / 2``.
          The width of intervals and bands follows the input (Romano et al. 2019).
    cv : int, splitter of scikit-learn or iterable of (train, test), default=None
        The folds of "cv+"; None is ten folds, five for links. Test parts must not overlap. "split" uses the first pair.
    calibration : float or int, default=0.3
        Share, or number, of the calibration samples of "split".
    n_jobs : int, default=None
        Number of models that are fitted at the same time, as elsewhere in scikit-learn.
    random_state : int, RandomState or None, default=None
        Seed of the folds of "cv+" and of the parts of "split". They are drawn by position: the same samples in another
        order are another draw. "jackknife+" draws nothing and does not depend on the order.
    verbose : int, default=0
        1 shows the number of fitted models and the time they take.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator behind ``predict``: fitted to all samples, for "split" to the training part.
    method_ : {"jackknife+", "cv+", "split"}
        The method in use.
    method_reason_ : str
        Why "auto" selected it, in words; "as given" for other values of ``method``. "unknown" for a model in a file of
        an earlier version.
    selection_ : {"given", "folds", "all samples", "unknown"}
        How kernel, alpha and other settings of the models without some samples were selected: not at all; by each model
        without its calibration samples; with all samples, so that the guarantee is approximate. "unknown" for a model
        in a file of an earlier version.
    closed_form_ : bool
        Whether leave-one-out models came from a closed form.
    n_calibration_ : int
        Number of calibration samples, or links.
    sets_ : conformal.output_sets.OutputSets
        The fitted strategy.

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

    sets_: OutputSets
    method_reason_ = selection_ = _UNKNOWN

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

    @transactional
    @with_fit_callbacks
    def fit(self, X, y=None, sample_weight=None, groups=None, candidates_per_query=None):
        """Fit the estimator, and models without some samples that calibrate the sets.

        Parameters
        ----------
        X : array-like of length n
            Inputs as the estimator takes them; they can be indexed by rows.
        y : array-like of length n or graph, default=None
            Outputs: (n,) numbers, (n, d) vectors, (n, m), (n, m, p) or (n, m_1, m_2) functions on a grid, a data
            frame, ``IrregularFunctions``, a FDataGrid, FDataIrregular or FDataBasis; objects of a
            ``StructuredPredictor``; the graph of a ``LinkPredictor``, None with ``graphs.Pairs``. NaN means not
            observed, if the estimator accepts it.
        sample_weight : (n,) array, default=None
            Non-negative weights of the loss; samples of weight 0 are dropped. For a known shift of the inputs they are
            ratios of densities, of the queries' law to the samples'; see ``predict_interval``. A pipeline passes them
            to its last step; with metadata routing enabled they go where the estimator requests them,
            ``estimator.set_fit_request(sample_weight=True)``.
        groups : (n,) array, default=None
            Samples of one group are left out together. The guarantee is for a sample of a new group: groups are the
            exchangeable units, each counts once, and sets are infinite where there are too few of them.
        candidates_per_query : list of n collections, default=None
            For a ``StructuredPredictor``: the candidates of each sample, its output among them, where queries will have
            their own candidates too; see ``predict_set``.

        Returns
        -------
        self : ConformalPredictor
            The fitted predictor.
        """
        check_collected(X, "X")
        check_collected(y, "y")
        estimator = self._wrapped()
        settings = ConformalSettings.from_predictor(self, estimator)
        check_estimator(estimator)
        self.sets_ = STRATEGIES[strategy_name(estimator)].fit(
            settings, X, y, sample_weight, groups, candidates_per_query
        )
        self.estimator_, self.method_ = self.sets_.estimator, self.sets_.method
        self.method_reason_, self.selection_ = self.sets_.reason, self.sets_.selection
        self.closed_form_, self.n_calibration_ = self.sets_.closed_form, self.sets_.n_calibration
        copy_feature_names(self.estimator_, self)

    def summary_items(self) -> SummaryItems:
        """Level, method and calibration samples; then the items of the estimator."""
        check_is_fitted(self)
        facts: SummaryItems = [
            ("level", self.sets_.calibration.level),
            ("method", f"{self.method_}{', in closed form' * self.closed_form_}"),
            ("reason", self.method_reason_),
            ("settings of its models", _SELECTIONS[self.selection_]),
            ("calibration size", self.n_calibration_),
        ]
        coverage = self.sets_.coverage
        facts += [] if coverage is None else [("calibration coverage", coverage)]
        inner = (
            self.estimator_.summary_items()
            if hasattr(self.estimator_, "summary_items")
            else [("estimator", self.estimator_)]
        )
        return facts + inner

    def _wrapped(self) -> Any:
        """The estimator, or its default."""
        if self.estimator is not None:
            return self.estimator
        default = OperatorKernelRegressor()
        return default.set_fit_request(sample_weight=True) if routing_enabled() else default

    @property
    def _strategy(self) -> type[OutputSets]:
        """The strategy of the last fit; before a fit that of the estimator."""
        return type(self.sets_) if hasattr(self, "sets_") else STRATEGIES[strategy_name(self._wrapped())]

    def _fitted(self) -> Any:
        check_is_fitted(self)
        return self.sets_

    # ---------------------------------------------------------------- predict

    @available_if(lambda self: hasattr(self._wrapped(), "predict"))
    def predict(self, X, **options):
        """Predict with the wrapped estimator.

        Parameters
        ----------
        X : array-like of length m
            Inputs.
        **options : dict
            Options of its ``predict``, for example ``candidates``.

        Returns
        -------
        y : array-like of length m
            Predictions in the form of the training outputs.
        """
        return self._fitted().predict(X, **options)

    @_offers("predict_interval")
    def predict_interval(self, X, sample_weight=None):
        """Predict an interval for each output by itself.

        Parameters
        ----------
        X : array-like of length m
            Inputs.
        sample_weight : (m,) array, default=None
            Weights of the queries, for a known shift of the inputs (Tibshirani et al. 2019): ratios of densities, in
            the units of those given to ``fit``, which then count in the calibration too. None gives all calibration
            samples the same weight, with whatever weights the model was fitted. A query of large weight has an infinite
            interval: there are too few samples like it.

        Returns
        -------
        intervals : (m, 2) array for y (n,), (m, d, 2) for y (n, d)
            Lower and upper ends.
        """
        return self._fitted().predict_interval(X, sample_weight)

    @_offers("predict_region")
    def predict_region(self, X, sample_weight=None) -> Region:
        """Predict regions for all outputs simultaneously.

        Parameters
        ----------
        X : array-like of length m
            Inputs.
        sample_weight : (m,) array, default=None
            As in ``predict_interval``.

        Returns
        -------
        regions : Box, or Ellipsoid for score="mahalanobis"
            They have ``contains(y)``, ``lower``, ``upper`` and ``volume()``.
        """
        return self._fitted().predict_region(X, sample_weight)

    @_offers("predict_band")
    def predict_band(self, X, sample_weight=None, grid=None) -> Band:
        """Predict bands that contain the function at all points simultaneously.

        Outputs of any kind count as values on a grid. For irregular functions the score is the largest at the observed
        points, ``contains`` tests a new function at its own points, and bands are on the grid of the predictions. The
        guarantee concerns the points at which functions are observed.

        Parameters
        ----------
        X : array-like of length m
            Inputs.
        sample_weight : (m,) array, default=None
            As in ``predict_interval``.
        grid : (n_points,) array or tuple of arrays, default=None
            Increasing points, for several variables a tuple of them; None is the training grid. Predictions and scales
            are interpolated linearly.

        Returns
        -------
        bands : Band
            They have ``contains(y)``, ``lower``, ``upper``, ``width`` and ``mean_width()``.
        """
        return self._fitted().predict_band(X, sample_weight, grid)

    @_offers("predict_set")
    def predict_set(self, X=None, candidates=None, candidates_per_query=None, sample_weight=None, allow_empty=False):
        """Predict the set of candidates, or of partners, that conform to the calibration samples.

        *Objects* (``StructuredPredictor``). Candidates are scored by the objective that the prediction minimises. The
        default candidates are those of the estimator, the classes, the outputs of fit, all rankings of up to 7 items,
        or all sets of up to 12 labels. Of more items and labels all rankings under Kendall's loss, and all sets under
        the Hamming loss, are searched. For other outputs that the decoder makes the set is a ball of the loss around
        the prediction.

        *Links* (``LinkPredictor``). The partners of a node are the names of the nodes that it may be linked to. A link
        that is hidden in the same way as the calibration pairs is among them with the guaranteed probability.

        Parameters
        ----------
        X : array-like of length m, default=None
            Inputs. For links: features of new nodes, whose partners are known nodes. None is for nodes of fit, whose
            partners come from hidden pairs, or, if there is none, from pairs without a link.
        candidates : collection of outputs, default=None
            The same for all queries. An output that is no candidate is in no set: the event "a new output is a
            candidate and not in the set" has probability at most ``1 - level``.
        candidates_per_query : list of collections, default=None
            The candidates of each query, where ``fit`` had those of each sample, or with score="objective" or "loss",
            which do not compare candidates.
        sample_weight : (m,) array, default=None
            As in ``predict_interval``.
        allow_empty : bool, default=False
            False puts the best candidate into every set; True allows empty sets. Sets of partners may be empty in any
            case.

        Returns
        -------
        sets : CandidateSets, Balls or PartnerSets
            ``CandidateSets`` are a sequence of collections, best first, with ``sizes``, ``contains(y)`` and
            ``p_values``; ``Balls`` have ``center``, ``radius``, ``contains(y)`` and ``sizes``.
        """
        return self._fitted().predict_set(X, candidates, candidates_per_query, sample_weight, allow_empty)

    @_offers("predict_probability")
    def predict_probability(self, X, method="auto"):
        """Predict probabilities of links, calibrated on hidden pairs.

        Parameters
        ----------
        X : graphs.Pairs, list of tuples or array-like of length m
            Hidden pairs of nodes of fit, ``graphs.Pairs`` or a list of tuples of names; or features of m new nodes, for
            their links with the l known ones, ``estimator_.nodes_[estimator_.known_]``.
        method : {"auto", "isotonic", "platt"}, default="auto"
            "isotonic" is a step function of the score, "platt" a logistic one (Platt 1999). "auto" is "isotonic" from
            500 calibration links on, "platt" below.

        Returns
        -------
        probabilities : (m,) array for pairs, (m, l) for new nodes
        """
        return self._fitted().predict_probability(X, method)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "sets_")

    def get_metadata_routing(self):
        """Metadata routing: ``fit`` uses its arguments itself and passes sample_weight to the estimator."""
        return router_to(self, estimator=self._wrapped()).add_self_request(self)

    def __sklearn_tags__(self):
        return with_tags_of(self._wrapped(), super().__sklearn_tags__())
