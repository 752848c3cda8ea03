"""Kernels of objects, for inputs and structured outputs."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import cosine_similarity

from .._utils.naming import unnamed_in_errors
from .._utils.validation import check_number
from ..data.objects import kind_of
from .gram import PRECOMPUTED, TANIMOTO, check_kernel, diagonal, gram, has_gamma, length, resolve_gamma, tanimoto
from .stationary import GAMMA_RULES, BandwidthMixin, check_nu, distances, profile


@unnamed_in_errors
class UnitDiagonalMixin:
    """Mixin for kernels with ``k(x, x) = 1``."""

    def diagonal(self, X):
        """Compute the values ``k(x, x) = 1``.

        Parameters
        ----------
        X : list or array of n inputs
            Inputs.

        Returns
        -------
        values : array of shape (n,)
            Ones.
        """
        return np.ones(length(X))


class Tanimoto(UnitDiagonalMixin, BaseEstimator):
    """Tanimoto kernel of fingerprints, ``<x, z> / (||x||^2 + ||z||^2 - <x, z>)``: the share of set bits in common.

    Fingerprints are dense or sparse rows. The value of two rows of zeros is 1. The kernel has the name "tanimoto". For
    objects with a similarity function, such as rdkit's bit vectors,
    ``PairwiseKernel(rdkit.DataStructs.TanimotoSimilarity)`` is faster.

    References
    ----------
    - Ralaivola, Swamidass, Saigo and Baldi (2005). Graph kernels for chemical informatics. Neural Networks 18.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import kernels
    >>> bits = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 1]])
    >>> kernels.Tanimoto()(bits, bits).round(2)
    array([[1.  , 0.67, 0.  ],
           [0.67, 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    """

    def __call__(self, X, Z):
        X, Z = _fingerprints(X), _fingerprints(Z)
        if X.shape[1] != Z.shape[1]:
            raise ValueError(f"Tanimoto: fingerprints must have as many bits each, got {X.shape[1]} and {Z.shape[1]}")
        return tanimoto(X, Z)


class PairwiseKernel(BaseEstimator):
    """Kernel of any objects from a function of two objects, ``function(x, z)``.

    The function gets the objects of the list unchanged: molecules, graphs, bit vectors, tuples. Lists of numbers, of
    arrays and of lists of numbers are rows of numbers as in scikit-learn, and the function gets arrays. One half of a
    symmetric matrix is computed.

    Parameters
    ----------
    function : callable
        ``function(x, z)`` returns a number and is symmetric.

    References
    ----------
    - Gärtner (2003). A survey of kernels for structured data. SIGKDD Explorations 5.

    Examples
    --------
    >>> from hilbertlearn import kernels
    >>> baskets = [{"bread", "milk"}, {"milk"}, {"wine"}]
    >>> kernels.PairwiseKernel(lambda a, b: len(a & b))(baskets, baskets)
    array([[2., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """

    def __init__(self, function):
        self.function = function

    def __call__(self, X, Z):
        G = np.empty((len(X), len(Z)))
        is_symmetric = X is Z
        for i, x in enumerate(X):
            for j in range(i if is_symmetric else 0, len(Z)):
                G[i, j] = self.function(x, Z[j])
                if is_symmetric:
                    G[j, i] = G[i, j]
        return G

    def diagonal(self, X):
        """Compute the values ``k(x, x)``.

        Parameters
        ----------
        X : list of n objects
            Inputs.

        Returns
        -------
        values : array of shape (n,)
            Values of the kernel at each input with itself.
        """
        return np.array([self.function(x, x) for x in X], dtype=float)


class NamedKernel(BandwidthMixin, BaseEstimator):
    """A named kernel of rows of numbers as an object, with its own gamma.

    Parameters
    ----------
    name : str, default="rbf"
        One of scikit-learn's ``pairwise_kernels``, "matern12", "matern32", "matern52" or "tanimoto".
    gamma : float or {"median", "scale", "auto"}, default="median"
        "median" for 1 / (2 median squared distance) of training inputs, or the corresponding rule for the distance of
        the kernel. "scale" for 1 / (number of features * variance). "auto" starts at the median.

    References
    ----------
    - Schölkopf and Smola (2002). Learning with Kernels. MIT Press.

    Examples
    --------
    >>> from hilbertlearn import kernels
    >>> X = [[0.0], [1.0], [3.0]]
    >>> kernel = kernels.NamedKernel("rbf").resolve(X)  # the median distance is 2
    >>> kernel.gamma
    0.125
    >>> kernel(X, X).round(2)
    array([[1.  , 0.88, 0.32],
           [0.88, 1.  , 0.61],
           [0.32, 0.61, 1.  ]])
    """

    def __init__(self, name="rbf", gamma="median"):
        self.name, self.gamma = name, gamma

    @property
    def rate_is_searched(self):
        """Whether gamma is selected by leave-one-out errors."""
        return super().rate_is_searched and has_gamma(self.name)

    def _resolved_rate(self, X, sample_weight):
        check_kernel(self.name)
        check_number(self.gamma, "gamma", choices=GAMMA_RULES)
        gamma = self.rate_start if self.gamma == "auto" else self.gamma
        return resolve_gamma(self.name, gamma, _rows(X), sample_weight)

    def __call__(self, X, Z):
        self.check_resolved()
        return gram(self.name, _rows(X), _rows(Z), gamma=self.gamma)

    def diagonal(self, X):
        """Compute the values ``k(x, x)``.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, p)
            Inputs.

        Returns
        -------
        values : array of shape (n,)
            Values of the kernel at each input with itself.
        """
        return diagonal(self.name, _rows(X), gamma=self.gamma)


class Matern(UnitDiagonalMixin, BandwidthMixin, BaseEstimator):
    """Matérn kernel of dense or sparse rows of numbers, for functions of limited smoothness.

    ``2^(1 - nu) / Gamma(nu) t^nu K_nu(t)`` with ``t = sqrt(4 nu gamma) ||x - z||``; the length scale is
    ``1 / sqrt(2 gamma)``. Its functions of p variables have nu + p / 2 square-integrable derivatives (Sobolev space).

    Parameters
    ----------
    nu : float, default=1.5
        A number > 0. 0.5 is exp(-t); 1.5 and 2.5 also have closed forms; inf is the rbf kernel. Other values take about
        thirty times longer.
    gamma : float or {"median", "scale", "auto"}, default="auto"
        "median" for 1 / (2 median squared distance) of training inputs, as for rbf. "auto" starts at the median, and
        estimators search from there.

    References
    ----------
    - Rasmussen and Williams (2006). Gaussian Processes for Machine Learning. MIT Press, equation 4.14.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import kernels
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> kernels.Matern(nu=0.5, gamma=0.5)(X, X).round(3)
    array([[1.   , 0.368, 0.135],
           [0.368, 1.   , 0.368],
           [0.135, 0.368, 1.   ]])
    """

    positive_definite = True

    def __init__(self, nu=1.5, gamma="auto"):
        self.nu, self.gamma = nu, gamma

    def validate(self):
        """Raise an error if a setting is out of range."""
        check_nu(self.nu, "Matern: nu")
        check_number(self.gamma, "Matern: gamma", choices=GAMMA_RULES)

    def _resolved_rate(self, X, sample_weight):
        self.validate()
        return resolve_gamma("rbf", self.initial_rate(), _rows(X, "Matern: X must be"), sample_weight)

    def __call__(self, X, Z):
        self.validate()
        self.check_resolved()
        x, z = _rows(X, "Matern: X must be"), None if Z is X else _rows(Z, "Matern: Z must be")
        D = distances("matern", x, z)
        return profile("matern", D, self.gamma, out=D, nu=self.nu, symmetric=Z is X)


class PrecomputedKernel(BaseEstimator):
    """Kernel with a given Gram matrix; the objects are its row numbers, so that they can be split into folds.

    Parameters
    ----------
    matrix : array of shape (N, N)
        Kernel values of N objects, the integers from 0 to N - 1.

    References
    ----------
    - Schölkopf and Smola (2002). Learning with Kernels. MIT Press.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import kernels
    >>> kernel = kernels.PrecomputedKernel(np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.1], [0.2, 0.1, 1.0]]))
    >>> kernel([0, 2], [1])
    array([[0.5],
           [0.1]])
    """

    def __init__(self, matrix):
        self.matrix = matrix

    def __call__(self, X, Z):
        matrix = np.asarray(self.matrix, dtype=float)
        rows, columns = (self._ids(ids, len(matrix)) for ids in (X, Z))
        return matrix[np.ix_(rows, columns)]

    def diagonal(self, X):
        """Compute the values ``k(x, x)``.

        Parameters
        ----------
        X : array of shape (n,)
            Inputs.

        Returns
        -------
        values : array of shape (n,)
            Values of the kernel at each input with itself.
        """
        matrix = np.asarray(self.matrix, dtype=float)
        ids = self._ids(X, len(matrix))
        return matrix[ids, ids]

    def _ids(self, ids, size):
        """Row numbers as integers; an error if one is not a row of the matrix."""
        ids = np.asarray(ids, dtype=float)
        if ids.ndim != 1 or (ids != np.floor(ids)).any() or (ids < 0).any() or (ids >= size).any():
            raise ValueError(f"PrecomputedKernel: objects must be integers from 0 to {size - 1}, rows of the matrix")
        return ids.astype(int)


class TanimotoGaussian(UnitDiagonalMixin, BandwidthMixin, BaseEstimator):
    """Gaussian kernel of the Tanimoto distance, ``exp(-gamma (t(x, x) + t(z, z) - 2 t(x, z)))``.

    t is the Tanimoto kernel of fingerprints.

    Parameters
    ----------
    gamma : float or "auto", default=1.0
        Rate. "auto" starts at 1, and estimators search from there.

    References
    ----------
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, metabolite identification.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import kernels
    >>> bits = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 1]])
    >>> kernels.TanimotoGaussian(gamma=0.72)(bits, bits).round(2)
    array([[1.  , 0.62, 0.24],
           [0.62, 1.  , 0.24],
           [0.24, 0.24, 1.  ]])
    """

    rate_start = 1.0

    def __init__(self, gamma=1.0):
        self.gamma = gamma

    def _resolved_rate(self, X, sample_weight):
        check_number(self.gamma, "TanimotoGaussian: gamma", choices=("auto",))
        return self.initial_rate()

    def __call__(self, X, Z):
        check_number(self.gamma, "TanimotoGaussian: gamma", choices=("auto",))
        self.check_resolved()
        return np.exp(-2 * self.gamma * (1 - Tanimoto()(X, Z)))  # t(x, x) = 1


class NGrams(UnitDiagonalMixin, BaseEstimator):
    """Normalised kernel of strings: the cosine of the counts of substrings of up to n characters.

    The kernel has the name "ngrams".

    Parameters
    ----------
    n : int, default=3
        Length of the longest substrings; all shorter ones are counted too.

    References
    ----------
    - Leslie, Eskin and Noble (2002). The spectrum kernel: a string kernel for SVM protein classification. Pacific
      Symposium on Biocomputing.

    Examples
    --------
    >>> from hilbertlearn import kernels
    >>> words = ["kernel", "kernels", "loss"]
    >>> kernels.NGrams(3)(words, words).round(2)
    array([[1.  , 0.93, 0.12],
           [0.93, 1.  , 0.22],
           [0.12, 0.22, 1.  ]])
    """

    def __init__(self, n=3):
        self.n = n

    def __call__(self, X, Z):
        from sklearn.feature_extraction.text import CountVectorizer  # slow to import

        check_number(self.n, "NGrams: n", integer=True)
        other_types = [type(text).__name__ for text in (*X, *Z) if not isinstance(text, str)]
        if other_types:
            raise ValueError(
                f"NGrams: objects must be strings, got {other_types[0]}; give strings only, or another kernel"
            )
        # a leading character that no text contains: the value of two empty strings is 1
        left, right = (["\x02" + text for text in texts] for texts in (X, Z))
        counter = CountVectorizer(analyzer=self._substrings).fit([*left, *right])
        return cosine_similarity(counter.transform(left), counter.transform(right))

    def _substrings(self, text):
        """All substrings of 1 to n characters."""
        # scikit-learn's analyser of characters merges runs of white space
        return [text[i : i + k] for k in range(1, self.n + 1) for i in range(len(text) - k + 1)]


def object_kernel(kernel):
    """Replace the name "ngrams" by its kernel object; others are returned unchanged."""
    return NGrams() if isinstance(kernel, str) and kernel == "ngrams" else kernel


def as_output_kernel(kernel):
    """Return the kernel of outputs of a name, a Gram matrix (outputs are its row numbers), an object or a callable."""
    kernel = object_kernel(kernel)
    if isinstance(kernel, str):
        check_kernel(kernel, "output_kernel")
        if kernel == PRECOMPUTED:
            raise ValueError("output_kernel='precomputed': give the Gram matrix itself, and its row numbers as outputs")
        return Tanimoto() if kernel == TANIMOTO else NamedKernel(kernel)
    if isinstance(kernel, np.ndarray):
        if kernel.ndim != 2 or kernel.shape[0] != kernel.shape[1]:
            raise ValueError(f"output_kernel: a matrix must be square, got shape {kernel.shape}")
        return PrecomputedKernel(kernel)
    if not callable(kernel):
        raise TypeError(
            f"output_kernel must be a name, a matrix, an object or a callable (Y, Z) -> Gram, got {kernel!r}"
        )
    return kernel


def _rows(X, subject="output_kernel: kernels by name take"):
    """Rows of numbers (n, p) as floats; sparse rows unchanged. An error message starts with `subject`."""
    if scipy.sparse.issparse(X):
        return X
    try:
        X = np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            f"{subject} rows of numbers, got {_wrong_type(X)}; give kernels.NGrams() for strings, "
            "kernels.PairwiseKernel(function) for other objects, or a callable (Y, Z) -> Gram"
        ) from None
    return X[:, None] if X.ndim == 1 else X


def _fingerprints(X):
    """Rows of floats, dense or sparse."""
    try:
        rows = X.astype(float) if hasattr(X, "astype") else np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        sizes = sorted({len(row) for row in X if isinstance(row, (list, tuple, np.ndarray))})
        description = f"{sizes[0]} and {sizes[-1]} bits" if len(sizes) > 1 else _wrong_type(X)
        raise ValueError(
            f"Tanimoto: fingerprints must be rows of as many bits each, got {description}; fold them to one length, or "
            "give kernels.PairwiseKernel(function) for objects"
        ) from None
    if rows.ndim != 2:
        raise ValueError(f"Tanimoto: fingerprints must be rows of bits (n, bits), got shape {rows.shape}")
    return rows


def _wrong_type(X):
    """Name of the type of the items that are neither numbers nor sequences of numbers, for error messages."""
    kinds = list(dict.fromkeys(type(x).__name__ for x in X))
    wrong = [type(x).__name__ for x in X if kind_of(x) not in ("number", "sequence")]
    if len(kinds) > 1:
        return f"a mix of {' and '.join(kinds[:3])}"
    return wrong[0] if wrong else f"{kinds[0]} of several lengths"
