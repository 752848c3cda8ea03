"""Pictures of rankings: lines between places."""

import numpy as np
import pytest

from hilbertlearn import plotting

plt = pytest.importorskip("matplotlib.pyplot")


def test_rankings_are_lines_between_places():
    ax = plotting.plot_rankings([10, 30, 20, np.nan], [1, 2, 3, 0], items=["a", "b", "c", "d"])
    places = [line.get_ydata().tolist() for line in ax.lines]
    assert places[:3] == [[1, 2], [3, 3], [2, 4]] and np.isnan(places[3][0]) and places[3][1] == 1
    colours = [line.get_color() for line in ax.lines]
    assert colours[0] == colours[3] and len(set(colours)) == 3  # a keeps its place among those ranked, b rises, c falls
    assert [text.get_text() for text in ax.texts].count("d") == 1
    assert ax.get_xlabel() == "Kendall's tau 0.333"
    assert ax.yaxis_inverted()


@pytest.mark.parametrize(
    ("y", "predicted", "items", "message"),
    [
        ([[0, 1]], [[0, 1]], None, r"must be ranks \(k,\) of one sample"),
        ([0, 1], [0, 1, 2], None, r"must be ranks \(k,\) of one sample"),
        ([0, 1], [0, np.nan], None, "predicted must have a rank of every item"),
        ([0, 1], [0, 1], ["a"], "items must have a name for each of the 2 ranks"),
    ],
)
def test_rankings_that_are_none_are_refused(y, predicted, items, message):
    with pytest.raises(ValueError, match=message):
        plotting.plot_rankings(y, predicted, items=items)
    assert not plt.get_fignums()
