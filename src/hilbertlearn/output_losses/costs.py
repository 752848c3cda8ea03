"""Losses on classes with a cost for each pair: matrices, functions of two labels, hierarchies."""

from __future__ import annotations

from functools import partial
from itertools import chain

import numpy as np

from ..data.objects import distinct, take
from .base import OutputLoss, as_floats

_LISTED = 5  # number of labels that an error message lists


class CostMatrix(OutputLoss):
    """``C[z, y]``, the cost of predicting z where y is true, for a finite set of labels.

    Predictions are the best of all labels, seen in training or not. For outputs of any kind whose losses are
    known, number the distinct outputs, and give the numbers as y and the matrix of losses as C.

    Parameters
    ----------
    C : array of shape (c, c), data frame, dict or callable
        Finite costs, a row for each prediction and a column for each true label. A matrix; a data frame whose rows and
        columns name the labels; a dict of dicts ``{z: {y: cost}}`` or of pairs ``{(z, y): cost}``, where a label has
        cost 0 for itself and a pair in one order applies to both; or a function of two labels.
    labels : list, default=None
        The labels in the order of C. None for 0, ..., c - 1, for the labels that C names, or, if C is a function, for
        those of the training outputs.

    References
    ----------
    - Elkan (2001). The foundations of cost-sensitive learning. IJCAI.

    Examples
    --------
    >>> from hilbertlearn import StructuredPredictor, output_losses
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["ill", "well", "well", "well"]
    >>> costs = output_losses.CostMatrix({("well", "ill"): 20.0, ("ill", "well"): 1.0})  # of predicting, where true
    >>> for loss in (output_losses.ZeroOne(), costs):
    ...     print(list(StructuredPredictor(output_loss=loss, gamma=1.0, alpha=0.1).fit(X, y).predict([[1.0], [3.0]])))
    ['well', 'well']
    ['ill', 'well']
    """

    decoder = "classes"

    def __init__(self, C, labels=None):
        self.C, self.labels = C, labels

    def resolve(self, outputs):
        labels = self.labels
        if callable(self.C) and labels is None:
            labels = sorted_labels(outputs)
        C, labels = self._costs_and_labels(labels)
        return CostMatrix(C, labels)

    def check(self, outputs):
        C, labels = self._costs_and_labels(self.labels)
        return (
            _check_numbers(outputs, C) if labels is None else find_positions(outputs, labels, "the labels of the costs")
        )

    def restore(self, outputs, like):
        labels = self._costs_and_labels(self.labels)[1]
        return outputs if labels is None else [labels[i] for i in outputs]

    def all_outputs(self, outputs):
        return np.arange(len(self._costs_and_labels(self.labels)[0]))

    def classes(self, outputs):
        C, labels = self._costs_and_labels(self.labels)
        return np.arange(len(C)) if labels is None else labels

    def __call__(self, Z, Y):
        return self._costs_and_labels(self.labels)[0][np.ix_(Z, Y)]

    def _costs_and_labels(self, labels):
        """The costs (c, c), and the list of their labels or None for numbers from 0 on."""
        labels = None if labels is None else list(labels)
        if labels is not None and len(distinct(labels)[0]) < len(labels):
            raise ValueError("labels must differ from each other; name each once")
        C = self.C
        if hasattr(C, "nodes") and hasattr(C, "edges"):
            raise TypeError("C is a graph; the lengths of its paths as costs are Hierarchy(tree)")
        if hasattr(C, "columns") and hasattr(C, "index"):
            C = _costs_from_frame(C)
        if isinstance(C, dict):
            labels = _labels_of_dict(C) if labels is None else labels
            C = _evaluate(partial(_cost_from_dict, C), labels)
        elif callable(C):
            if labels is None:
                raise ValueError("labels: a function of two labels needs them; give CostMatrix(function, labels=...)")
            C = _evaluate(C, labels)
        return _check_costs(C, labels), labels


