"""Small searches of alternatives."""

import numpy as np
import pytest

from hilbertlearn.app.tabular import alternatives


@pytest.fixture
def coarse(monkeypatch):
    """Searches of alternatives over few settings."""
    monkeypatch.setattr(alternatives, "_ALPHAS", [1e-2])
    monkeypatch.setattr(alternatives, "_RATES", np.array([0.5]))
    monkeypatch.setattr(alternatives, "_TREES", 10)
