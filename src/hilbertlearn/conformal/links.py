"""Strategy for links of graphs: sets of partners, and calibrated probabilities."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.base import clone

from .link_calibration import LinkCalibration, fit_link_models, read_pairs, split_pairs
from .output_sets import OutputSets, refuse_candidates
from .splits import check_enough
from .wrapped import fit_model, unwrap


@dataclass(frozen=True, eq=False, kw_only=True)
class LinkSets(OutputSets):
    """Sets of partners and probabilities around a ``LinkPredictor``."""

    methods = ("predict_set", "predict_probability")

    calibration: LinkCalibration

    @classmethod
    def fit(cls, settings, X, y, sample_weight=None, groups=None, candidates_per_query=None):
        refuse_candidates(candidates_per_query)
        estimator = settings.estimator
        if unwrap(estimator, sklearn_searches=True)[0] is not estimator:
            raise TypeError("estimator: pairs of nodes go to a LinkPredictor itself; transform the features before")
        if sample_weight is not None or groups is not None:
            raise ValueError("sample_weight and groups are not for links: pairs of nodes count alike; leave them out")
        if settings.method == "jackknife+":
            raise ValueError(
                "method='jackknife+': a model without each pair of nodes is too many; use 'cv+' or 'split'"
            )
        pairs, linked = read_pairs(X, y)
        method = "cv+" if settings.method == "auto" else settings.method
        splits = split_pairs(pairs, linked, method, settings.cv, settings.calibration, settings.random_state)
        n_links = sum(int(linked[test].sum()) for _, test in splits)
        check_enough(n_links, "links", settings.level, method)
        models = fit_link_models(estimator, pairs, linked, splits, n_jobs=settings.n_jobs, progress=settings.progress)
        if method == "split":
            (predictor,) = models.models
        else:
            with settings.full_model_progress():
                predictor = fit_model(clone(estimator), pairs, linked)
        return cls(
            estimator=predictor,
            calibration=LinkCalibration(models, predictor, pairs, settings.level),
            method=method,
            closed_form=False,
            reason="pairs of nodes are hidden in folds" if settings.method == "auto" else "as given",
            n_calibration=n_links,
        )

    def predict_set(self, X=None, candidates=None, candidates_per_query=None, sample_weight=None, allow_empty=False):
        if candidates is not None or candidates_per_query is not None or sample_weight is not None:
            raise ValueError("candidates and sample_weight are not for links: the known nodes are the candidates")
        return self.calibration.partners(X)

    def predict_probability(self, X, method="auto"):
        return self.calibration.probability(X, method)
