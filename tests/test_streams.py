"""``hilbertlearn.streams`` is a short path to ``hilbertlearn.data.streams``."""

import hilbertlearn.data.streams
from hilbertlearn import streams


def test_the_short_path_has_the_same_names():
    package = hilbertlearn.data.streams
    assert streams.__all__ == package.__all__
    assert all(getattr(streams, name) is getattr(package, name) for name in package.__all__)
