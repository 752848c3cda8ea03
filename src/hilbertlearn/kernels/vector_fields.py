"""Operator-valued kernels: kernels of vector fields, and functions of the user.

``kernel(X, Z)`` returns blocks (n, m, d, d). ``K(x_i, z_j)`` is a matrix (d, d) for each pair and not a number times
one operator, so that relations between the outputs can depend on the inputs.

The kernels of vector fields consist of second derivatives of a Gaussian (Narcowich & Ward 1994; Fuselier 2006;
Macêdo & Castro 2010; Álvarez, Rosasco & Lawrence 2012). Inputs are points (n, d), outputs are vectors (n, d) at these
points.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from .._utils.validation import check_number
from .gram import resolve_gamma
from .stationary import GAMMA_RULES, OVERFLOW, BandwidthMixin

_BLOCK_PAIRS = 2**14  # pairs of points computed at once, so that their differences fit in the cache
_LARGEST = 1e150  # largest coordinate; squares of larger ones overflow


class OperatorValuedKernel(BaseEstimator):
    """Operator-valued kernel from a function ``(X, Z) -> blocks (n, m, d, d)`` for d outputs.

    ``K(x, z) = K(z, x)'`` must hold, and the (n d, n d) matrix of all blocks must be positive semi-definite. This is
    checked at fit unless the class has ``positive_definite = True``. A kernel with settings is a subclass with its own
    ``__init__`` and a method ``function(X, Z)``.

    Parameters
    ----------
    function : callable
        ``function(X, Z)`` returns an array (n, m, d, d), a matrix for each pair of n samples X and m samples Z.

    References
    ----------
    - Micchelli and Pontil (2005). On learning vector-valued functions. Neural Computation 17.

    Examples
    --------
    Two outputs with the same slope and different constants; the second has missing values:

    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, kernels
    >>> def same_slope(X, Z):
    ...     return np.eye(2) + (X @ Z.T)[:, :, None, None] * np.ones((2, 2))
    >>> X, y = [[0.0], [1.0], [2.0]], [[0.0, 5.0], [1.0, np.nan], [2.0, np.nan]]
    >>> model = OperatorKernelRegressor(kernels.OperatorValuedKernel(same_slope), alpha=1e-6).fit(X, y)
    >>> model.predict([[3.0]]).round(2)
    array([[3., 8.]])
    """

    operator_valued = provides_operator = True

    def __init__(self, function):
        self.function = function

    def validate(self):
        """Raise an error unless the function is callable."""
        if not callable(self.function):
            raise TypeError(
                f"OperatorValuedKernel: function must be a callable (X, Z) -> blocks, got {self.function!r}"
            )

    def value_size(self, n, d):
        """Number of entries of one value.

        Parameters
        ----------
        n : int
            Number of samples.
        d : int
            Number of outputs.

        Returns
        -------
        size : int
            ``d * d``.
        """
        return d * d

    def __call__(self, X, Z):
        blocks = np.asarray(self.function(X, Z), dtype=float)
        if blocks.ndim != 4 or blocks.shape[2] != blocks.shape[3]:
            raise ValueError(
                f"{type(self).__name__}: function must return an array (n, m, d, d), a square matrix for each pair of "
                f"samples, got shape {blocks.shape}; give a scalar kernel by itself, with an operator"
            )
        return blocks


class HelmholtzKernel(BandwidthMixin, OperatorValuedKernel):
    """Weighted sum of a curl-free and a divergence-free kernel: any smooth field is the sum of two such fields.

    The kernel is ``share`` times ``CurlFreeKernel`` plus ``1 - share`` times ``DivergenceFreeKernel``.
    Inputs are points (n, d), outputs vectors (n, d) at them.

    Parameters
    ----------
    share : float, default=0.5
        Weight of the curl-free part, in [0, 1]. At 1 / d the outputs are uncorrelated.
    gamma : float or {"median", "scale", "auto"}, default="median"
        "median" for 1 / (2 median squared distance) of training inputs. "scale" for 1 / (number of inputs * variance).
        "auto" starts at the median, and estimators search from there.

    References
    ----------
    - Macêdo and Castro (2010). Learning divergence-free and curl-free vector fields with matrix-valued kernels.
      Technical report, IMPA.
    - Álvarez, Rosasco and Lawrence (2012). Kernels for vector-valued functions: a review. Foundations and Trends in
      Machine Learning 4.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, kernels
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(40, 2))
    >>> wind = X + np.column_stack([-X[:, 1], X[:, 0]])  # a source and a vortex
    >>> model = OperatorKernelRegressor(kernels.HelmholtzKernel(0.5), alpha=1e-6).fit(X, wind)
    >>> model.predict([[0.5, 0.0]]).round(2)
    array([[0.5, 0.5]])
    """

    positive_definite = True

    def __init__(self, share=0.5, gamma="median"):
        self.share, self.gamma = share, gamma

    def validate(self):
        """Raise an error if a setting is out of range."""
        name = type(self).__name__
        check_number(self.gamma, f"{name}: gamma", choices=GAMMA_RULES)
        if check_number(self.share, f"{name}: share", strict=False) > 1:
            raise ValueError(f"{name}: share must be in [0, 1], got {self.share!r}")

    def _resolved_rate(self, X, sample_weight):
        self.validate()
        return resolve_gamma("rbf", self.initial_rate(), self._points(X, "X"), sample_weight)

    def function(self, X, Z):
        """Compute the blocks between points.

        Parameters
        ----------
        X : array of shape (n, d)
            Points.
        Z : array of shape (m, d)
            Points.

        Returns
        -------
        blocks : array of shape (n, m, d, d)
            Values of the kernel.
        """
        self.validate()
        self.check_resolved()
        x, z = self._points(X, "X"), self._points(Z, "Z")
        if x.shape[1] != z.shape[1]:
            raise ValueError(f"X and Z must be points of the same dimension, got {x.shape[1]} and {z.shape[1]}")
        return _gaussian_blocks(x, z, float(self.gamma), float(self.share))

    def _points(self, X, name):
        """Points (n, d) as floats."""
        try:
            points = np.asarray(X, dtype=float)
        except (TypeError, ValueError):  # sparse, ragged, or no numbers
            points = np.empty(())
        if points.ndim != 2:
            raise ValueError(
                f"{type(self).__name__}: {name} must be a dense array of numbers (n, d), points of a vector field, got "
                f"{f'shape {points.shape}' if points.ndim else type(X).__name__}; give it two axes"
            )
        if points.shape[1] == 1 and self.share < 1:
            raise ValueError(
                f"{type(self).__name__}: {name} has one column, but divergence-free fields on a line are constant; use "
                "kernels.CurlFreeKernel"
            )
        return points


class CurlFreeKernel(HelmholtzKernel):
    """Kernel of curl-free fields, which are gradients of functions, such as forces.

    ``K(x, z) = (I - 2 gamma u u') exp(-gamma ||u||^2)`` with u = x - z. It is minus the Hessian of ``exp(-gamma
    ||u||^2)`` over 2 gamma, which makes ``K(x, x)`` the identity.

    Parameters
    ----------
    gamma : float or {"median", "scale", "auto"}, default="median"
        "median" for 1 / (2 median squared distance) of training inputs. "scale" for 1 / (number of inputs * variance).
        "auto" starts at the median, and estimators search from there.

    References
    ----------
    - Fuselier (2006). Refined error estimates for matrix-valued radial basis functions. PhD thesis, Texas A&M
      University.
    - Macêdo and Castro (2010). Learning divergence-free and curl-free vector fields with matrix-valued kernels.
      Technical report, IMPA.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import kernels
    >>> blocks = kernels.CurlFreeKernel(gamma=0.5)(np.zeros((1, 2)), np.array([[0.0, 0.0], [1.0, 0.0]]))
    >>> blocks.shape, blocks[0, 1].diagonal().round(2).tolist()
    ((1, 2, 2, 2), [0.0, 0.61])
    """

    share = 1.0

    def __init__(self, gamma="median"):
        self.gamma = gamma


class DivergenceFreeKernel(HelmholtzKernel):
    """Kernel of divergence-free fields, which are flows without sources.

    ``K(x, z) = (I + 2 gamma (u u' - ||u||^2 I) / (d - 1)) exp(-gamma ||u||^2)`` with u = x - z. It is the Hessian of
    ``exp(-gamma ||u||^2)`` minus its trace times I, over 2 gamma (d - 1), which makes ``K(x, x)`` the identity. It
    needs d >= 2.

    Parameters
    ----------
    gamma : float or {"median", "scale", "auto"}, default="median"
        "median" for 1 / (2 median squared distance) of training inputs. "scale" for 1 / (number of inputs * variance).
        "auto" starts at the median, and estimators search from there.

    References
    ----------
    - Narcowich and Ward (1994). Generalized Hermite interpolation via matrix-valued conditionally positive definite
      functions. Mathematics of Computation 63.
    - Macêdo and Castro (2010). Learning divergence-free and curl-free vector fields with matrix-valued kernels.
      Technical report, IMPA.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import kernels
    >>> blocks = kernels.DivergenceFreeKernel(gamma=0.5)(np.zeros((1, 2)), np.array([[0.0, 0.0], [1.0, 0.0]]))
    >>> blocks.shape, blocks[0, 1].diagonal().round(2).tolist()
    ((1, 2, 2, 2), [0.61, 0.0])
    """

    share = 0.0

    def __init__(self, gamma="median"):
        self.gamma = gamma


def _gaussian_blocks(X, Z, gamma, share):
    """Compute blocks (n, m, d, d), stored as (n, d, m, d), so that they are one matrix (n d, m d) without a copy.

    With v = sqrt(2 gamma) (x - z) and c = (1 - share) / (d - 1) they are
    ``((1 - c ||v||^2) I + (c - share) v v') exp(-||v||^2 / 2)``.
    """
    (n, d), m = X.shape, len(Z)
    blocks = np.empty((n, d, m, d))
    c = (1 - share) / max(d - 1, 1)
    X, Z = np.sqrt(2 * gamma) * X.T, np.sqrt(2 * gamma) * Z.T
    if max(np.abs(X).max(initial=0.0), np.abs(Z).max(initial=0.0)) > _LARGEST:
        raise ValueError(OVERFLOW)
    step = max(1, _BLOCK_PAIRS // max(m, 1))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        v = X[:, rows, None] - Z[:, None, :]  # (d, rows, m)
        squares = np.einsum("aij,aij->ij", v, v)
        gaussian = np.exp(-squares / 2)
        diagonal = (1 - c * squares) * gaussian
        gaussian *= c - share
        for a in range(d):
            weighted = gaussian * v[a]
            for b in range(a + 1):
                entry = weighted * v[b]
                if a == b:
                    entry += diagonal
                blocks[rows, a, :, b] = entry
                blocks[rows, b, :, a] = entry
    return blocks.swapaxes(1, 2)
