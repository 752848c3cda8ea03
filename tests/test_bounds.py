"""``hilbertlearn.bounds`` is a short path to ``hilbertlearn.papers.bounds``."""

import hilbertlearn.papers.bounds
from hilbertlearn import bounds


def test_the_short_path_has_the_same_names():
    package = hilbertlearn.papers.bounds
    assert bounds.__all__ == package.__all__
    assert all(getattr(bounds, name) is getattr(package, name) for name in package.__all__)
