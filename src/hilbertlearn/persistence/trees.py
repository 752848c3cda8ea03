"""Decision trees of scikit-learn, alone and in forests.

Compiled code follows child indices and feature numbers without checks. They are checked here, before a prediction.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
)
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import NODE_DTYPE, Tree

from .kinds import Kind, require

_NODE = np.dtype(NODE_DTYPE)
_LEAF = -1  # in place of both children
_FORESTS = (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
)


def check_trees(estimator):
    """Raise unless the trees of an estimator take its features and outputs."""
    learnt = vars(estimator)
    if isinstance(estimator, BaseDecisionTree) and learnt.get("tree_") is not None:
        tree = learnt["tree_"]
        require(isinstance(tree, Tree) and tree.n_features == learnt.get("n_features_in_"), "a tree of other features")
        require(tree.n_outputs == learnt.get("n_outputs_"), "a tree of other outputs")
    elif isinstance(estimator, _FORESTS):  # which check inputs by their first tree only
        for member in learnt.get("estimators_", ()):
            features = vars(member).get("n_features_in_") if isinstance(member, BaseDecisionTree) else None
            require(features is not None and features == learnt.get("n_features_in_"), "trees of other features")


def _parts(tree):
    """Number of features, depth, classes (n_outputs,), values (nodes, n_outputs, classes), columns of the nodes."""
    _, (features, classes, _), state = tree.__reduce__()
    nodes = state["nodes"]
    columns = [part for name in nodes.dtype.names for part in (name, np.ascontiguousarray(nodes[name]))]
    return [features, state["max_depth"], classes, state["values"], *columns]


def _build(features, depth, classes, values, *columns):
    """A tree in which every node leads to leaves, and splits by a feature that exists."""
    columns_by_name = dict(zip(columns[::2], columns[1::2], strict=True))
    require(set(columns_by_name) == set(_NODE.names), "nodes of a tree of another version of scikit-learn")
    require(type(features) is int and type(depth) is int and features > 0 and depth >= 0, "no tree")
    require(_is_array(classes, "i", 1) and len(classes) and classes.min() >= 1, "no classes of a tree")
    require(_is_array(values, "f", 3) and values.dtype == np.float64, "no values of a tree")
    count = len(values)
    require(count > 0 and values.shape[1:] == (len(classes), classes.max()), "values of a tree of another shape")
    nodes = np.zeros(count, dtype=_NODE)
    for name, column in columns_by_name.items():
        require(_is_array(column, "iuf", 1) and column.shape == (count,), "no nodes of a tree")
        require(column.dtype == _NODE[name], "nodes of a tree of another dtype")
        nodes[name] = column
    _check_nodes(nodes, features)
    require(_depth(nodes) <= depth, "a tree deeper than its stated depth")  # buffers of paths have that length
    tree = Tree(features, np.ascontiguousarray(classes, dtype=np.intp), len(classes))
    values = np.ascontiguousarray(values)
    tree.__setstate__({"max_depth": depth, "node_count": count, "nodes": nodes, "values": values})
    return tree


def _check_nodes(nodes, features):
    """Raise unless every node but the first is the child of one earlier node, and splits are by existing features."""
    left, right = nodes["left_child"], nodes["right_child"]
    inner = left != _LEAF
    require(np.array_equal(inner, right != _LEAF), "a node of a tree with one child")
    children = np.concatenate([left[inner], right[inner]])
    parents = np.tile(np.flatnonzero(inner), 2)
    each_once = np.array_equal(np.sort(children), np.arange(1, len(nodes)))
    require(each_once and (children > parents).all(), "nodes that are no tree")
    split = nodes["feature"][inner]
    require(not len(split) or (split.min() >= 0 and split.max() < features), "a tree by features that do not exist")


def _depth(nodes) -> int:
    """Number of levels below the root."""
    depth, level = -1, np.zeros(1, dtype=np.intp)
    while len(level):
        depth += 1
        inner = nodes[level[nodes["left_child"][level] != _LEAF]]
        level = np.concatenate([inner["left_child"], inner["right_child"]])
    return depth


def _is_array(value, kinds, dimensions) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.ndim == dimensions


KINDS = (Kind("tree", ("sklearn.Tree",), _parts, _build),)
