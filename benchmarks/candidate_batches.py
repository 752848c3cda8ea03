"""Candidates of many queries are scored in batches: each pair of distinct outputs is evaluated once."""

import numpy as np

from hilbertlearn import StructuredPredictor, kernels

from .timing import best_of, report, seconds


class Fingerprint:
    """An object that is compared by a function of two, in Python."""

    def __init__(self, bits):
        self.bits = frozenset(bits)


class Counted:
    """Tanimoto's similarity of two such objects, and how often it was asked for."""

    def __init__(self):
        self.calls = 0

    def __call__(self, a, b):
        self.calls += 1
        common = len(a.bits & b.bits)
        return common / (len(a.bits) + len(b.bits) - common)


def objects(queries, each, pool, n):
    """Kernel values of a kernel in Python, over the distinct pairs of a candidate and a training output."""
    rng = np.random.default_rng(0)
    draw = [Fingerprint(rng.choice(1024, size=40, replace=False)) for _ in range(pool + n)]
    count = Counted()
    model = StructuredPredictor("rbf", alpha=1e-3, output_kernel=kernels.PairwiseKernel(count))
    model.fit(rng.normal(size=(n, 5)), draw[pool:])
    order = rng.permutation(np.arange(queries * each) % pool).reshape(queries, each)
    lists = [[draw[i] for i in own] for own in order]
    used = min(pool, queries * each)
    count.calls = 0
    t = seconds(lambda: model.predict_topk(rng.normal(size=(queries, 5)), 5, candidates_per_query=lists))
    report("candidate_batches", "distinct pairs", kernel="Python", ratio=count.calls / (used * n), at_most=1.3,
           seconds=t, pairs=used * n, candidates=queries * each)  # fmt: skip


def fingerprints(queries, each, pool, n, bits, repeats):
    """Rows of bits: seconds of all queries at once and of one after the other, and queries with another answer."""
    rng = np.random.default_rng(0)
    rows = (rng.random((pool + n, bits)) < 0.05).astype(np.uint8)
    model = StructuredPredictor("rbf", alpha=1e-3, output_kernel=kernels.Tanimoto())
    model.fit(rng.normal(size=(n, 5)), rows[pool:])
    X = rng.normal(size=(queries, 5))
    lists = [rows[rng.integers(pool, size=each)] for _ in range(queries)]

    def together():
        return model.predict_topk(X, 5, candidates_per_query=lists, return_indices=True)[2]

    def one_by_one():
        each = (model.predict_topk(X[q : q + 1], 5, lists[q], return_indices=True) for q in range(queries))
        return [indices[0] for *_, indices in each]

    t_ours, t_theirs = best_of(together, one_by_one, repeats=repeats)
    wrong = sum(not np.array_equal(a, b) for a, b in zip(together(), one_by_one()))
    return t_ours, t_theirs, wrong


def main(queries=300, each=20, pool=6000, n=100, many=500, own=100, shared=2000, rows=500, bits=1024, repeats=5):
    objects(queries, each, pool, n)
    objects(queries, each, pool // 10, n)
    t, one_by_one, wrong = fingerprints(many, own, shared, rows, bits, repeats)
    # what is gained is the work on candidates that queries share; without any, little more than calls is left to gain
    t_distinct, distinct_one_by_one, _ = fingerprints(many, own, many * own, rows, bits, 1)
    report("candidate_batches", "one query at a time", kernel="Tanimoto", speedup=one_by_one / t, at_least=20.0,
           seconds=t, wrong=wrong, candidates=many * own, distinct=shared,
           speedup_if_nearly_all_differ=distinct_one_by_one / t_distinct)  # fmt: skip


if __name__ == "__main__":
    main()
