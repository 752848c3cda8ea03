"""Models inside scikit-learn's tools, after a file, and with a space of a user."""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hilbertlearn import OperatorKernelRegressor, load, save, spaces

from .case import Case
from .data import NEW, VECTORS, X

VECTOR = OperatorKernelRegressor("rbf", gamma=0.2, alpha=0.02)


class FirstDirections(spaces.Space):
    """A space of a user: the span of the two leading singular vectors of the training outputs."""

    def __init__(self, y):
        self.basis = np.linalg.svd(y - y.mean(axis=0), full_matrices=False)[2][:2]

    def encode(self, y):
        return np.asarray(y) @ self.basis.T

    def decode(self, coordinates):
        return coordinates @ self.basis


class InTwoDirections(OperatorKernelRegressor):
    """An estimator of a user, which adds its space."""

    def output_space(self, y, sample_weight):
        return FirstDirections(y)


def from_file(model, X, y):
    """The fitted model, saved and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        return load(save(model.fit(X, y), Path(folder) / "model.hl"))


CASES = {
    "pipeline": Case(make_pipeline(StandardScaler(), VECTOR), X, VECTORS, NEW),
    "pipeline, defaults": Case(make_pipeline(StandardScaler(), OperatorKernelRegressor()), X, VECTORS, NEW),
    "grid search": Case(
        GridSearchCV(VECTOR, {"alpha": [1e-3, 1e-1], "kernel": ["rbf", "matern32"]}, cv=KFold(3)), X, VECTORS, NEW
    ),
    "transformed targets": Case(
        TransformedTargetRegressor(VECTOR, func=np.arcsinh, inverse_func=np.sinh), X, VECTORS, NEW
    ),
    "from a file": Case(VECTOR, X, VECTORS, NEW, fit=from_file, uses=("save", "load")),
    "space of a user": Case(InTwoDirections("rbf", gamma=0.2, alpha=0.02), X, VECTORS, NEW, uses=("spaces.Space",)),
}