class Hierarchy(OutputLoss):
    """The length of the path between two nodes of a tree.

    Predictions are the best of all nodes, or of `labels`.

    Parameters
    ----------
    tree : networkx graph
        A connected graph without cycles; directions of edges are ignored.
    labels : list, default=None
        Nodes that are possible outputs and predictions, such as the leaves; None for all.
    weight : str, default=None
        Name of the edge attribute that holds its length; None for length 1.

    References
    ----------
    - Cai and Hofmann (2004). Hierarchical document categorization with support vector machines. CIKM.

    Examples
    --------
    >>> import networkx as nx
    >>> import numpy as np
    >>> from hilbertlearn import StructuredPredictor, output_losses
    >>> tree = nx.Graph([("thing", "car"), ("thing", "animal"), ("animal", "pet"), ("pet", "cat"), ("pet", "dog")])
    >>> X, y = np.zeros((10, 1)), ["car"] * 4 + ["cat"] * 3 + ["dog"] * 3
    >>> for loss in (output_losses.ZeroOne(), output_losses.Hierarchy(tree)):
    ...     print(*StructuredPredictor(output_loss=loss, gamma=1.0, alpha=1e-6).fit(X, y).predict([[0.0]]))
    car
    pet
    """

    decoder = "classes"

    def __init__(self, tree, labels=None, weight=None):
        self.tree, self.labels, self.weight = tree, labels, weight

    def resolve(self, outputs):
        lengths, nodes = path_lengths(self.tree, self.weight)
        labels = nodes if self.labels is None else list(self.labels)
        rows = find_positions(labels, nodes, "the nodes of the hierarchy", "labels")
        return CostMatrix(lengths[np.ix_(rows, rows)], labels)

    def check(self, outputs):
        return self.resolve(outputs).check(outputs)

    def restore(self, outputs, like):
        return self.resolve(like).restore(outputs, like)

    def all_outputs(self, outputs):
        return self.resolve(outputs).all_outputs(outputs)

    def classes(self, outputs):
        return self.resolve(outputs).classes(outputs)

    def __call__(self, Z, Y):
        return self.resolve(Y)(Z, Y)


def path_lengths(tree, weight=None):
    """Lengths (c, c) of the paths between all nodes of a tree, and the list of the nodes."""
    if not (hasattr(tree, "nodes") and hasattr(tree, "edges")):
        raise TypeError(
            f"tree must be a networkx graph, got {type(tree).__name__}; make one by networkx.Graph(list of edges)"
        )
    nodes = list(tree.nodes)
    if not nodes:
        raise ValueError("tree has no nodes; give at least one")
    links = _links(tree, nodes, weight)
    lengths, row_of, order = np.zeros((len(nodes), len(nodes))), {nodes[0]: 0}, [(nodes[0], None)]
    for node, parent in order:  # grows during the loop: a node is appended after its parent
        for child, length in _children(node, parent, links, row_of):
            i = len(row_of)
            lengths[i, :i] = lengths[:i, i] = lengths[row_of[node], :i] + length
            row_of[child] = i
            order.append((child, node))
    if len(row_of) < len(nodes):
        unreached = next(node for node in nodes if node not in row_of)
        raise ValueError(
            f"tree is not connected: no path from {nodes[0]!r} to {unreached!r}; add the edges that are missing"
        )
    rows = [row_of[node] for node in nodes]
    return lengths[np.ix_(rows, rows)], nodes


def _links(tree, nodes, weight):
    """For each node the list of its neighbours and of the lengths of the edges to them."""
    links: dict = {node: [] for node in nodes}
    for a, b, data in tree.edges(data=True):
        length = _edge_length(a, b, data, weight)
        links[a].append((b, length))
        links[b].append((a, length))
    return links


def _children(node, parent, links, visited):
    """Neighbours of a node other than its parent, with the lengths of the edges; a ValueError if there is a cycle."""
    children = [link for link in links[node] if link[0] != parent]
    repeated = len(links[node]) - len(children) > (parent is not None)
    repeated |= len({child for child, _ in children}) < len(children)
    if repeated or any(child in visited for child, _ in children):
        raise ValueError(
            f"tree has a cycle, through {node!r}; remove an edge of it (networkx.find_cycle shows one), or give "
            "the costs as a CostMatrix"
        )
    return children


def _edge_length(a, b, data, weight):
    """Length of the edge between a and b with attributes `data`."""
    if weight is None:
        return 1.0
    if weight not in data:
        raise ValueError(
            f"tree: the edge {a!r} - {b!r} has no attribute {weight!r}; set it, or weight=None for lengths 1"
        )
    length = data[weight]
    if as_floats(length) is None or not np.isfinite(length) or length < 0:
        raise ValueError(f"tree: the edge {a!r} - {b!r} has the length {length!r}; give finite numbers >= 0")
    return float(length)


