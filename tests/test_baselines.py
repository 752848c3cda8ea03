"""``hilbertlearn.baselines`` is a short path to ``hilbertlearn.papers.baselines``."""

import hilbertlearn.papers.baselines
from hilbertlearn import baselines


def test_the_short_path_has_the_same_names():
    package = hilbertlearn.papers.baselines
    assert baselines.__all__ == package.__all__
    assert all(getattr(baselines, name) is getattr(package, name) for name in package.__all__)
