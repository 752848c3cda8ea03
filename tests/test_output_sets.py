"""Sets of labels: the search for the Jaccard loss against all subsets, and Python's sets as outputs."""

from itertools import product

import numpy as np
import pytest
from helpers.refusals import assert_refused
from helpers.structured_data import NEW, OBJECTS, SETS, X, predictor
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score

from hilbertlearn import StructuredPredictor
from hilbertlearn.decoders import jaccard
from hilbertlearn.model_selection import RegularizationPathCV
from hilbertlearn.output_losses import F1, Hamming, Jaccard

rng = np.random.default_rng(19)


def weights(m, n):
    """Rows of weights: positive, of both signs, all negative, and zero."""
    W = rng.normal(size=(m, n))
    W[::3] = np.abs(W[::3])
    W[1::6] = -np.abs(W[1::6])
    W[-1] = 0
    return W


def subsets(labels):
    return np.array(list(product([0.0, 1.0], repeat=labels)))


def weighted(W, Z, Y):
    """By Python's sets."""
    as_sets = lambda A: [{*np.flatnonzero(row)} for row in A]  # noqa: E731
    Y = as_sets(Y)
    return np.array(
        [sum(u * (1 - (len(z & y) / len(z | y) if z | y else 1)) for u, y in zip(w, Y)) for w, z in zip(W, as_sets(Z))]
    )


# ------------------------------------------------------------------ Jaccard


@pytest.mark.parametrize("labels", [1, 2, 5, 8])
@pytest.mark.parametrize("density", [0.1, 0.6])
def test_jaccard_against_all_subsets(labels, density):
    for n in (1, 7, 30):
        Y, W = (rng.random((n, labels)) < density).astype(float), weights(40, n)
        Z = jaccard.decode(W, Y, Jaccard())
        assert_allclose(weighted(W, Z, Y), (W @ Jaccard()(subsets(labels), Y).T).min(axis=1), atol=1e-10)


@pytest.mark.parametrize("density", [0.15, 0.5])
def test_the_search_finds_nearly_all_best_sets(density, monkeypatch):
    labels, n, m = 9, 40, 60
    Y = (rng.random((n, labels)) < density).astype(float)
    Y[:3] = 0
    points, new = rng.normal(size=(n, 2)), rng.normal(size=(m, 2))
    K = rbf_kernel(points, gamma=0.5)
    ridge = np.linalg.solve(K + 0.1 * np.eye(n), rbf_kernel(points, new, gamma=0.5)).T
    monkeypatch.setattr(jaccard, "_FEW", 0)
    monkeypatch.setattr(jaccard, "_ENTRIES", 100)  # in blocks of few queries
    for W in (ridge, rng.dirichlet(np.full(n, 0.3), size=m), weights(m, n)):
        found = weighted(W, jaccard.decode(W, Y, Jaccard()), Y)
        values = W @ Jaccard()(subsets(labels), Y).T
        assert (found <= (W @ Jaccard()(Y, Y).T).min(axis=1) + 1e-9).all()
        missed = found - values.min(axis=1)
        assert (missed < 1e-9).mean() > 0.9 and (missed < 0.1 * np.ptp(values, axis=1) + 1e-9).all()


def test_no_flip_of_one_label_is_better_where_labels_are_many():
    labels, n = 40, 60
    Y, W = (rng.random((n, labels)) < 0.15).astype(float), weights(12, n)
    Z = jaccard.decode(W, Y, Jaccard())
    for w, z in zip(W, Z):
        flipped = np.abs(z - np.eye(labels))
        assert (Jaccard()(flipped, Y) @ w).min() >= w @ Jaccard()(z[None], Y)[0] - 1e-9
    assert_array_equal(jaccard.decode(np.eye(n), Y, Jaccard()), Y)


def test_flips_are_worth_what_they_change():
    Y, W, Z = (rng.random((s, 6)) < 0.4 for s in (20, 8, 8))
    W = rng.normal(size=(8, 20))
    Y, Z = Y.astype(float), Z.astype(float)
    Y[:4], Z[0], Z[1] = 0, 0, np.eye(6)[2]
    gains = jaccard._gains(W, Y, Z)
    for k in range(6):
        flipped = Z.copy()
        flipped[:, k] = 1 - flipped[:, k]
        assert_allclose(gains[:, k], weighted(W, Z, Y) - weighted(W, flipped, Y), atol=1e-12)


# ------------------------------------------------------------------ Python's sets

NAMES = ["x", "a", "k"]
NAMED = [{NAMES[k] for k in members} for members in OBJECTS]
ORDER = [1, 2, 0]  # of the columns of SETS, when their names are sorted


@pytest.mark.parametrize("name", ["hamming", "f1", "jaccard"])
@pytest.mark.parametrize("kind", [set, frozenset])
def test_sets_in_and_out(name, kind):
    y = [kind(members) for members in NAMED]
    model = predictor(output_loss=name).fit(X, y)
    rows = predictor(output_loss=name).fit(X, SETS[:, ORDER])
    found = model.predict(NEW)
    assert isinstance(found, list) and {type(z) for z in found} == {kind}
    expected = [kind(np.array(["a", "k", "x"])[row > 0].tolist()) for row in rows.predict(NEW)]
    assert found == expected and len({*map(frozenset, found)}) > 1
    assert model.decoder_ == rows.decoder_ != "candidates"
    assert model.score(X, y) == pytest.approx(rows.score(X, SETS[:, ORDER]))
    assert list(model.output_loss_.labels) == ["a", "k", "x"]
    top, scores = model.predict_topk(NEW, 2)
    assert_allclose(scores, rows.predict_topk(NEW, 2)[1])
    assert all(isinstance(z, kind) for best in top for z in best)
    assert model.predict(NEW[:1], candidates=[kind("a"), kind()])[0] in (kind("a"), kind())


