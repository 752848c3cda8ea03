"""scikit-learn's scorers of functions: the mean over the points of the grid, where they are observed."""

import numpy as np
import pytest
from sklearn.metrics import mean_squared_error, r2_score

from hilbertlearn import IrregularFunctions
from hilbertlearn.metrics import FunctionalScorer

rng = np.random.default_rng(0)
Y, PREDICTED, WEIGHTS = rng.normal(size=(8, 5)), rng.normal(size=(8, 5)), rng.uniform(1, 2, 8)
GAPS = np.where(rng.random(Y.shape) < 0.2, np.nan, Y)


class Model:
    """Predicts what was given."""

    def __init__(self, predictions):
        self.predictions = predictions

    def predict(self, X):
        return self.predictions


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_without_gaps_it_is_the_scorer_of_arrays(weights):
    score = FunctionalScorer("r2")(Model(PREDICTED), None, Y, sample_weight=weights)
    assert score == pytest.approx(r2_score(Y, PREDICTED, sample_weight=weights))


def test_gaps_are_left_out_point_by_point():
    score = FunctionalScorer("neg_mean_squared_error")(Model(PREDICTED), None, GAPS)
    expected = [
        np.mean([(t - p) ** 2 for t, p in zip(*column) if np.isfinite(t)]) for column in zip(GAPS.T, PREDICTED.T)
    ]
    assert score == pytest.approx(-np.mean(expected))


def test_several_curves_a_sample_are_scored_together():
    score = FunctionalScorer("neg_mean_squared_error")(Model(PREDICTED.reshape(8, 5, 1)), None, Y.reshape(8, 5, 1))
    assert score == pytest.approx(-mean_squared_error(Y, PREDICTED))


def test_refused():
    with pytest.raises(ValueError, match="same points"):
        FunctionalScorer()(Model(PREDICTED[:, :4]), None, Y)
    with pytest.raises(ValueError, match="no observed value"):
        FunctionalScorer()(Model(PREDICTED), None, np.full_like(Y, np.nan))
    curves = IrregularFunctions([[0.0, 1.0]], [[1.0, 2.0]])
    with pytest.raises(ValueError, match="without a common grid"):
        FunctionalScorer()(Model(curves), None, curves)
