"""Leave-one-out models of objects in closed form against refits."""

import numpy as np
import pytest
from helpers.conformal_objects import ALPHA, WORDS, conformal, inputs, members_by_definition, predictor, refits, words


@pytest.mark.parametrize("settings", [{"output_loss": "edit"}, {"output_loss": "zero_one"}, {"output_kernel": None}])
@pytest.mark.parametrize("many", [False, True])
def test_jackknife_plus_in_closed_form_equals_refits(settings, many):
    X, y = words(20, 0)
    pool = list(WORDS)
    if many:  # so many outputs that weights are solved for at predict
        y = [f"{word}{i}" for i, word in enumerate(y)]
        pool = y
    if "output_kernel" in settings:
        settings = {"output_kernel": lambda Z, Y: np.array([[0.5 ** abs(len(z) - len(w)) for w in Y] for z in Z])}
    model = conformal("jackknife+", predictor(**settings)).fit(X, y)
    assert model.closed_form_ and model.method_ == "jackknife+"
    queries = inputs(9, 1)
    found = model.predict_set(queries, candidates=pool, allow_empty=True)
    each = [(np.delete(np.arange(20), i), [i]) for i in range(20)]
    models = refits(X, y, each, predictor(**{**settings, "alpha": ALPHA * 20 / 19}))  # alpha n is held fixed
    expected = members_by_definition(models, X, y, queries, pool, "gap")
    assert [set(own.tolist()) for own in found.indices] == expected
