"""``hilbertlearn.graphs`` is a short path to ``hilbertlearn.data.graphs``."""

import hilbertlearn.data.graphs
from hilbertlearn import graphs


def test_the_short_path_has_the_same_names():
    package = hilbertlearn.data.graphs
    assert graphs.__all__ == package.__all__
    assert all(getattr(graphs, name) is getattr(package, name) for name in package.__all__)
