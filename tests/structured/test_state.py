"""One Cholesky factor, with weights solved for at predict, has the predictions of the general solver."""

import numpy as np
import pytest
from helpers.structured_data import (
    ALPHA,
    GAMMA,
    NEW,
    NUMBERS,
    STRINGS,
    VECTORS,
    X,
    predictor,
)
from numpy.testing import assert_allclose, assert_array_equal


@pytest.mark.parametrize(
    ("y", "loss"),
    [
        (NUMBERS, "cauchy"),
        (np.round(NUMBERS, 1), "absolute"),
        (VECTORS, "squared"),
        (np.abs(VECTORS) / np.abs(VECTORS).sum(axis=1, keepdims=True), "hellinger"),
        (np.c_[VECTORS, X, -X], "kendall"),
        ([word + str(i % 13) for i, word in enumerate(STRINGS)], "edit"),
    ],
)
def test_one_cholesky_factor_gives_what_the_general_solver_gives(y, loss):
    quick = predictor(output_loss=loss).fit(X, y)
    general = predictor(output_loss=loss, solver="spectral").fit(X, y)
    assert quick.state_.coefficients is None and general.state_.coefficients is not None  # two ways indeed
    assert_allclose(quick.dual_coef_, general.dual_coef_, atol=1e-8)
    assert_allclose(quick.outlier_scores_, general.outlier_scores_, rtol=1e-6)
    assert_allclose(quick.loo_residuals(), general.loo_residuals(), atol=1e-8)
    assert_array_equal(quick.outputs_, general.outputs_)
    if isinstance(y, list):
        assert quick.predict(NEW) == general.predict(NEW)
    else:
        assert_allclose(quick.predict(NEW), general.predict(NEW), atol=1e-8)
    assert quick.dual_gap_ <= 1e-6 and quick.alpha_ == ALPHA and quick.gamma_ == GAMMA
    assert quick.score(X, y) == pytest.approx(general.score(X, y), abs=1e-8)
