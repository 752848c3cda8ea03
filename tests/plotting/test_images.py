"""Images side by side."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import plotting

matplotlib = pytest.importorskip("matplotlib")
plt = pytest.importorskip("matplotlib.pyplot")


def test_images_are_in_their_places():
    pictures = np.arange(2 * 2 * 3, dtype=float).reshape(2, 2, 3)
    holes = pictures.copy()
    holes[1, 0, 0] = np.nan
    ax = plotting.plot_images({"truth": pictures, "seen": holes.reshape(2, 6)}, shape=(2, 3), limits=(0, 11))
    shown = np.asarray(ax.images[0].get_array())
    assert shown.shape == (5, 7, 4)
    greys = matplotlib.colormaps["gray_r"](pictures / 11)
    assert_allclose(shown[:2, 4:], greys[1])
    assert_allclose(shown[3:, :3], greys[0])
    assert (shown[2] == [1, 1, 1, 0]).all() and (shown[:, 3] == [1, 1, 1, 0]).all()  # nothing between
    assert_allclose(shown[3, 4], matplotlib.colors.to_rgba("#9ECAE1"))
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["truth", "seen"]
    assert np.asarray(plotting.plot_images(pictures, n_shown=1).images[0].get_array()).shape == (2, 3, 4)


def test_images_of_other_sizes_are_refused():
    with pytest.raises(ValueError, match=r"images 'a' must be .* with shape="):
        plotting.plot_images({"a": np.zeros((3, 7))}, shape=(2, 3))
    with pytest.raises(ValueError, match="the same number and size in each row"):
        plotting.plot_images({"a": np.zeros((3, 2, 2)), "b": np.zeros((2, 2, 2))})
    assert not plt.get_fignums()
