"""StructuredPredictor against formulas and enumeration."""

import itertools

import numpy as np
import pytest
from helpers.structured_data import (
    ALPHA,
    GAMMA,
    LABELS,
    NEW,
    NUMBERS,
    OBJECTS,
    SETS,
    STRINGS,
    VECTORS,
    M,
    N,
    X,
    check_same,
    intersections,
    jaccard,
    pick,
    predictor,
    ridge_weights,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import StratifiedKFold, cross_val_score

from hilbertlearn import StructuredPredictor, kernels, losses
from hilbertlearn import output_losses as ol


def test_distances_of_a_normalised_kernel_are_output_kernel_regression():
    by_loss = predictor(output_loss=ol.KernelLoss("rbf", gamma=0.7), candidates=VECTORS)
    by_kernel = predictor(output_kernel=kernels.NamedKernel("rbf", 0.7))
    candidates = np.r_[VECTORS, VECTORS + 0.2]
    # distances also count sum(w) k(z, z) once: constant for a normalised kernel
    for pool in (None, VECTORS[::3]):
        assert_array_equal(by_loss.fit(X, VECTORS).predict(NEW, pool), by_kernel.fit(X, VECTORS).predict(NEW, pool))
    order = np.argsort(-ridge_weights() @ rbf_kernel(candidates, VECTORS, gamma=0.7).T, axis=1, kind="stable")
    assert_array_equal(by_loss.predict(NEW, candidates), candidates[order[:, 0]])


def test_zero_one_is_the_least_squares_classifier():
    classes = np.unique(LABELS)
    one_hot = (LABELS[:, None] == classes).astype(float)
    expected = classes[(ridge_weights() @ one_hot).argmax(axis=1)]
    for model in (predictor(), predictor(output_loss="zero_one"), predictor(output_loss=ol.CostMatrix(1 - np.eye(7)))):
        check_same(model.fit(X, LABELS).predict(NEW), expected)
    assert model.score(NEW, expected) == 0
    assert predictor().fit(X, LABELS).score(X, LABELS[::-1]) == -np.mean(
        predictor().fit(X, LABELS).predict(X) != LABELS[::-1]
    )


def test_cost_matrix_is_the_smallest_weighted_cost():
    C = np.random.default_rng(1).uniform(size=(7, 7))
    used = np.unique(LABELS)
    costs = ridge_weights() @ C[:, LABELS].T
    for settings in ({}, {"candidates": np.arange(7)}):
        everything = predictor(output_loss=ol.CostMatrix(C), **settings).fit(X, LABELS).predict(NEW)
        assert_array_equal(everything, costs.argmin(axis=1))
    for settings in ({"decoder": "candidates"}, {"candidates": used}):
        seen = predictor(output_loss=ol.CostMatrix(C), **settings).fit(X, LABELS).predict(NEW)
        assert_array_equal(seen, used[costs[:, used].argmin(axis=1)])


def test_precomputed_inputs():
    K, G = rbf_kernel(X, gamma=GAMMA), rbf_kernel(NEW, X, gamma=GAMMA)
    for y in (NUMBERS, LABELS):
        model = StructuredPredictor("precomputed", alpha=ALPHA).fit(K, y)
        assert_allclose(model.weights(G), ridge_weights(), atol=1e-9)
        assert_allclose(model.predict(G), predictor().fit(X, y).predict(NEW), atol=1e-8)


def test_robust_fit_decoded_by_an_output_loss():
    model = predictor(output_kernel="linear", output_loss="hamming", loss=losses.Huber(0.3)).fit(X, SETS)
    assert model.decoder_ == "threshold"
    W = model.weights(NEW)
    everything = np.array(list(itertools.product([0, 1], repeat=3)))
    best = everything[np.argmin([[(w * (z != SETS).mean(axis=1)).sum() for z in everything] for w in W], axis=1)]
    assert_array_equal(model.predict(NEW), best)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("linear", lambda A, B: A @ B.T),
        ("poly", lambda A, B: polynomial_kernel(A, B, gamma=0.5)),
        ("rbf", lambda A, B: rbf_kernel(A, B, gamma=0.5)),
    ],
)
@pytest.mark.parametrize("center", [False, True])
def test_nearest_candidate_in_the_kernel_space(name, function, center):
    y = VECTORS * np.linspace(0.2, 4, N)[:, None]  # norms differ
    model = predictor(output_kernel=kernels.NamedKernel(name, 0.5), center=center).fit(X, y)
    W = ridge_weights()
    if center:
        W = W + np.outer(1 - W.sum(axis=1), np.ones(N) / N)
    pool = y[::2]
    # ||phi(z) - sum_i w_i phi(y_i)||^2
    constant = np.einsum("qi,ij,qj->q", W, function(y, y), W)
    squares = np.diag(function(pool, pool)) - 2 * W @ function(y, pool) + constant[:, None]
    assert_array_equal(model.predict(NEW, pool), pool[squares.argmin(axis=1)])
    assert_array_equal(model.predict(NEW[:3]), model.predict(NEW[:3], y))
    _, scores = model.predict_topk(NEW, len(pool), pool)
    assert_allclose(scores, np.sort(constant[:, None] - squares, axis=1)[:, ::-1], atol=1e-6)


