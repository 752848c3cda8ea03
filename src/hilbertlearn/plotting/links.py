"""Pictures of networks: known and predicted links."""

from __future__ import annotations

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph

from ..data.graphs import read_known_graph
from .axes import BLACK, CYCLE, GREY, RED, axes_of

_ROUNDS = 100  # iterations of stress majorization; the time is linear in it
_MIN_DISTANCE = 1e-3  # smallest distance of two nodes in a division, in links
_MAX_NAMED = 40  # largest number of nodes whose names are all written
_WIDTHS = (1.2, 3.2)  # line widths, in points, of the lowest and the highest score


def node_positions(graph):
    """Positions of nodes in the plane whose distances approximate the lengths of shortest paths.

    Parameters
    ----------
    graph : array or sparse matrix of shape (n, n), networkx graph or edge list
        The adjacency matrix, or a graph in any form that link estimators take.

    Returns
    -------
    positions : array of shape (n, 2)
        In the order of the rows of a matrix, or of the nodes of a graph. Repeated calls give the same positions.

    References
    ----------
    - Gansner, Koren and North (2004). Graph drawing by stress majorization. Graph Drawing.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import plotting
    >>> ring = np.roll(np.eye(8), 1, axis=0)
    >>> plotting.node_positions(ring + ring.T).shape
    (8, 2)
    """
    hops = _hops(read_known_graph(graph, "graph").adjacency)
    places = _start(hops)
    if len(hops) < 3:
        return places
    weights = 1.0 / np.maximum(hops, 1.0) ** 2 - np.eye(len(hops))  # near pairs count more
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(_ROUNDS):
        forces = weights * hops / np.maximum(_distances(places), _MIN_DISTANCE)
        places = inverse @ (forces.sum(axis=1)[:, None] * places - forces @ places)
    return places - places.mean(axis=0)


def _hops(links):
    """Lengths (n, n) of the shortest paths; unconnected nodes are 1.2 times the longest path apart."""
    hops = scipy.sparse.csgraph.shortest_path(links != 0, directed=False, unweighted=True)
    longest = np.max(hops, where=np.isfinite(hops), initial=1.0)
    return np.where(np.isfinite(hops), hops, 1.2 * longest)


def _start(hops):
    """Classical scaling of the lengths, with small noise because nodes may coincide."""
    n = len(hops)
    middle = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * middle @ hops**2 @ middle)
    leading = vectors[:, ::-1][:, :2]
    # eigenvectors have an arbitrary sign: make the largest entry positive
    leading = leading * np.sign(leading[np.abs(leading).argmax(axis=0), range(leading.shape[1])])
    places = np.zeros((n, 2))
    places[:, : leading.shape[1]] = leading * np.sqrt(np.maximum(values[::-1][:2], 0.0))
    return places + 0.05 * np.random.default_rng(0).normal(size=(n, 2))


def _distances(places):
    return np.linalg.norm(places[:, None] - places, axis=2) + np.eye(len(places))


def plot_links(graph, ax=None, *, predicted=None, positions=None, groups=None, named=None):
    """Draw a network: known links in grey, predicted links in red, wider for higher scores.

    Parameters
    ----------
    graph : array or sparse matrix of shape (n, n), networkx graph or edge list
        The known links.
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure.
    predicted : list of (name, name, score), or matrix of shape (n, n), default=None
        Predicted links, as ``LinkPredictor.predict_links`` returns them.
    positions : array of shape (n, 2), default=None
        Positions of the nodes; None for ``node_positions(graph)``.
    groups : array of shape (n,), default=None
        Labels of the nodes, one colour each; nodes without a label (None, NaN) are white.
    named : list of names, default=None
        Nodes whose names are written; None for the ends of predicted links, or all nodes if there are at most 40.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.

    References
    ----------
    - Brouard, C., Szafranski, M. and d'Alché-Buc, F. (2016). Input output kernel regression: supervised and
      semi-supervised structured output prediction with operator-valued kernels. JMLR 17(176).

    Examples
    --------
    >>> from hilbertlearn import plotting
    >>> friends = [("Ann", "Bob"), ("Bob", "Cid"), ("Cid", "Dan"), ("Dan", "Ann"), ("Dan", "Eve")]
    >>> ax = plotting.plot_links(friends, predicted=[("Bob", "Dan", 1.3)])
    >>> [text.get_text() for text in ax.texts]
    ['Bob', 'Dan']
    """
    known = read_known_graph(graph, "graph")
    nodes, n = [name.item() if hasattr(name, "item") else name for name in known.nodes], len(known)
    place = {name: i for i, name in enumerate(nodes)}
    pairs = _predicted_pairs(predicted, place, n)
    positions = node_positions(graph) if positions is None else np.asarray(positions, dtype=float)
    if positions.shape != (n, 2):
        raise ValueError(f"positions must have a row of two numbers for each of the {n} nodes, got {positions.shape}")
    if groups is not None and len(groups) != n:
        raise ValueError(f"groups must have a label for each of the {n} nodes, got {len(groups)}")
    written = _named_nodes(named, pairs, place)
    ax = axes_of(ax)
    first, second = scipy.sparse.triu(known.adjacency).nonzero()
    _draw(ax, positions, np.column_stack([first, second]), GREY, 0.9, 0.6, 1, "known links")
    if pairs:
        widths = _widths(np.array([score for *_, score in pairs]))
        _draw(ax, positions, np.array([pair[:2] for pair in pairs]), RED, widths, 0.9, 2, "predicted links")
    _nodes(ax, positions, groups)
    for i in written:
        _write(ax, positions[i], str(nodes[i]))
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.08)
    ax.set_axis_off()
    return ax


