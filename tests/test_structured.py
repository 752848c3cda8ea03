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
    WEIGHTS,
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

# ---------------------------------------------------------------- the loss trick


def test_distances_of_a_normalised_kernel_are_output_kernel_regression():
    by_loss = predictor(output_loss=ol.KernelLoss("rbf", gamma=0.7), candidates=VECTORS)
    by_kernel = predictor(output_kernel=kernels.Named("rbf", 0.7))
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


@pytest.mark.parametrize("y", [NUMBERS, LABELS, VECTORS, SETS], ids=["numbers", "labels", "vectors", "sets"])
@pytest.mark.parametrize("solver", ["auto", "spectral"])
def test_weights(y, solver):
    model = predictor(solver=solver).fit(X, y)
    assert_allclose(model.weights(NEW), ridge_weights(), atol=1e-9)


@pytest.mark.parametrize(
    ("y", "solver"), [(NUMBERS, "auto"), (LABELS, "auto"), (LABELS, "spectral")], ids=["quick", "auto", "spectral"]
)
def test_weights_with_sample_weights(y, solver):
    rows = np.flatnonzero(WEIGHTS)
    model = predictor(solver=solver).fit(X, y, WEIGHTS)
    found = model.weights(NEW)
    assert_allclose(found[:, rows], ridge_weights(rows=rows, weights=WEIGHTS), atol=1e-9)
    assert (found[:, WEIGHTS == 0] == 0).all()
    copies = np.repeat(np.arange(N), WEIGHTS.astype(int))
    repeated = predictor(solver=solver).fit(X[copies], y[copies])
    assert_allclose(model.predict(NEW), repeated.predict(NEW), atol=1e-8)


@pytest.mark.parametrize("y", [NUMBERS, LABELS], ids=["distinct", "repeated"])
@pytest.mark.parametrize("weights", [None, np.where(WEIGHTS == 0, 5, WEIGHTS)], ids=["plain", "weighted"])
def test_weights_around_the_mean(y, weights):
    # h(x) = mean + sum_i v_i(x) (psi_i - mean), the mean being sum_i s_i psi_i
    V = ridge_weights(weights=weights)
    s = np.ones(N) / N if weights is None else weights / weights.sum()
    expected = V + np.outer(1 - V.sum(axis=1), s)
    model = predictor(center=True).fit(X, y, weights)
    assert_allclose(model.weights(NEW), expected, atol=1e-9)
    assert_allclose(model.weights(NEW).sum(axis=1), 1)
    losses_ = model.output_loss_
    pool = np.unique(y)
    best = pool[np.argmin(expected @ losses_(pool, y).T, axis=1)]
    assert_array_equal(model.predict(NEW, candidates=pool), best)


@pytest.mark.parametrize("solver", ["auto", "spectral"])
@pytest.mark.parametrize("kind", ["NaN", "None", "rows", "objects"])
def test_unlabelled_samples_have_weight_zero(kind, solver):
    hidden = np.arange(N) % 4 == 1
    rows = np.flatnonzero(~hidden)
    y, loss = {"NaN": (NUMBERS, "squared"), "None": (NUMBERS, "squared"), "rows": (VECTORS, "squared")}.get(
        kind, (OBJECTS, jaccard)
    )
    full = [y[i] for i in rows] if isinstance(y, list) else y[rows]
    if kind in ("NaN", "rows"):
        partial = y.copy()
        partial[hidden] = np.nan
    else:
        partial = [None if hidden[i] else y[i] for i in range(N)]
    model = predictor(output_loss=loss, solver=solver).fit(X, partial)
    found = model.weights(NEW)
    assert_allclose(found[:, rows], ridge_weights(rows=rows), atol=1e-9)
    assert (found[:, hidden] == 0).all()
    alone = predictor(output_loss=loss, solver=solver).fit(X[rows], full)
    if isinstance(y, list):
        assert model.predict(NEW) == alone.predict(NEW)
    else:
        assert_allclose(model.predict(NEW), alone.predict(NEW), atol=1e-9)
    assert model.score(X, partial) == pytest.approx(alone.score(X[rows], full))


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


