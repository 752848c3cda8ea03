"""Vector fields: arrows, divergence and curl."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import plotting

plt = pytest.importorskip("matplotlib.pyplot")

rng = np.random.default_rng(0)
X = rng.uniform(size=(24, 2))
AXIS = np.linspace(-1, 1, 5)
POINTS = np.stack(np.meshgrid(AXIS, 2 * AXIS[:4]), axis=-1).reshape(-1, 2)


def test_arrows_are_the_vectors():
    scattered, vectors = rng.normal(size=(2, 7, 2))
    (arrows,) = plotting.plot_field(scattered, vectors, label="seen").collections
    assert_allclose(arrows.get_offsets(), scattered)
    assert_allclose(np.c_[arrows.U, arrows.V], vectors)


def test_maps_are_divergence_and_curl():
    x, y = POINTS.T
    vectors = np.column_stack([3 * x + y, 5 * x - y])  # divergence 2, curl 4
    shuffled = rng.permutation(len(POINTS))
    for shade, wanted in (("divergence", 2.0), ("curl", 4.0), ("speed", None)):
        mesh = plotting.plot_field(POINTS[shuffled], vectors[shuffled], shade=shade).collections[0]
        wanted = np.linalg.norm(vectors, axis=1).reshape(4, 5) if wanted is None else wanted
        assert_allclose(np.asarray(mesh.get_array()), np.broadcast_to(wanted, (4, 5)))


def test_fields_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"points and vectors must be \(n, 2\)"):
        plotting.plot_field(np.zeros((4, 3)), np.zeros((4, 3)))
    for settings in ({"kind": "streams"}, {"shade": "curl"}):
        with pytest.raises(ValueError, match="points must be a grid for stream lines and maps: 24 of them"):
            plotting.plot_field(X, X, **settings)
    with pytest.raises(ValueError, match="shade: unknown name 'rot'"):
        plotting.plot_field(X, X, shade="rot")
    assert not plt.get_fignums()
