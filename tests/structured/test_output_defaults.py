"""Default kernels and losses by the type of the outputs."""

import pytest
from helpers.structured_data import LABELS, NUMBERS, SETS, STRINGS, VECTORS, X, predictor

from hilbertlearn import kernels
from hilbertlearn import output_losses as ol


@pytest.mark.parametrize(
    ("y", "decoder", "loss"),
    [(NUMBERS, "mean", "SquaredError"), (LABELS, "classes", "ZeroOne"), (SETS, "threshold", "Hamming"),
     (SETS.astype(float), "threshold", "Hamming"), (VECTORS, "mean", "SquaredError")],
)  # fmt: skip
def test_defaults_by_what_the_outputs_are(y, decoder, loss):
    model = predictor().fit(X, y)
    assert (model.decoder_, type(model.output_loss_).__name__) == (decoder, loss) and model.output_kernel_ is None


def test_strings_that_recur_are_classes_and_others_texts():
    labels = predictor().fit(X, STRINGS)
    assert labels.decoder_ == "classes" and isinstance(labels.output_loss_, ol.ZeroOne)
    texts = predictor().fit(X, [f"{word}{i // 2}" for i, word in enumerate(STRINGS)])
    assert isinstance(texts.output_kernel_, kernels.NGrams) and texts.output_loss_ is None
    assert texts.decoder_ == "candidates"