def test_precomputed_inputs():
    K, G = rbf_kernel(X, gamma=GAMMA), rbf_kernel(NEW, X, gamma=GAMMA)
    for y in (NUMBERS, LABELS):
        model = StructuredPredictor("precomputed", alpha=ALPHA).fit(K, y)
        assert_allclose(model.weights(G), ridge_weights(), atol=1e-9)
        assert_allclose(model.predict(G), predictor().fit(X, y).predict(NEW), atol=1e-8)


# ---------------------------------------------------------------- output kernels


ROBUST = [losses.Huber(0.3), losses.EpsilonInsensitive(0.2), losses.EpsilonSVR(0.2), losses.Squared()]


@pytest.mark.parametrize("loss", ROBUST, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("kind", ["full rank", "low rank", "repeated", "unlabelled"])
def test_weights_reproduce_coordinates(loss, kind):
    y = {"low rank": VECTORS, "repeated": np.round(VECTORS[:, :1]) + 0.0}.get(kind, VECTORS).copy()
    name = "linear" if kind == "low rank" else "rbf"
    if kind == "unlabelled":
        y[::5] = np.nan
    known = np.isfinite(y[:, 0])
    model = predictor(output_kernel=name, output_loss="squared", loss=loss).fit(X, y)
    W = model.weights(NEW)
    assert_allclose(W[:, known] @ model.space_.encode(y[known]), model.coordinates(NEW), atol=1e-7)
    assert (W[:, ~known] == 0).all()
    if loss.quadratic:  # then they are those of ridge regression
        assert_allclose(W[:, known], ridge_weights(rows=known), atol=1e-9)
        return
    for i, j in [(i, j) for i, j in itertools.combinations(range(N), 2) if (y[i] == y[j]).all()]:
        assert_allclose(W[:, i], W[:, j])  # equal outputs share their weight


def test_robust_fit_decoded_by_an_output_loss():
    model = predictor(output_kernel="linear", output_loss="hamming", loss=losses.Huber(0.3)).fit(X, SETS)
    assert model.decoder_ == "threshold"
    W = model.weights(NEW)
    everything = np.array(list(itertools.product([0, 1], repeat=3)))
    best = everything[np.argmin([[(w * (z != SETS).mean(axis=1)).sum() for z in everything] for w in W], axis=1)]
    assert_array_equal(model.predict(NEW), best)


def test_ridge_with_both_has_the_weights_of_the_loss_trick():
    # its coordinates are V'w; where outputs are independent no other weights of the distinct ones have these
    group = np.unique(np.round(NUMBERS), return_inverse=True)[1]
    one_hot = np.eye(group.max() + 1)[group]
    both = predictor(output_kernel=kernels.Named("rbf", 1.0), output_loss="absolute").fit(X, group)
    assert_allclose(both.weights(NEW) @ one_hot, ridge_weights() @ one_hot, atol=1e-8)


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
    model = predictor(output_kernel=kernels.Named(name, 0.5), center=center).fit(X, y)
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


# ---------------------------------------------------------------- candidates


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


# ---------------------------------------------------------------- decoders


HISTOGRAMS = np.abs(VECTORS) / np.abs(VECTORS).sum(axis=1, keepdims=True)
ANGLES = np.arctan2(VECTORS[:, 1], VECTORS[:, 0])
UNIT = VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)
GRID = np.linspace(-4, 4, 2001)
SIMPLEX = np.array([(a, b, 60 - a - b) for a in range(61) for b in range(61 - a)]) / 60
CIRCLE = np.linspace(-np.pi, np.pi, 2000, endpoint=False)
BALL = np.random.default_rng(2).normal(size=(4000, 3))
BALL /= np.linalg.norm(BALL, axis=1, keepdims=True)
POWER = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
ORDERS = np.array(list(itertools.permutations([1.0, 2.0, 3.0])))
ENUMERATED = [
    ("hamming", SETS, POWER, "threshold"),
    ("f1", SETS, POWER, "sets"),
    ("jaccard", SETS, POWER, "jaccard_sets"),
    ("kendall", VECTORS, ORDERS, "ranking"),
    ("rank", np.round(VECTORS), ORDERS, "ranking"),
    ("spearman", VECTORS, ORDERS, "assignment"),
    ("hellinger", HISTOGRAMS, SIMPLEX, "sqrt_mean"),
    ("chi2", HISTOGRAMS, SIMPLEX, "chi2_mean"),
    ("wasserstein1d", HISTOGRAMS, SIMPLEX, "distribution_median"),
    ("squared", NUMBERS, GRID, "mean"),
    ("absolute", NUMBERS, GRID, "scalar"),
    ("huber", NUMBERS, GRID, "scalar"),
    ("cauchy", NUMBERS, GRID, "scalar"),
    ("geman_mcclure", NUMBERS, GRID, "scalar"),
    ("fair", NUMBERS, GRID, "scalar"),
    ("l2_l1", NUMBERS, GRID, "scalar"),
    ("epsilon_absolute", NUMBERS, GRID, "scalar"),
    (ol.Pinball(0.8), NUMBERS, GRID, "scalar"),
    ("hinge", np.where(NUMBERS > 0, 1.0, -1.0), np.linspace(-1, 1, 401), "scalar"),
    ("logistic", np.where(NUMBERS > 0, 1.0, -1.0), np.linspace(-10, 10, 2001), "scalar"),
    ("diffusion", ANGLES, CIRCLE, "directions"),
    ("diffusion", UNIT, BALL, "directions"),
    ("edit", STRINGS, None, "candidates"),
    ("zero_one", STRINGS, None, "classes"),
    (jaccard, OBJECTS, None, "candidates"),
]


