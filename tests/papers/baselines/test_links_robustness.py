"""Compared methods of links: failed fits, unlabelled nodes, scores."""

import numpy as np
import pytest
from helpers.graph_robustness import KNOWN, L, N, W, X
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import (
    baselines,
)

LABELLED_ONLY = [
    baselines.LocalLinkModel,
    baselines.KernelMetricLearning,
    baselines.KernelCCALinks,
    baselines.KernelMatrixRegression,
]
LINKS = [*LABELLED_ONLY, baselines.NaiveLinkPredictor, baselines.EMKernelCompletion]


def test_nadaraya_watson_of_curves_fits():
    assert baselines.FunctionalNadarayaWatson().fit(X, np.sin(X[:, :1] + np.linspace(0, 3, 9))).predict(X).shape == (
        N,
        9,
    )


@pytest.mark.parametrize("method", LINKS)
def test_a_baseline_whose_fit_fails_is_as_before(method):
    model = method().fit(X, W)
    before = model.pair_scores(X[:4])
    with pytest.raises(ValueError):
        model.fit(X[:5, :2], W)
    assert_array_equal(model.pair_scores(X[:4]), before)


@pytest.mark.parametrize("method", LABELLED_ONLY)
def test_unlabelled_nodes_have_no_part_in_the_bandwidth(method):
    model, alone = method().fit(X, KNOWN), method().fit(X[:L], KNOWN)
    assert model.gamma_ == alone.gamma_
    assert_allclose(model.pair_scores(X[L:]), alone.pair_scores(X[L:]))


@pytest.mark.parametrize("method", LINKS)
def test_baselines_have_a_score(method):
    assert 0 <= method().fit(X[:L], KNOWN).score(X, W) <= 1
