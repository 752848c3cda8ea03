"""Losses of labels -1 and 1 against their formulas, and predictions that are scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn.output_losses import Hinge, Logistic

SCORES, LABELS = np.linspace(-3, 3, 13), np.array([-1.0, 1.0])


@pytest.mark.parametrize(
    ("loss", "formula"),
    [(Hinge(), lambda z, y: max(0.0, 1 - z * y)), (Logistic(), lambda z, y: np.log(1 + np.exp(-z * y)))],
    ids=["hinge", "logistic"],
)
def test_losses_of_scores(loss, formula):
    expected = [[formula(z, y) for y in LABELS] for z in SCORES]
    assert_allclose(loss(loss.check_predictions(SCORES), loss.check(LABELS)), expected)


@pytest.mark.parametrize("loss", [Hinge(), Logistic()], ids=["hinge", "logistic"])
def test_outputs_are_labels_and_predictions_are_numbers(loss):
    with pytest.raises(ValueError, match="labels -1 and 1, got 0, 1"):
        loss.check([0.0, 1.0])
    assert_allclose(loss.check_predictions([0.3, -2.0]), [0.3, -2.0])


def test_the_logistic_score_is_the_log_odds():
    """Of weights p and 1 - p for the two labels."""
    from hilbertlearn.decoders.scalar import decode_scalar

    shares = np.array([0.1, 0.5, 0.9])
    found = decode_scalar(np.stack([1 - shares, shares], axis=1), LABELS, Logistic())
    assert_allclose(found, np.log(shares / (1 - shares)), atol=1e-6)
