"""``hilbertlearn.readers`` is a short path to ``hilbertlearn.papers.readers``."""

import hilbertlearn.papers.readers
from hilbertlearn import readers


def test_the_short_path_has_the_same_names():
    package = hilbertlearn.papers.readers
    assert readers.__all__ == package.__all__
    assert all(getattr(readers, name) is getattr(package, name) for name in package.__all__)
