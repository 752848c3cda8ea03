"""What every output loss promises, and that its decoder minimises the weighted loss, by enumeration.

An output loss is tested by its line in ``CASES``: outputs as users give them, and the canonical outputs among which the
decoder's must be the best.
"""

from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from hilbertlearn import output_losses
from hilbertlearn.decoders import DECODERS
from hilbertlearn.decoders.candidates import best_outputs
from hilbertlearn.output_losses import (
    F1,
    L2L1,
    Absolute,
    Cauchy,
    Chi2,
    CostMatrix,
    CustomLoss,
    Diffusion,
    Edit,
    EpsilonAbsolute,
    Fair,
    GemanMcClure,
    Hamming,
    Hellinger,
    Hierarchy,
    Hinge,
    Huber,
    Jaccard,
    Kendall,
    KernelLoss,
    Logistic,
    LossMultiple,
    LossSum,
    Pinball,
    Rank,
    Spearman,
    SquaredError,
    Wasserstein1d,
    ZeroOne,
)

RNG = np.random.default_rng(0)
N = 8
NUMBERS = RNG.normal(size=N).round(2)
GRID = np.linspace(NUMBERS.min(), NUMBERS.max(), 20_001)
LABELS = np.where(RNG.random(N) < 0.5, -1.0, 1.0)
CLASSES = RNG.integers(0, 4, size=N)
STRINGS = ["cat", "car", "cart", "art", "at", "cat", "dog", "do"]
SETS = RNG.integers(0, 2, size=(N, 4))
ALL_SETS = np.array(list(product([0.0, 1.0], repeat=4)))
RATINGS = np.where(RNG.random((N, 4)) < 0.2, np.nan, RNG.integers(1, 6, size=(N, 4)).astype(float))
RANKS = np.array([RNG.permutation(4) + 1.0 for _ in range(N)])
ALL_RANKS = np.array(list(permutations(np.arange(1.0, 5.0))))
HISTOGRAMS = RNG.dirichlet(np.ones(3), size=N)
SIMPLEX = np.array([(i, j, 60 - i - j) for i in range(61) for j in range(61 - i)]) / 60
ANGLES = RNG.uniform(-np.pi, np.pi, size=N)
CIRCLE = np.linspace(-np.pi, np.pi, 20_001)
TREE = nx.Graph([(0, 1), (0, 2), (1, 3), (1, 4)])
COSTS = np.array([[0.0, 1, 2, 5], [3, 0, 1, 1], [1, 1, 0, 2], [4, 2, 2, 0]])


def common_letters(Z, Y):
    return np.array([[len(set(z) ^ set(y)) for y in Y] for z in Z], dtype=float)


def letters(A, B):
    return np.array([[len(set(a) & set(b)) for b in B] for a in A], dtype=float)


@dataclass
class Case:
    loss: Any
    outputs: Any
    pool: Any = None  # canonical outputs to compare with, None for the outputs themselves
    zero_diagonal: bool = True  # whether an output has the loss 0 for itself
    mixed_signs: bool = True  # whether the decoder is exact for negative weights too


CASES = {
    "ZeroOne": Case(ZeroOne(), CLASSES),
    "ZeroOne of strings": Case(ZeroOne(), STRINGS),
    "CostMatrix": Case(CostMatrix(COSTS), CLASSES, np.arange(4)),
    "CostMatrix of names": Case(CostMatrix(COSTS, labels=list("abcd")), ["a", "b", "d", "c"] * 2, np.arange(4)),
    "Hierarchy": Case(Hierarchy(TREE), CLASSES, np.arange(5)),
    "Edit": Case(Edit(), STRINGS),
    "KernelLoss": Case(KernelLoss("linear"), RNG.normal(size=(N, 2))),
    "KernelLoss of objects": Case(KernelLoss(letters), STRINGS),
    "CustomLoss": Case(CustomLoss(common_letters), STRINGS),
    "Hamming": Case(Hamming(), SETS, ALL_SETS),
    "F1": Case(F1(), SETS, ALL_SETS),
    "Jaccard": Case(Jaccard(), SETS, ALL_SETS),
    "Rank": Case(Rank(), RATINGS, ALL_RANKS, zero_diagonal=False),  # pairs that an output ties cost half
    "Rank, normalised": Case(Rank(normalize=True), RATINGS, ALL_RANKS, zero_diagonal=False),
    "Kendall": Case(Kendall(), RANKS, ALL_RANKS),
    "Spearman": Case(Spearman(), RANKS, ALL_RANKS),
    "Hellinger": Case(Hellinger(), HISTOGRAMS, SIMPLEX),
    "Chi2": Case(Chi2(), HISTOGRAMS, SIMPLEX, mixed_signs=False),
    "Wasserstein1d": Case(Wasserstein1d(), HISTOGRAMS, SIMPLEX),
    "Diffusion": Case(Diffusion(), ANGLES, CIRCLE),
    "SquaredError": Case(SquaredError(), NUMBERS, GRID),
    "Absolute": Case(Absolute(), NUMBERS, GRID),
    "Huber": Case(Huber(0.4), NUMBERS, GRID),
    "Pinball": Case(Pinball(0.3), NUMBERS, GRID),
    "EpsilonAbsolute": Case(EpsilonAbsolute(0.2), NUMBERS, GRID),
    "Cauchy": Case(Cauchy(0.5), NUMBERS, GRID),
    "GemanMcClure": Case(GemanMcClure(0.5), NUMBERS, GRID),
    "Fair": Case(Fair(0.5), NUMBERS, GRID),
    "L2L1": Case(L2L1(), NUMBERS, GRID),
    "Hinge": Case(Hinge(), LABELS, np.linspace(-1, 1, 2001)),
    "Logistic": Case(Logistic(), LABELS, np.linspace(-10, 10, 20_001), zero_diagonal=False),
    "LossSum": Case(LossSum(Hamming(), F1()), SETS, ALL_SETS),
    "LossMultiple": Case(LossMultiple(F1(), 0.5), SETS, ALL_SETS),
}
every_loss = pytest.mark.parametrize("name", CASES)


