"""A small model and its file."""

import pytest
from helpers.stored_models import VECTORS, X, vector

from hilbertlearn import save


@pytest.fixture(scope="session")
def small():
    return vector().fit(X[:6], VECTORS[:6])


@pytest.fixture
def file(small, tmp_path):
    return save(small, tmp_path / "model.hl")