def sorted_labels(outputs):
    """Distinct labels among outputs, sorted if possible, else in the order of their appearance."""
    items = take(outputs, distinct(outputs)[0])
    items = items.tolist() if isinstance(items, np.ndarray) else items
    try:
        return sorted(items)
    except TypeError:
        return items


def _costs_from_frame(frame):
    """Costs of a data frame as a dict of dicts, predictions first."""
    values = frame.to_numpy()
    return {z: dict(zip(frame.columns, row)) for z, row in zip(frame.index, values)}


def _labels_of_dict(costs):
    """Labels of a dict of costs, in the order of their appearance."""
    if all(isinstance(inner, dict) for inner in costs.values()):
        names = chain(costs, *costs.values())
    elif all(isinstance(pair, tuple) and len(pair) == 2 for pair in costs):
        names = chain.from_iterable(costs)
    else:
        raise ValueError(
            "C: a dict of costs is {z: {y: cost}} or {(z, y): cost}, z predicted where y is true; got another"
        )
    return list(dict.fromkeys(names))


def _evaluate(function, labels):
    """Costs of all pairs of labels by a function of two."""
    return [[_cost(function(z, y), z, y) for y in labels] for z in labels]


def _cost_from_dict(costs, z, y):
    """The cost of z where y is true from a dict; a pair in one order applies to both, a label has cost 0 for itself."""
    for a, b in ((z, y), (y, z)):
        if (a, b) in costs:
            return costs[a, b]
        if isinstance(costs.get(a), dict) and b in costs[a]:
            return costs[a][b]
    if z == y:
        return 0.0
    raise ValueError(f"C has no cost of predicting {z!r} where {y!r} is true; add it")


def _cost(value, z, y):
    """One cost as a finite float, or a ValueError."""
    number = as_floats(value)
    if number is None or number.ndim or not np.isfinite(number):
        raise ValueError(f"C: the cost of predicting {z!r} where {y!r} is true must be a finite number, got {value!r}")
    return float(number)


def _check_costs(C, labels):
    """Costs (c, c) as finite floats, or a ValueError."""
    C = as_floats(C)
    if C is None or C.ndim != 2 or C.shape[0] != C.shape[1]:
        raise ValueError(
            "C must be a square matrix of costs C[z, y], one row and column a label, got "
            f"{'other objects' if C is None else f'shape {C.shape}'}"
        )
    if not np.isfinite(C).all():
        raise ValueError("C contains NaN or infinity; give finite costs")
    if labels is not None and len(labels) != len(C):
        raise ValueError(
            f"labels: {len(labels)} for a cost matrix C of shape {C.shape}; give one for each row and column"
        )
    return C


def _check_numbers(outputs, C):
    """Outputs as integer labels (n,) of a cost matrix without names."""
    labels = as_floats(outputs)
    if labels is None or labels.ndim != 1 or not (labels == np.rint(labels)).all():
        raise ValueError(
            "y must be a list of integers, the rows and columns of the cost matrix C; number the outputs, or name the "
            "rows: CostMatrix(C, labels=[...])"
        )
    unknown = labels[(labels < 0) | (labels >= len(C))]
    if len(unknown):
        raise ValueError(
            f"y has the label {unknown[0]:g}, but the cost matrix C has shape {C.shape}; labels are 0 to "
            f"{len(C) - 1}, or give a larger C"
        )
    return labels.astype(int)


def find_positions(outputs, labels, description, name="y"):
    """Positions (n,) of outputs in the list of labels; description and name are for error messages."""
    position_of = {label: i for i, label in enumerate(labels)}
    try:
        missing = next((item for item in outputs if item not in position_of), None)
    except TypeError:
        kinds = ", ".join(sorted({type(item).__name__ for item in outputs}))
        raise ValueError(f"{name} must be labels, one of {description} each, got {kinds}") from None
    if missing is not None:
        known = ", ".join(map(repr, labels[:_LISTED])) + (", ..." if len(labels) > _LISTED else "")
        raise ValueError(
            f"{name} has {missing!r}, which is not among {description} ({known}); add it there, or correct {name}"
        )
    return np.array([position_of[item] for item in outputs], dtype=int)