@pytest.mark.parametrize(("loss", "y", "outputs", "decoder"), ENUMERATED, ids=lambda value: str(value)[:12])
def test_predictions_are_no_worse_than_any_enumerated_output(loss, y, outputs, decoder):
    model = predictor(output_loss=loss).fit(X, y)
    assert model.decoder_ == decoder
    near = X[:M] + 0.1  # where weights sum to about one
    W, Z = ridge_weights(near), model.predict(near)
    delta = model.output_loss_
    true = delta.check(y)
    outputs = y if outputs is None else outputs
    if np.ndim(outputs) == 1 and not isinstance(outputs, list) and not isinstance(loss, ol.OutputLoss):
        low, high = (-np.inf, np.inf) if loss == "diffusion" else (min(y.min(), -1), max(y.max(), 1))
        low, high = (-10, 10) if loss == "logistic" else (low, high)
        outputs = outputs[(outputs >= low) & (outputs <= high)]
    found = np.einsum("qi,qi->q", W, delta(Z, true))
    enumerated = (W @ delta(outputs, true).T).min(axis=1)
    assert (found <= enumerated + 1e-9).all()
    if outputs is y or decoder in ("threshold", "sets", "jaccard_sets", "ranking", "assignment"):
        assert_allclose(found, enumerated, atol=1e-9)


def test_gaussian_preimage_is_no_worse_than_training_outputs():
    model = predictor(output_kernel=kernels.Named("rbf", 0.5), decoder="gaussian").fit(X, VECTORS)
    Z = model.predict(NEW)
    W = ridge_weights()
    gained = np.einsum("qi,qi->q", W, rbf_kernel(Z, VECTORS, gamma=0.5)) - (
        W @ rbf_kernel(VECTORS, VECTORS, gamma=0.5)
    ).max(axis=1)
    assert (gained >= -1e-9).all() and gained.max() > 1e-4
    step = 1e-5
    for direction in np.eye(3) * step:  # a stationary point
        up, down = (np.einsum("qi,qi->q", W, rbf_kernel(Z + s * direction, VECTORS, gamma=0.5)) for s in (1, -1))
        assert np.abs(up - down).max() / (2 * step) < 1e-4


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


def test_folds_of_labels_are_stratified_as_documented():
    """Rows of iris are sorted by class, so that blocks of rows have a class that the others lack."""
    features, species = load_iris(return_X_y=True)
    model = StructuredPredictor("rbf", gamma=0.3, alpha=1e-3)
    right = [cross_val_score(model, features, species, cv=cv, scoring="accuracy") for cv in (3, StratifiedKFold(3))]
    assert right[0].max() == 0.0 and right[1].min() > 0.9
