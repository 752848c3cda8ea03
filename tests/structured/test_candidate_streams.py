"""Streams of candidates have the result of all candidates at once, in the memory of a block."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse
import sklearn
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import StructuredPredictor, kernels, losses
from hilbertlearn.structured import candidate_streams
from hilbertlearn.structured.output_scorer import OutputScorer

rng = np.random.default_rng(0)
N, M = 60, 25
X, NEW = rng.normal(size=(N, 3)), rng.normal(size=(M, 3))
VECTORS = np.c_[X[:, 0], np.sin(X[:, 1])] + 0.1 * rng.normal(size=(N, 2))
WORDS = ["".join(rng.choice(list("abcd"), size=rng.integers(1, 6))) for _ in range(N)]
BITS = (rng.random((N, 12)) < 0.3).astype(int)

POOLS = {
    "vectors": rng.normal(size=(300, 2)),
    "vectors that recur": rng.normal(size=(20, 2))[rng.integers(20, size=300)],
    "words": ["".join(rng.choice(list("abcd"), size=rng.integers(1, 6))) for _ in range(300)],
    "bits": (rng.random((300, 12)) < 0.2).astype(int),
}
MODELS = {
    "output kernel": ("vectors", {"output_kernel": kernels.NamedKernel("rbf", 0.5)}, VECTORS),
    "many copies": ("vectors that recur", {"output_kernel": kernels.NamedKernel("rbf", 0.5)}, VECTORS),
    "rank": ("vectors", {"output_kernel": kernels.NamedKernel("rbf", 0.5), "rank": 10}, VECTORS),
    "hinge": ("vectors", {"output_kernel": "rbf", "loss": losses.Hinge()}, VECTORS),
    "words": ("words", {"output_kernel": "ngrams"}, WORDS),
    "loss": ("bits", {"output_loss": "jaccard"}, BITS),
    "kernel and loss": ("bits", {"output_kernel": "tanimoto", "output_loss": "hamming"}, BITS),
    "robust, kernel and loss": (
        "bits",
        {"output_kernel": "tanimoto", "output_loss": "hamming", "loss": losses.Huber(0.5)},
        BITS,
    ),
}


def fitted(name):
    pool, settings, y = MODELS[name]
    return StructuredPredictor("rbf", gamma=0.3, alpha=1e-2, **settings).fit(X, y), POOLS[pool]


@pytest.fixture
def small(monkeypatch):
    """Blocks of some thirty candidates."""
    monkeypatch.setattr(candidate_streams, "_LARGEST_POOL", 31)


def blocks(pool, size=47):
    return (pool[i : i + size] for i in range(0, len(pool), size))


def assert_same(found, expected):
    for own, theirs in zip(found[0], expected[0], strict=True):
        assert_array_equal(np.asarray(own), np.asarray(theirs))
    assert_allclose(np.array(found[1]), np.array(expected[1]), rtol=1e-12, atol=1e-12)
    assert_array_equal(np.array(found[2]), np.array(expected[2]))


@pytest.mark.parametrize("k", [1, 7, 40])
@pytest.mark.parametrize("name", MODELS)
def test_streams_have_the_result_of_all_at_once(name, k, monkeypatch):
    model, pool = fitted(name)
    expected = model.predict_topk(NEW, k, pool, return_indices=True)
    scores = model.predict_scores(NEW, pool)
    by_hand = np.argsort(-np.round(scores, 9), axis=1, kind="stable")[:, :k]  # equal ones in the order given
    assert_array_equal(np.array(expected[2]), by_hand)
    monkeypatch.setattr(candidate_streams, "_LARGEST_POOL", 31)
    for candidates in (pool, iter(pool), blocks(pool), (z for z in pool), map(list, blocks(pool))):
        assert_same(model.predict_topk(NEW, k, candidates, return_indices=True), expected)


@pytest.mark.parametrize("name", ["output kernel", "words", "loss"])
def test_predictions_keep_their_form(name, small):
    model, pool = fitted(name)
    whole = model.predict(NEW, candidates_per_query=[pool] * M)
    for candidates in (pool, iter(pool), blocks(pool)):
        found = model.predict(NEW, candidates)
        assert type(found) is type(whole)
        assert_array_equal(found, whole)
    if isinstance(pool, list):
        assert all(any(a is z for z in pool) for a in model.predict(NEW, iter(pool)))  # the very objects


def test_blocks_in_other_containers(small):
    model, pool = fitted("loss")
    expected = model.predict_topk(NEW, 5, pool, return_indices=True)
    for form in (scipy.sparse.csr_array, scipy.sparse.coo_matrix):
        assert_same(model.predict_topk(NEW, 5, form(pool), return_indices=True), expected)
        assert_same(
            model.predict_topk(NEW, 5, map(scipy.sparse.csr_array, blocks(pool)), return_indices=True), expected
        )
    assert_same(model.predict_topk(NEW, 5, map(tuple, pool), return_indices=True), expected)


def test_memory_mapped_candidates(tmp_path, small):
    model, pool = fitted("output kernel")
    np.save(tmp_path / "pool.npy", pool.astype(np.float32))
    mapped = np.load(tmp_path / "pool.npy", mmap_mode="r")
    expected = model.predict_topk(NEW, 5, list(mapped.astype(float)), return_indices=True)
    assert_same(model.predict_topk(NEW, 5, mapped, return_indices=True), expected)


def test_objects_that_are_lists_or_tuples(small):
    lists = [[int(a) for a in rng.integers(3, size=rng.integers(1, 4))] for _ in range(N)]

    def common(A, B):
        return np.array([[len({*a} & {*b}) + 1.0 for b in B] for a in A])

    for form in (list, tuple):
        y = [form(item) for item in lists]
        model = StructuredPredictor("rbf", gamma=0.3, alpha=1e-2, output_kernel=common).fit(X, y)
        expected = model.predict_topk(NEW, 3, y[:31], return_indices=True)
        for candidates in (iter(y[:31]), blocks(y[:31], 7)):
            found = model.predict_topk(NEW, 3, candidates, return_indices=True)
            assert found[0] == expected[0]
            assert_array_equal(np.array(found[2]), np.array(expected[2]))


def test_equal_scores_are_in_the_order_given(small):
    # a thousand copies of the best, in many blocks; scores of blocks may differ by rounding
    model, pool = fitted("output kernel")
    best = model.predict(NEW[:1], pool)
    many = np.concatenate([pool, np.repeat(best, 1000, axis=0), pool])
    first = int(np.flatnonzero((many == best).all(axis=1))[0])
    for order in (many, many[::-1]):
        _, scores, indices = model.predict_topk(NEW[:1], 30, iter(order), return_indices=True)
        assert_array_equal(indices[0], np.flatnonzero((order == best).all(axis=1))[:30])
        assert len(set(scores[0])) == 1
    assert model.predict_topk(NEW[:1], 1, iter(many), return_indices=True)[2][0][0] == first


def test_fewer_candidates_than_asked_for(small):
    model, pool = fitted("output kernel")
    found, scores, indices = model.predict_topk(NEW, 100, iter(pool[:40]), return_indices=True)
    assert all(len(own) == 40 and sorted(own) == list(range(40)) for own in indices)
    assert_array_equal(found[3], pool[:40][indices[3]])


def test_an_iterator_is_gone_through_once(small):
    model, pool = fitted("loss")
    expected = model.predict_topk(NEW, 3, pool, return_indices=True)
    asked = []

    def each():
        for z in pool:
            asked.append(1)
            yield z

    with sklearn.config_context(working_memory=0.03):  # queries in blocks of a few too
        assert len(OutputScorer(model.state_).query_blocks(NEW)) > 1
        assert_same(model.predict_topk(NEW, 3, each(), return_indices=True), expected)
        assert_same(model.predict_topk(NEW, 3, pool, return_indices=True), expected)
    assert len(asked) == len(pool)


def test_refusals(small):
    model, pool = fitted("output kernel")
    assert_refused(lambda: model.predict(NEW, iter([])), ["candidates", "at least one"])
    assert_refused(lambda: model.predict(NEW, iter(["a", "b"])), ["candidates", "rows of shape (2,)"])
    assert_refused(lambda: model.predict(NEW, iter([pool[0], None])), ["candidates", "known"])
    assert_refused(lambda: model.predict(NEW, iter([pool, pool[:, :1]])), ["candidates", "(2,)"])
    setting = StructuredPredictor("rbf", output_kernel="rbf", candidates=iter(pool))
    assert_refused(lambda: setting.fit(X, VECTORS), ["candidates", "only once", "predict"])
    words, _ = fitted("words")
    assert_refused(lambda: words.predict(NEW, iter([1, 2])), ["candidates", "str", "int"])


# ---------------------------------------------------------------- memory


def peak(function):
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("form", ["generator of blocks", "memory-mapped"])
def test_memory_does_not_grow_with_the_candidates(form, tmp_path):
    model, _ = fitted("output kernel")
    peaks = []
    for number in (100_000, 400_000):

        def some(number=number):
            draw = np.random.default_rng(0)
            return (draw.normal(size=(10_000, 2)) for _ in range(number // 10_000))

        candidates = some()
        if form == "memory-mapped":
            mapped = np.lib.format.open_memmap(tmp_path / f"{number}.npy", mode="w+", shape=(number, 2))
            for i, block in enumerate(some()):
                mapped[10_000 * i : 10_000 * (i + 1)] = block
            candidates = np.load(tmp_path / f"{number}.npy", mmap_mode="r")
        with sklearn.config_context(working_memory=32):
            peaks.append(peak(lambda candidates=candidates: model.predict_topk(NEW, 10, candidates)))
    assert max(peaks) < 40 * 2**20 and peaks[1] < 1.1 * peaks[0]
