"""Features computed by a scikit-learn transformer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from ..kernels import InputKernel
from .base import FeatureMap, as_row_indexable, check_features

_PROBE_ROWS = 2  # samples that are transformed to count the features


class TransformerFeatures(BaseEstimator):
    """Features of a scikit-learn transformer or pipeline, in place of a kernel.

    A clone of the transformer is fitted. The model is linear in its features: Nystroem, RBFSampler,
    PolynomialCountSketch, or the last layer of a network.

    Parameters
    ----------
    transformer : object with fit and transform
        Settings are searched as ``transformer__n_components``.

    References
    ----------
    - Buitinck et al. (2013). API design for machine learning software: experiences from the scikit-learn project. ECML
      PKDD Workshop on Languages for Data Mining and Machine Learning.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import PolynomialFeatures
    >>> from hilbertlearn import OperatorKernelRegressor, features
    >>> X = np.linspace(-1, 1, 20)[:, None]
    >>> squares = features.TransformerFeatures(PolynomialFeatures(2))
    >>> OperatorKernelRegressor(feature_map=squares, alpha=1e-9).fit(X, X[:, 0] ** 2).predict([[3.0]]).round(3)
    array([9.])
    """

    def __init__(self, transformer):
        self.transformer = transformer

    def validate(self):
        """Raise an error unless the transformer is an object with fit and transform."""
        if isinstance(self.transformer, type):
            name = self.transformer.__name__
            raise TypeError(f"feature_map: transformer must be an object, got the class {name}; pass {name}()")
        if not (hasattr(self.transformer, "fit") and hasattr(self.transformer, "transform")):
            raise TypeError(f"feature_map: transformer must have fit and transform, got {self.transformer!r}")

    def fit(self, kernel: InputKernel, X, weights=None) -> TransformerMap:
        """Fit the transformer.

        Parameters
        ----------
        kernel : InputKernel
            Ignored; the features are those of the transformer.
        X : array, data frame or list of n inputs
            Samples.
        weights : array of shape (n,), default=None
            Ignored.

        Returns
        -------
        map : TransformerMap
            The fitted map.
        """
        self.validate()
        fitted = clone(self.transformer).fit(X)
        probe = _safe_indexing(as_row_indexable(X), slice(0, _PROBE_ROWS))
        Z = fitted.transform(probe)
        if getattr(Z, "ndim", 0) != 2:
            raise ValueError(
                f"feature_map: transform must return a matrix, a row for each sample, got {type(Z).__name__} of "
                f"{getattr(Z, 'ndim', 'no')} dimensions"
            )
        check_features(Z, _num_samples(probe), Z.shape[1])
        return TransformerMap(fitted, int(Z.shape[1]))


@dataclass(frozen=True, eq=False)
class TransformerMap(FeatureMap):
    """A fitted transformer."""

    transformer: Any
    n_components: int

    def values(self, X):
        return self.transformer.transform(X)