def test_hinge_maximises_the_inner_product():
    y = VECTORS * np.linspace(0.2, 4, N)[:, None]
    model = predictor(output_kernel="linear", loss="hinge").fit(X, y)
    h = model.weights(NEW) @ y  # the kernel is linear: vectors are their own features
    assert_array_equal(model.predict(NEW), y[(h @ y.T).argmax(axis=1)])
    squared = y[((y**2).sum(axis=1) - 2 * h @ y.T).argmin(axis=1)]
    assert (model.predict(NEW) != squared).any()


def test_kernel_of_sets_that_is_not_normalised():
    model = predictor(output_kernel=intersections).fit(X, OBJECTS)
    pool = list(dict.fromkeys(OBJECTS))
    norms = np.array([len(z) + 1.0 for z in pool])
    best = np.argmin(norms - 2 * ridge_weights() @ intersections(OBJECTS, pool), axis=1)
    assert model.predict(NEW) == [pool[i] for i in best]
    distances = [len(z ^ y) for z, y in zip(model.predict(X), OBJECTS)]  # of this kernel
    assert model.score(X, OBJECTS) == pytest.approx(-np.mean(distances))


MODELS = {
    "kernel of vectors": (predictor(output_kernel="linear"), VECTORS),
    "loss of numbers": (predictor(output_loss="absolute"), NUMBERS),
    "labels": (predictor(), LABELS),
    "strings": (predictor(), STRINGS),
    "sets": (predictor(output_loss=jaccard), OBJECTS),
}


@pytest.mark.parametrize("name", MODELS)
def test_order_of_candidates_does_not_matter_and_each_has_its_place(name):
    model, y = MODELS[name]
    model = clone(model).fit(X, y)
    _, first = np.unique([str(item) for item in y], return_index=True)
    expected, scores = model.predict_topk(NEW, len(first), pick(y, first))
    for rows in (first[::-1], np.random.default_rng(1).permutation(np.r_[first, first, first])):
        pool, times = pick(y, rows), len(rows) // len(first)
        found, other, indices = model.predict_topk(NEW, len(rows) + 3, pool, return_indices=True)
        assert_allclose(other, np.repeat(scores, times, axis=1), atol=1e-12)
        for i in range(M):
            assert sorted(indices[i]) == list(range(len(rows)))  # each candidate once
            assert [str(item) for item in found[i]] == [str(pool[j]) for j in indices[i]]
            strict = np.diff(scores[i], prepend=np.inf, append=-np.inf) < -1e-9
            for place in np.flatnonzero(strict[:-1] & strict[1:]):
                own = slice(times * place, times * (place + 1))
                assert {str(item) for item in found[i][own]} == {str(expected[i][place])}
                assert (np.diff(indices[i][own]) > 0).all()
        for k in (1, 4):
            head, _, some = model.predict_topk(NEW, k, pool, return_indices=True)
            assert_array_equal(some, np.array(indices)[:, :k])
            each = model.predict_topk(NEW, k, candidates_per_query=[pool] * M, return_indices=True)[2]
            assert_array_equal(each, some)
        assert str(list(model.predict(NEW, pool))) == str([pool[own[0]] for own in indices])


@pytest.mark.parametrize("name", MODELS)
def test_top_k_is_the_head_of_a_full_sort(name):
    model, y = MODELS[name]
    model = clone(model).fit(X, y)
    c = len({str(item) for item in y})
    everything, scores = model.predict_topk(NEW, N + 5)
    assert {len(row) for row in scores} == {c} == {len(row) for row in everything}
    assert all((np.diff(row) <= 0).all() for row in scores)
    for k in (1, 2, min(c, 4)):
        found, best = model.predict_topk(NEW, k)
        assert_array_equal(best, np.array(scores)[:, :k])
        assert all(str(a[:k]) == str(b) for a, b in zip(everything, found))
    if model.output_loss_ is not None:  # minus the weighted loss
        L = model.output_loss_(y if isinstance(y, list) else y.astype(float), y if isinstance(y, list) else y * 1.0)
        expected = -np.sort(np.unique(np.round(ridge_weights() @ L.T, 9)[0]))
        assert_allclose(np.unique(np.round(scores[0], 9)), expected[::-1], atol=1e-8)


@pytest.mark.parametrize("name", MODELS)
def test_a_list_of_candidates_for_each_query(name):
    model, y = MODELS[name]
    model = clone(model).fit(X, y)
    own = [pick(y, np.random.default_rng(i).permutation(N)[: 3 + i % 4]) for i in range(M)]
    found, scores = model.predict_topk(NEW, 2, candidates_per_query=own)
    best = model.predict(NEW, candidates_per_query=own)
    for i in range(M):
        (alone,), (its,) = model.predict_topk(NEW[i : i + 1], 2, own[i])
        assert str(alone) == str(found[i]) and str(best[i]) == str(alone[0])
        assert_allclose(its, scores[i], atol=1e-12)
    in_settings = clone(model).set_params(candidates=own[0]).fit(X, y)
    same = model.predict(NEW, candidates_per_query=[own[0]] * M)
    assert str(in_settings.predict(NEW)) == str(same) and in_settings.decoder_ == "candidates"


def test_folds_of_labels_are_stratified_as_documented():
    """Rows of iris are sorted by class, so that blocks of rows have a class that the others lack."""
    features, species = load_iris(return_X_y=True)
    model = StructuredPredictor("rbf", gamma=0.3, alpha=1e-3)
    right = [cross_val_score(model, features, species, cv=cv, scoring="accuracy") for cv in (3, StratifiedKFold(3))]
    assert right[0].max() == 0.0 and right[1].min() > 0.9
