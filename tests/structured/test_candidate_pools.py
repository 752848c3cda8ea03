"""Candidates keep their positions and their kinds, and equal candidates are compared once."""

import numpy as np
import pytest
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import StructuredPredictor, kernels
from hilbertlearn import output_losses as ol

rng = np.random.default_rng(0)
N, M = 20, 12
X, NEW = rng.normal(size=(N, 2)), rng.normal(size=(M, 2))


class Molecule:
    """Compared by identity, as rdkit's are: the same molecule may be there twice."""

    def __init__(self, bits):
        self.bits = np.asarray(bits)


OUTPUTS = [Molecule(np.r_[True, rng.random(24) < 0.5]) for _ in range(N)]


class Counted:
    """A similarity of molecules that counts its calls."""

    def __init__(self):
        self.calls = 0

    def __call__(self, a, b):
        self.calls += 1
        return float((a.bits & b.bits).sum() / (a.bits | b.bits).sum())


def models(function):
    kernel = kernels.PairwiseKernel(function)
    yield StructuredPredictor("rbf", gamma=0.5, alpha=1e-2, output_kernel=kernel)
    yield StructuredPredictor("rbf", gamma=0.5, alpha=1e-2, output_loss=ol.KernelLoss(kernel))


def scores_by_hand(model, queries, pool):
    """Of an output kernel, from weights of the training outputs; the same order by the kernel's loss."""
    S = np.array([[Counted()(z, y) for y in OUTPUTS] for z in pool])
    return 2 * model.weights(queries) @ S.T - 1


def test_indices_of_molecules_that_are_there_twice():
    some = [Molecule(OUTPUTS[i].bits) for i in (3, 5, 3, 8, 5, 3)]
    pool = [some[0], some[1], some[2], some[0], some[3], some[4], some[5]]
    for model in models(Counted()):
        model.fit(X, OUTPUTS)
        by_hand = scores_by_hand(model, NEW, pool).round(9)
        found, scores, indices = model.predict_topk(NEW, 7, pool, return_indices=True)
        own = model.predict_topk(NEW, 7, candidates_per_query=[pool] * M, return_indices=True)
        for q in range(M):
            expected = sorted(range(7), key=lambda i, q=q: (-by_hand[q, i], i))
            assert indices[q].tolist() == expected == own[2][q].tolist()
            assert all(a is pool[i] for a, i in zip(found[q], expected))
            assert len(np.unique(scores[q])) == 3
            assert_allclose(own[1][q], scores[q])
        assert all(a is b[0] for a, b in zip(model.predict(NEW, pool), found))
        assert all(a is b[0] for a, b in zip(model.predict(NEW, candidates_per_query=[pool] * M), found))


def test_indices_without_candidates_are_those_of_the_training_outputs():
    model = next(models(Counted())).fit(X, OUTPUTS)
    found, _, indices = model.predict_topk(NEW, 4, return_indices=True)
    assert all(a is model.outputs_[i] for own, at in zip(found, indices) for a, i in zip(own, at))
    assert_array_equal(np.argsort(-scores_by_hand(model, NEW, OUTPUTS), axis=1)[:, :4], indices)


def test_each_pair_is_compared_once():
    pool = [Molecule(rng.random(25) < 0.5) for _ in range(30)]
    lists = [[pool[i] for i in rng.integers(30, size=15)] for _ in range(M)]
    used = {id(z) for own in lists for z in own}
    for model in models(count := Counted()):
        model.fit(X, OUTPUTS)
        count.calls = 0
        found, scores = model.predict_topk(NEW, 3, candidates_per_query=lists)
        assert count.calls <= len(used) * N + len(used) + N  # and k(z, z)
        for q in range(M):
            alone, its = model.predict_topk(NEW[q : q + 1], 3, lists[q])
            assert all(a is b for a, b in zip(alone[0], found[q])) and np.allclose(its[0], scores[q])


def test_blocks_of_candidates(monkeypatch):
    y = rng.normal(size=(N, 3))
    model = StructuredPredictor(output_kernel="rbf", alpha=1e-2).fit(X, y)
    lists = [y[rng.integers(N, size=rng.integers(1, 9))] for _ in range(M)]
    expected = model.predict_topk(NEW, 3, candidates_per_query=lists, return_indices=True)
    monkeypatch.setattr("hilbertlearn.structured.candidate_pools._BLOCK_ENTRIES", 3 * len(model.space_.factor))
    found = model.predict_topk(NEW, 3, candidates_per_query=lists, return_indices=True)
    for a, b in zip(expected, found):
        assert all(map(np.allclose, a, b))


@pytest.mark.parametrize(
    ("settings", "y", "candidates", "words"),
    [
        ({"output_kernel": "rbf"}, rng.normal(size=(N, 3)), np.ones((2, 4)), ["rows of shape (3,)", "(2, 4)"]),
        ({"output_kernel": "rbf"}, rng.normal(size=(N, 3)), [1.0, 2.0], ["rows of shape (3,)", "(2,)"]),
        ({"output_kernel": "rbf"}, rng.normal(size=(N, 3)), ["a"], ["rows of shape (3,)", "str"]),
        ({}, np.arange(N) % 3, [[1, 2]], ["numbers", "(1, 2)"]),
        ({}, np.arange(N) % 3, ["a", "b"], ["numbers", "str"]),
        ({}, ["ab", "b"] * (N // 2), [1, 2], ["training outputs, str", "got int"]),
        ({}, ["ab", "b"] * (N // 2), "ab", ["single str", "list"]),
        ({"output_loss": "zero_one"}, [{1}, {2}] * (N // 2), [1, 2], ["training outputs, set", "got int"]),
        ({"output_loss": "zero_one"}, [(1, 2), (3,)] * (N // 2), ["ab"], ["training outputs, tuple", "got str"]),
        (
            {"output_kernel": kernels.PairwiseKernel(Counted())},
            OUTPUTS,
            ["CCO"],
            ["training outputs, Molecule", "got str"],
        ),
    ],
)
def test_candidates_of_another_kind(settings, y, candidates, words):
    model = StructuredPredictor(alpha=1e-2, **settings).fit(X, y)
    assert_refused(lambda: model.predict(NEW, candidates), ["candidates", *words])
    assert_refused(lambda: model.predict_topk(NEW[:1], 2, candidates_per_query=[candidates]), ["query 0", *words])


def test_kinds_that_go_together():
    sets = StructuredPredictor(alpha=1e-2, output_loss="zero_one").fit(X, [{1}, {2}] * (N // 2))
    assert sets.predict(NEW, [frozenset({1})]) == [frozenset({1})] * M
    mixed = StructuredPredictor(alpha=1e-2, output_loss="zero_one").fit(X, ["a", 1] * (N // 2))
    assert set(mixed.predict(NEW, [1, "a"])) <= {1, "a"}