def resolved(case):
    return case.loss.resolve(case.outputs)


def same(one, other):
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind == "f")
    return list(one) == list(other)


def test_every_output_loss_is_listed():
    assert {type(case.loss).__name__ for case in CASES.values()} == set(output_losses.__all__) - {"OutputLoss"}


@every_loss
def test_a_matrix_has_the_losses_of_single_pairs(name):
    case = CASES[name]
    loss = resolved(case)
    Y = loss.check(case.outputs)
    Z = Y[:5]
    losses = loss(Z, Y)
    assert losses.shape == (len(Z), len(Y)) and losses.dtype == float and np.isfinite(losses).all()
    for i in range(len(Z)):
        for j in range(len(Y)):
            assert_allclose(loss(Z[i : i + 1], Y[j : j + 1]), losses[i : i + 1, j : j + 1], rtol=1e-9, atol=1e-12)


@every_loss
def test_losses_are_not_negative_and_zero_where_outputs_are_equal(name):
    case = CASES[name]
    loss = resolved(case)
    Y = loss.check(case.outputs)
    losses = loss(Y, Y)
    assert (losses >= 0).all()
    if case.zero_diagonal:
        assert_allclose(losses.diagonal(), 0.0, atol=1e-12)


@every_loss
def test_canonical_outputs_stay_what_they_are(name):
    case = CASES[name]
    loss = resolved(case)
    Y = loss.check(case.outputs)
    if type(loss) is CostMatrix and loss._costs_and_labels(loss.labels)[1] is not None:
        assert same(loss.check(loss.restore(Y, case.outputs)), Y)  # canonical outputs are positions of labels
    else:
        assert same(loss.check(Y), Y)


@every_loss
def test_restored_outputs_have_the_same_canonical_ones(name):
    case = CASES[name]
    loss = resolved(case)
    Y = loss.check(case.outputs)
    restored = loss.restore(Y, case.outputs)
    if name.startswith("Rank"):  # predictions are full rankings, and ratings are none
        return
    assert len(restored) == len(Y) and same(loss.check(restored), Y)


@every_loss
def test_a_clone_is_the_same_loss(name):
    case = CASES[name]
    copy = clone(case.loss)
    assert copy is not case.loss and copy.get_params().keys() == case.loss.get_params().keys()
    loss, again = resolved(case), copy.resolve(case.outputs)
    Y = loss.check(case.outputs)
    assert_allclose(again(again.check(case.outputs), again.check(case.outputs)), loss(Y, Y))


@every_loss
def test_the_decoder_minimises_the_weighted_loss(name):
    """For weights of one sign, and of both signs with the sum that ridge weights have, about one."""
    case = CASES[name]
    loss = resolved(case)
    Y = loss.check(case.outputs)
    rng = np.random.default_rng(1)
    W = [rng.dirichlet(np.ones(N), size=10)]
    if case.mixed_signs:
        signed = rng.normal(size=(10, N))
        W.append(signed + (1 - signed.sum(axis=1, keepdims=True)) / N)
    W = np.concatenate(W)
    if loss.decoder == "candidates":
        found = best_outputs(-W, Y, loss)
        found = [Y[i] for i in found] if isinstance(Y, list) else Y[found]
    else:
        found = DECODERS[loss.decoder](W, Y, loss)
    pool = Y if case.pool is None else case.pool
    best = (loss(pool, Y) @ W.T).min(axis=0)
    reached = np.array([(loss(found[q : q + 1], Y) @ W[q])[0] for q in range(len(W))])
    assert (reached <= best + 1e-9 * np.abs(W).sum(axis=1)).all()


@every_loss
def test_losses_add_up_and_have_multiples(name):
    case = CASES[name]
    loss = resolved(case)
    raw = case.outputs
    total = loss + 2 * loss
    assert [(weight, type(part)) for weight, part in total.parts()] == [
        (factor * weight, type(part)) for factor in (1.0, 2) for weight, part in loss.parts()
    ]
    Y = loss.check(raw)
    assert_allclose(total(raw, raw), 3 * loss(Y, Y), rtol=1e-12, atol=1e-12)
