"""Links of many nodes: default settings, embeddings of low rank, the best of all pairs.

- automatic: 2000 known nodes, gamma and alpha selected, within 8 times one ``eigh`` of their Gram matrix.
- many: 5000 known nodes, gamma and alpha selected, with an embedding of low rank, within 3 times one ``eigh``;
  compared with the same gamma and alpha and all eigenvectors, at most 0.5 points of AUC on new nodes are lost.
- top_links: the 100 best of the five billion pairs of 100 000 new nodes, in a separate process that may use 2 GB;
  figures are gigabytes, and seconds for a billion pairs.
"""

import subprocess
import sys

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import LinkPredictor
from hilbertlearn.metrics import link_roc_auc

from .timing import best_of, report, seconds

TOP = """
import re, sys, time
from pathlib import Path
from benchmarks.links import blocks_of_nodes
from hilbertlearn import LinkPredictor

known, nodes, k = map(int, sys.argv[1:])
X, W = blocks_of_nodes(known + nodes)
model = LinkPredictor().fit(X[:known], W[:known][:, :known])

def peak():  # in kilobytes, on Linux; getrusage would begin with the peak of the parent process
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

start = time.perf_counter()
found = model.predict_links(X[known:], top_k=k)
print(peak() / 2**20, time.perf_counter() - start, len(found))
"""


def blocks_of_nodes(n, n_classes=20, degree=6.0, between=1.0, seed=0):
    """Features (n, 10) and a sparse graph (n, n) of classes: nodes have `degree` links within, `between` outside."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n_classes, 10))[classes] + 0.8 * rng.normal(size=(n, 10))
    i = rng.integers(n, size=int(n * (degree + between) / 2))
    order = np.argsort(classes, kind="stable")
    starts = np.searchsorted(classes[order], np.arange(n_classes + 1))
    first, sizes = starts[classes[i]], np.diff(starts)[classes[i]]
    own = order[first + (rng.random(len(i)) * sizes).astype(int)]
    j = np.where(rng.random(len(i)) < degree / (degree + between), own, rng.integers(n, size=len(i)))
    W = scipy.sparse.csr_array((np.ones(len(i)), (i, j)), shape=(n, n))
    W.setdiag(0.0)
    W.eliminate_zeros()
    return X, scipy.sparse.csr_array(W + W.T).astype(bool).astype(float)


def automatic(n, repeats):
    X, W = blocks_of_nodes(n)
    K = rbf_kernel(X, gamma=0.05)
    t_ours, t_eigh = best_of(
        lambda: LinkPredictor(gamma="auto").fit(X, W), lambda: scipy.linalg.eigh(K), repeats=repeats
    )
    report("links", "scipy.linalg.eigh", task="automatic", ratio=t_ours / t_eigh, at_most=8, seconds=t_ours)


def many(known, new):
    X, W = blocks_of_nodes(known + new)
    train, test = slice(0, known), slice(known, known + new)
    graph, expected = W[train][:, train], W[test][:, test]
    model = LinkPredictor(gamma="auto")
    t_ours = seconds(lambda: model.fit(X[train], graph))
    K = rbf_kernel(X[train], gamma=model.gamma_)
    t_eigh = seconds(lambda: scipy.linalg.eigh(K, overwrite_a=True))
    exact = LinkPredictor(gamma=model.gamma_, alpha=model.alpha_, rank=None).fit(X[train], graph)
    low, full = (100 * link_roc_auc(expected, one.pair_scores(X[test])) for one in (model, exact))
    report("links", "scipy.linalg.eigh", task="many", ratio=t_ours / t_eigh, at_most=3, seconds=t_ours, auc=low,
           points_lost=full - low)  # fmt: skip


def top(top_known, nodes, k):
    command = [sys.executable, "-c", TOP, str(top_known), str(nodes), str(k)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    memory, ours, found = map(float, run.stdout.split())
    report("links", "2 GB of memory", task="top_links", ratio=memory / 2, at_most=1.0, gigabytes=memory,
           found=int(found), seconds_per_billion=ours / (nodes * (nodes - 1) / 2e9))  # fmt: skip


def main(n=2000, repeats=2, known=5000, new=1000, top_known=200, nodes=100_000, k=100):
    automatic(n, repeats)
    many(known, new)
    top(top_known, nodes, k)


if __name__ == "__main__":
    main()
