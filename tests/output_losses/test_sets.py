"""Losses of sets of labels: rows of 0 and 1, and Python's sets, as outputs."""

import numpy as np
import pytest
from helpers.loss_matrices import assert_pairs
from helpers.refusals import assert_refused
from helpers.structured_data import NEW, OBJECTS, SETS, X, predictor
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import f1_score, hamming_loss, jaccard_score
from sklearn.model_selection import cross_val_score

from hilbertlearn import StructuredPredictor
from hilbertlearn.model_selection import RegularizationPathCV
from hilbertlearn.output_losses import (
    F1,
    Hamming,
    Jaccard,
)


def weighted(W, Z, Y):
    """By Python's sets."""
    as_sets = lambda A: [{*np.flatnonzero(row)} for row in A]  # noqa: E731
    Y = as_sets(Y)
    return np.array(
        [sum(u * (1 - (len(z & y) / len(z | y) if z | y else 1)) for u, y in zip(w, Y)) for w, z in zip(W, as_sets(Z))]
    )


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


rng = np.random.default_rng(5)
NAN = np.nan


# ------------------------------------------------------------------ sets of labels

ROWS = rng.integers(0, 2, size=(9, 5))
ROWS[0] = 0


def test_hamming_is_that_of_scikit_learn():
    assert_pairs(Hamming(), lambda z, y: hamming_loss(z, y), ROWS[:4], ROWS)


def test_f1_and_jaccard_by_sample():
    assert_pairs(F1(), lambda z, y: 1 - f1_score(y, z, zero_division=1.0), ROWS[:4], ROWS)
    assert_pairs(Jaccard(), lambda z, y: 1 - jaccard_score(y, z, zero_division=1.0), ROWS[:4], ROWS)


RATINGS = rng.integers(1, 6, size=(12, 6)).astype(float)
RATINGS[rng.random(RATINGS.shape) < 0.3] = NAN
RATINGS[0], RATINGS[1], RATINGS[2] = 3, [NAN, NAN, 4, NAN, NAN, NAN], [1, 2, 3, 4, 5, 6]