def test_sets_have_the_hamming_loss_by_default():
    model = predictor(alpha="auto").fit(X, [None, *NAMED[1:]])
    assert isinstance(model.output_loss_, Hamming) and model.decoder_ == "threshold"
    assert all(type(z) is set for z in model.predict(NEW))
    objects = np.empty(len(NAMED), dtype=object)
    objects[:] = NAMED
    found = predictor().fit(X, objects).predict(NEW)
    assert found.dtype == object and list(found) == predictor().fit(X, NAMED).predict(NEW)


def test_numbers_as_labels_and_mixed_ones():
    assert predictor().fit(X, OBJECTS).output_loss_.labels == [0, 1, 2]
    mixed = predictor(output_loss="jaccard").fit(X, [{*members, "z"} for members in OBJECTS])
    assert all("z" in z for z in mixed.predict(X))  # sorting is not needed


def test_labels_that_only_the_truth_has_count_as_missed():
    model = predictor(output_loss="f1").fit(X, NAMED)
    found = model.predict(X)
    true = [{*members, "new"} for members in NAMED]
    f1 = [2 * len(z & y) / (len(z) + len(y)) for z, y in zip(found, true)]
    assert model.score(X, true) == pytest.approx(np.mean(f1) - 1)
    assert_refused(lambda: model.predict(X, candidates=[{"new"}]), ["'new'", "labels=[...]"])
    known = predictor(output_loss=F1(labels=["new"])).fit(X, NAMED)
    assert known.output_loss_.labels == ["new", "a", "k", "x"] and known.predict(X, candidates=[{"new"}])[0] == {"new"}


def test_labels_of_few_sets_pass_folds():
    rare = [*NAMED[:-2], {"once"}, {"twice", "a"}]
    for output_loss in ("hamming", "jaccard"):
        scores = cross_val_score(predictor(output_loss=output_loss), X, rare, cv=4)
        assert np.isfinite(scores).all()
        path = RegularizationPathCV(predictor(output_loss=output_loss), cv=4).fit(X, rare)
        assert len(path.predict(NEW)) == len(NEW)
    weighted = predictor(output_loss="f1").fit(X, rare, sample_weight=[1.0] * (len(X) - 2) + [0, 0])
    assert not any("once" in z for z in weighted.predict(X))


def test_with_names_of_columns_and_what_is_refused():
    named = predictor(output_loss=Hamming(labels=NAMES)).fit(X, SETS)
    assert_array_equal(named.predict(NEW), predictor(output_loss="hamming").fit(X, SETS).predict(NEW))
    assert clone(Jaccard(labels=NAMES)).labels == NAMES
    assert_refused(lambda: predictor(output_loss=Hamming(labels="ab")).fit(X, SETS), ["labels: 2", "3 columns"])
    assert_refused(lambda: predictor(output_loss="f1").fit(X[:3], [set(), set(), set()]), ["empty sets", "labels="])
    empty = predictor(output_loss=F1(labels="ab")).fit(X[:3], [set(), set(), set()])
    assert empty.predict(X[:2]) == [set(), set()]
    assert_refused(lambda: predictor(output_loss="f1").fit(X[:3], [{1}, {2}, [1]]), ["0/1 matrix", "list"])


def test_a_loss_does_not_depend_on_what_else_is_scored():
    X = np.arange(8.0)[:, None]
    y = [{"a"}, {"a", "b"}, {"b"}, {"a"}, {"a", "b"}, {"b"}, {"a"}, {"b"}]
    model = StructuredPredictor(output_loss="hamming", alpha=1e-3).fit(X, y)
    alone = model.score(X[:1], [{"b"}])
    both = model.score(X[:2], [{"b"}, {"c", "d", "e", "f"}])
    other = model.score(X[1:2], [{"c", "d", "e", "f"}])
    assert both == pytest.approx((alone + other) / 2)


@pytest.mark.parametrize(
    "loss", [Hamming(), F1(), Jaccard(), Hamming() + F1()], ids=["hamming", "f1", "jaccard", "sum"]
)
def test_losses_of_rows_of_any_type_and_of_sets(loss):
    Z, Y = np.array([[1, 1, 0], [0, 0, 0]]), np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1]])
    expected = loss(Z.astype(float), Y.astype(float))
    for kind in (int, bool, np.uint8):
        assert_allclose(loss(Z.astype(kind), Y.astype(kind)), expected)
    as_sets = lambda A: [{"abc"[k] for k in np.flatnonzero(row)} for row in A]  # noqa: E731
    assert_allclose(loss.resolve(as_sets(Y))(as_sets(Z), as_sets(Y)), expected)
    with pytest.raises(ValueError, match=r"labels=.*resolve"):
        loss(as_sets(Z), as_sets(Y))
