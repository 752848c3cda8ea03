"""What compiled code of scikit-learn reads without looking: trees of nodes, and attributes of some estimators.

Nothing here trusts the file: child indices, features and shapes are checked before a prediction follows them.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
)
from sklearn.linear_model._stochastic_gradient import BaseSGD
from sklearn.neighbors import (
    BallTree,
    KDTree,
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import NODE_DTYPE, Tree

from .columns import check_columns
from .kinds import Kind, is_number, require

_NODE = np.dtype(NODE_DTYPE)
_LEAF = -1  # in place of both children
_FORESTS = (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
)
_NEIGHBORS = (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)
_DESCENT = {
    "coef_": ("_standard_coef", "_average_coef"),
    "intercept_": ("_standard_intercept", "_average_intercept"),
}
_THREADS = 4096
_INDICES = {"kd_tree": KDTree, "ball_tree": BallTree}


def tree_parts(tree):
    """Numbers of features, depth, classes (n_outputs,), values (nodes, n_outputs, classes), and nodes by column."""
    _, (features, classes, _), state = tree.__reduce__()
    nodes = state["nodes"]
    columns = [part for name in nodes.dtype.names for part in (name, np.ascontiguousarray(nodes[name]))]
    return [features, state["max_depth"], classes, state["values"], *columns]


def build_tree(features, depth, classes, values, *columns):
    """A tree of scikit-learn, all of whose nodes lead to leaves, by features that there are."""
    given = dict(zip(columns[::2], columns[1::2], strict=True))
    require(set(given) == set(_NODE.names), "nodes of a tree of another version of scikit-learn")
    require(type(features) is int and type(depth) is int and features > 0 and depth >= 0, "no tree")
    require(_is_array(classes, "i", 1) and len(classes) and classes.min() >= 1, "no classes of a tree")
    require(_is_array(values, "f", 3) and values.dtype == np.float64, "no values of a tree")
    count = len(values)
    require(count > 0 and values.shape[1:] == (len(classes), classes.max()), "values of a tree of another shape")
    nodes = np.zeros(count, dtype=_NODE)
    for name, column in given.items():
        require(_is_array(column, "iuf", 1) and column.shape == (count,), "no nodes of a tree")
        require(column.dtype == _NODE[name], "nodes of a tree of another dtype")
        nodes[name] = column
    _check_nodes(nodes, features)
    require(_depth(nodes) <= depth, "a tree deeper than it is said to be")  # paths are written to that length
    tree = Tree(features, np.ascontiguousarray(classes, dtype=np.intp), len(classes))
    values = np.ascontiguousarray(values)
    tree.__setstate__({"max_depth": depth, "node_count": count, "nodes": nodes, "values": values})
    return tree


def _check_nodes(nodes, features):
    """Every node but the first is the child of one before it, and splits are by features that there are."""
    left, right = nodes["left_child"], nodes["right_child"]
    inner = left != _LEAF
    require(np.array_equal(inner, right != _LEAF), "a node of a tree with one child")
    children = np.concatenate([left[inner], right[inner]])
    parents = np.tile(np.flatnonzero(inner), 2)
    whole = np.array_equal(np.sort(children), np.arange(1, len(nodes)))
    require(whole and (children > parents).all(), "nodes that are no tree")
    split = nodes["feature"][inner]
    require(not len(split) or (split.min() >= 0 and split.max() < features), "a tree by features that there are not")


def _depth(nodes) -> int:
    """Number of levels below the first node."""
    depth, level = -1, np.zeros(1, dtype=np.intp)
    while len(level):
        depth += 1
        inner = nodes[level[nodes["left_child"][level] != _LEAF]]
        level = np.concatenate([inner["left_child"], inner["right_child"]])
    return depth


def check_memory(estimator):
    """Raise where the steps of a pipeline are kept in a folder of pickles, which its fit would read."""
    if isinstance(estimator, (Pipeline, FeatureUnion)):
        require(vars(estimator).get("memory") is None, "memory is a folder of pickles; set memory=None")


def check(estimator):
    """Raise unless the attributes of an estimator agree as far as compiled code takes it for granted."""
    check_memory(estimator)
    if isinstance(estimator, BaseDecisionTree):
        _check_tree(estimator)
    elif isinstance(estimator, _FORESTS):
        _check_forest(estimator)
    elif isinstance(estimator, _NEIGHBORS):
        _check_neighbors(estimator)
    elif isinstance(estimator, (KMeans, MiniBatchKMeans)):
        _check_clusters(estimator)
    elif isinstance(estimator, BaseSGD):
        _check_descent(estimator)
    else:
        check_columns(estimator)


def _check_tree(estimator):
    learnt = vars(estimator)
    tree = learnt.get("tree_")
    if tree is None:
        return
    require(isinstance(tree, Tree) and tree.n_features == learnt.get("n_features_in_"), "a tree of other features")
    require(tree.n_outputs == learnt.get("n_outputs_"), "a tree of other outputs")


def _check_forest(forest):
    """Inputs are checked by the first tree alone."""
    learnt = vars(forest)
    for one in learnt.get("estimators_", ()):
        features = vars(one).get("n_features_in_") if isinstance(one, BaseDecisionTree) else None
        require(features is not None and features == learnt.get("n_features_in_"), "trees of other features")


def _check_clusters(estimator):
    learnt = vars(estimator)
    centers, threads = learnt.get("cluster_centers_"), learnt.get("_n_threads", 1)
    require(centers is None or _is_table(centers, estimator), "centres of clusters of another shape")
    require(type(threads) is int and 0 < threads <= _THREADS, "no number of threads")
    counts = learnt.get("_counts")  # to which batches add
    require(counts is None or (_is_array(counts, "f", 1) and len(counts) == len(centers)), "other numbers of clusters")


def _check_descent(estimator):
    """Further batches move coefficients and their averages together."""
    learnt = vars(estimator)
    for whole, names in _DESCENT.items():
        found = [learnt[name] for name in (whole, *names) if learnt.get(name) is not None]
        require(all(isinstance(one, np.ndarray) for one in found), "no coefficients")
        require(len({one.size for one in found}) <= 1, "coefficients of different shapes")


def _check_neighbors(estimator):
    """Samples of the right shape; the index over them, which is not in files, is made anew."""
    learnt = vars(estimator)
    samples = learnt.get("_fit_X")
    if samples is None:
        return
    require(isinstance(learnt.get("effective_metric_"), str), "a metric that is no name")
    require(learnt.get("n_samples_fit_") == samples.shape[0], "another number of samples")
    precomputed = learnt["effective_metric_"] == "precomputed"
    require(precomputed or _is_table(samples, estimator), "samples of another shape")
    number = learnt.get("n_neighbors")  # None for those within a radius
    require(number is None or (is_number(number) and number > 0), "no number of neighbours")
    if "classes_" in learnt:
        _check_labels(learnt["_y"], learnt["classes_"], samples.shape[0])
    method = learnt.get("_fit_method")
    require(method == "brute" or method in _INDICES, f"no method {method!r}")
    if method in _INDICES:
        metric = {"metric": learnt["effective_metric_"], **learnt["effective_metric_params_"]}
        learnt["_tree"] = _INDICES[method](samples, learnt["leaf_size"], **metric)


def _check_labels(labels, classes, n_samples):
    """Labels are numbers of classes, of one output or of several."""
    several = isinstance(classes, list)
    require(_is_array(labels, "i", 1 + several) and len(labels) == n_samples, "no labels of samples")
    for column, known in zip(labels.T if several else [labels], classes if several else [classes], strict=True):
        require(column.min() >= 0 and column.max() < len(known), "labels that are no classes")


def _is_table(rows, estimator) -> bool:
    """Whether rows are numbers as many as there are features."""
    good = scipy.sparse.issparse(rows) or isinstance(rows, np.ndarray)
    return good and rows.ndim == 2 and rows.dtype.kind in "f" and rows.shape[1] == vars(estimator).get("n_features_in_")


def _is_array(value, kinds, dimensions) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.ndim == dimensions


ESTIMATORS = (
    Kind("tree", ("sklearn.Tree",), tree_parts, build_tree),
    Kind("index", ("sklearn.KDTree", "sklearn.BallTree"), lambda index: [], lambda: None),  # see ``_check_neighbors``
)