def _named_nodes(named, pairs, place):
    """Positions of the nodes whose names are written; by default the ends of predicted links, or all of few nodes."""
    if named is not None:
        return [_place_of(name, place, "named") for name in named]
    if pairs:
        return list(dict.fromkeys(i for pair in pairs for i in pair[:2]))
    return list(range(len(place) if len(place) <= _MAX_NAMED else 0))


def _predicted_pairs(predicted, place, n):
    """Predicted links as triples (row, row, score)."""
    if predicted is None:
        return []
    if scipy.sparse.issparse(predicted) or hasattr(predicted, "shape"):
        matrix = scipy.sparse.coo_array(predicted)
        if matrix.shape != (n, n):
            raise ValueError(f"predicted must be a matrix ({n}, {n}) of the nodes of graph, got {matrix.shape}")
        upper = matrix.row < matrix.col
        return list(zip(matrix.row[upper], matrix.col[upper], matrix.data[upper].astype(float), strict=True))
    if any(len(link) != 3 for link in predicted):
        raise ValueError("predicted must have entries (name, name, score), as predict_links(top_k=...) returns them")
    return [(_place_of(u, place, "predicted"), _place_of(v, place, "predicted"), float(s)) for u, v, s in predicted]


def _place_of(name, place, what):
    if name not in place:
        raise ValueError(f"{what}: {name!r} is no node of graph")
    return place[name]


def _widths(scores):
    spread = np.ptp(scores)
    share = (scores - scores.min()) / spread if spread > 0 else np.ones(len(scores))
    return _WIDTHS[0] + (_WIDTHS[1] - _WIDTHS[0]) * share


def _draw(ax, positions, pairs, color, widths, alpha, zorder, label):
    from matplotlib.collections import LineCollection

    lines = LineCollection(positions[pairs], colors=color, linewidths=widths, alpha=alpha, zorder=zorder, label=label)
    ax.add_collection(lines)


def _write(ax, place, name):
    """Write a name above its node, with a white outline."""
    from matplotlib.patheffects import withStroke

    ax.annotate(name, place, xytext=(0, 4), textcoords="offset points", ha="center", va="bottom", fontsize="small",
                color=BLACK, zorder=5, path_effects=[withStroke(linewidth=2.5, foreground="white")])  # fmt: skip


def _nodes(ax, positions, groups):
    if groups is None:
        ax.scatter(*positions.T, s=28, color=CYCLE[0], edgecolors="white", linewidths=0.7, zorder=3)
        return
    labels = np.array([None if label is None or label != label else label for label in groups], dtype=object)
    kinds = list(dict.fromkeys(label for label in labels if label is not None))
    for kind, color in zip([*kinds, None], [*np.resize(CYCLE, len(kinds)), "white"], strict=True):
        rows = np.array([label == kind if kind is not None else label is None for label in labels])
        if rows.any():
            ax.scatter(*positions[rows].T, s=36, color=color, edgecolors=GREY if kind is None else "white",
                       linewidths=0.7, zorder=3, label=None if kind is None else str(kind))  # fmt: skip
