"""Pictures of links: nodes, lines between them, groups."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import plotting

plt = pytest.importorskip("matplotlib.pyplot")

RING = np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0)


def test_positions_follow_the_paths():
    hexagon = plotting.node_positions(RING)
    radii = np.linalg.norm(hexagon, axis=1)
    assert_allclose(radii, radii.mean(), rtol=0.02)  # regular, by symmetry
    assert_array_equal(hexagon, plotting.node_positions(RING))
    path = np.diag(np.ones(4), 1)
    ends = plotting.node_positions(path + path.T)
    lengths = np.linalg.norm(ends[:, None] - ends, axis=2)
    assert_allclose(lengths, np.abs(np.subtract.outer(range(5), range(5))), atol=0.05)
    assert np.isfinite(plotting.node_positions(np.kron(np.eye(2), np.ones((2, 2)) - np.eye(2)))).all()  # two parts


def test_links_join_their_nodes():
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]
    places = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    found = [("a", "c", 2.0), ("b", "d", 1.0)]
    ax = plotting.plot_links(edges, predicted=found, positions=places)
    known, predicted, _ = ax.collections
    assert {tuple(map(tuple, sorted(s.tolist()))) for s in known.get_segments()} == {
        ((0, 0), (1, 0)), ((1, 0), (1, 1)), ((0, 1), (1, 1)), ((0, 0), (0, 1))
    }  # fmt: skip
    assert_array_equal(predicted.get_segments(), [[[0, 0], [1, 1]], [[1, 0], [0, 1]]])
    assert predicted.get_linewidths()[0] > predicted.get_linewidths()[1]
    assert {text.get_text() for text in ax.texts} == {"a", "b", "c", "d"}
    assert [text.get_text() for text in plotting.plot_links(edges, predicted=found, named=["d"]).texts] == ["d"]


def test_links_by_a_matrix_and_groups():
    guess = np.zeros((6, 6), dtype=bool)
    guess[0, 3] = guess[3, 0] = True
    ax = plotting.plot_links(RING, predicted=guess, groups=["x", "x", None, "y", "y", "y"])
    assert_array_equal(ax.collections[1].get_segments(), plotting.node_positions(RING)[[[0, 3]]])
    assert [len(dots.get_offsets()) for dots in ax.collections[2:]] == [2, 3, 1]
    assert ax.get_legend_handles_labels()[1] == ["known links", "predicted links", "x", "y"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"predicted": [(0, 9, 1.0)]}, "predicted: 9 is no node of graph"),
        ({"predicted": [(0, 1)]}, r"entries \(name, name, score\)"),
        ({"predicted": np.eye(3)}, r"predicted must be a matrix \(6, 6\)"),
        ({"positions": np.zeros((5, 2))}, "positions must have a row of two numbers for each of the 6 nodes"),
        ({"groups": [0, 1]}, "groups must have a label for each of the 6 nodes, got 2"),
        ({"named": ["z"]}, "named: 'z' is no node of graph"),
    ],
)
def test_links_of_other_nodes_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        plotting.plot_links(RING, **settings)
    assert not plt.get_fignums()
