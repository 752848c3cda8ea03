"""Kernels of objects, structured outputs and inputs alike: settings, called as ``kernel(Y, Z) -> Gram``."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, clone
from sklearn.metrics.pairwise import cosine_similarity

from .._utils.validation import check_number
from ..data.objects import kind_of
from .gram import PRECOMPUTED, TANIMOTO, check_kernel, diagonal, gram, has_gamma, length, resolve_gamma, tanimoto
from .stationary import BandwidthMixin, check_nu, distances, profile, unresolved_error

_GAMMAS = ("median", "scale", "auto")


class Tanimoto(BaseEstimator):
    """``<x, z> / (||x||^2 + ||z||^2 - <x, z>)`` on rows of fingerprints (dense or sparse): shared over all set bits.

    Two rows of zeros are alike (1), one row of zeros is unlike any other (0). ``"tanimoto"`` is its name. For objects
    that compare themselves, such as rdkit's bit vectors,
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

    def diagonal(self, X):
        """``k(x, x) = 1`` (n,)."""
        return np.ones(length(X))


class PairwiseKernel(BaseEstimator):
    """The kernel matrix of ``function(x, z)``, a function of two single objects; X may be any list.

    The function is given the very objects of the list: molecules, graphs, bit vectors, tuples. Lists of numbers, of
    arrays of numbers and of lists of numbers are rows of numbers as in scikit-learn, and the function is given arrays.
    Symmetric matrices are filled from one half.

    Parameters
    ----------
    function : callable
        ``function(x, z)`` returns a number, the same for (z, x).

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
        same = X is Z
        for i, x in enumerate(X):
            for j in range(i if same else 0, len(Z)):
                G[i, j] = self.function(x, Z[j])
                if same:
                    G[j, i] = G[i, j]
        return G

    def diagonal(self, X):
        """``k(x, x)`` (n,)."""
        return np.array([self.function(x, x) for x in X], dtype=float)


class NamedKernel(BandwidthMixin, BaseEstimator):
    """A kernel by name on rows of numbers, with a gamma of its own.

    Parameters
    ----------
    name : str, default="rbf"
        One of scikit-learn's ``pairwise_kernels``, "matern12", "matern32", "matern52" or "tanimoto".
    gamma : float or {"median", "scale", "auto"}, default="median"
        "median" for 1 / (2 median squared distance) of training inputs, or as the name's distance asks; "scale" for
        1 / (number of features * variance); "auto" begins at the median.

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
        """Whether gamma is left to held-out errors."""
        return super().rate_is_searched and has_gamma(self.name)

    def resolve(self, X, sample_weight=None):
        """The kernel with a number for gamma."""
        check_kernel(self.name)
        check_number(self.gamma, "gamma", choices=_GAMMAS)
        gamma = self.rate_start if self.gamma == "auto" else self.gamma
        return clone(self).set_params(gamma=resolve_gamma(self.name, gamma, _rows(X), sample_weight))

    def __call__(self, X, Z):
        if isinstance(self.gamma, str):
            raise unresolved_error("NamedKernel: gamma", self.gamma)
        return gram(self.name, _rows(X), _rows(Z), gamma=self.gamma)

    def diagonal(self, X):
        """``k(x, x)`` (n,)."""
        return diagonal(self.name, _rows(X), gamma=self.gamma)


class Matern(BandwidthMixin, BaseEstimator):
    """Matérn's kernel of rows of numbers, dense or sparse: of functions that are smooth to a degree and not more.

    ``2^(1 - nu) / Gamma(nu) t^nu K_nu(t)`` with ``t = sqrt(4 nu gamma) ||x - z||``, of the length scale ``1 / sqrt(2
    gamma)``. Its functions are those with nu + p / 2 square-integrable derivatives in p variables (Sobolev's space).

    Parameters
    ----------
    nu : float, default=1.5
        A number > 0: 0.5 is exp(-t), 1.5 and 2.5 have closed forms too, and inf is the rbf kernel; others take some
        thirty times longer.
    gamma : float or {"median", "scale", "auto"}, default="auto"
        "median" for 1 / (2 median squared distance) of training inputs as for rbf; "auto" for the median where nothing
        searches for a better one.

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
        """Raise where a setting is out of range."""
        check_nu(self.nu, "Matern: nu")
        check_number(self.gamma, "Matern: gamma", choices=_GAMMAS)

    def resolve(self, X, sample_weight=None):
        """The kernel with a number for gamma."""
        self.validate()
        gamma = resolve_gamma("rbf", self.initial_rate(), _rows(X, "Matern: X must be"), sample_weight)
        return clone(self).set_params(gamma=gamma)

    def __call__(self, X, Z):
        self.validate()
        if isinstance(self.gamma, str):
            raise unresolved_error("Matern: gamma", self.gamma)
        x, z = _rows(X, "Matern: X must be"), None if Z is X else _rows(Z, "Matern: Z must be")
        D = distances("matern", x, z)
        return profile("matern", D, self.gamma, out=D, nu=self.nu, symmetric=Z is X)

    def diagonal(self, X):
        """``k(x, x) = 1`` (n,)."""
        return np.ones(length(X))


class PrecomputedKernel(BaseEstimator):
    """Entries of a given Gram matrix: the objects are its row numbers, so that they can be split.

    Parameters
    ----------
    matrix : array of shape (N, N)
        Kernel values of N objects, which are the integers from 0 to N - 1.

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
        """``k(x, x)`` (n,)."""
        matrix = np.asarray(self.matrix, dtype=float)
        ids = self._ids(X, len(matrix))
        return matrix[ids, ids]

    def _ids(self, ids, size):
        ids = np.asarray(ids, dtype=float)
        if ids.ndim != 1 or (ids != np.floor(ids)).any() or (ids < 0).any() or (ids >= size).any():
            raise ValueError(f"PrecomputedKernel: objects must be integers from 0 to {size - 1}, rows of the matrix")
        return ids.astype(int)


class TanimotoGaussian(BandwidthMixin, BaseEstimator):
    """``exp(-gamma (t(x, x) + t(z, z) - 2 t(x, z)))``, t Tanimoto's kernel of fingerprints.

    Parameters
    ----------
    gamma : float or "auto", default=1.0
        Rate; "auto" is 1 where nothing searches for a better one.

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

    def resolve(self, X, sample_weight=None):
        """The kernel with a number for gamma."""
        check_number(self.gamma, "TanimotoGaussian: gamma", choices=("auto",))
        return clone(self).set_params(gamma=self.initial_rate())

    def __call__(self, X, Z):
        if isinstance(check_number(self.gamma, "TanimotoGaussian: gamma", choices=("auto",)), str):
            raise unresolved_error("TanimotoGaussian: gamma", self.gamma)
        return np.exp(-2 * self.gamma * (1 - Tanimoto()(X, Z)))  # t(x, x) = 1

    def diagonal(self, X):
        """``k(x, x) = 1`` (n,)."""
        return np.ones(length(X))


class NGrams(BaseEstimator):
    """Cosine of the counts of substrings of up to n characters: a normalised kernel of strings, by name "ngrams".

    Parameters
    ----------
    n : int, default=3
        Length of the longest substrings; all shorter ones count too.

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
        from sklearn.feature_extraction.text import CountVectorizer  # takes long to load

        check_number(self.n, "NGrams: n", integer=True)
        odd = next((text for text in (*X, *Z) if not isinstance(text, str)), None)
        if odd is not None:
            raise ValueError(
                f"NGrams: objects must be strings, got {type(odd).__name__}; give strings only, or another kernel"
            )
        # a character that no text has begins each one, so that the empty string is like itself
        left, right = (["\x02" + text for text in texts] for texts in (X, Z))
        counter = CountVectorizer(analyzer=self._substrings).fit([*left, *right])
        return cosine_similarity(counter.transform(left), counter.transform(right))

    def _substrings(self, text):
        # scikit-learn's own analyser of characters would merge runs of white space
        return [text[i : i + k] for k in range(1, self.n + 1) for i in range(len(text) - k + 1)]

    def diagonal(self, X):
        """``k(x, x) = 1`` (n,)."""
        return np.ones(length(X))


def object_kernel(kernel):
    """The kernel itself; for the name of a kernel that takes no rows of numbers, "ngrams", its object."""
    return NGrams() if isinstance(kernel, str) and kernel == "ngrams" else kernel


def as_output_kernel(kernel):
    """The kernel of outputs behind a name, a Gram matrix (outputs are its row numbers), an object or a callable."""
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


def _rows(X, what="output_kernel: kernels by name take"):
    if scipy.sparse.issparse(X):
        return X
    try:
        X = np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            f"{what} rows of numbers, got {_odd_kind(X)}; give kernels.NGrams() for strings, "
            "kernels.PairwiseKernel(function) for other objects, or a callable (Y, Z) -> Gram"
        ) from None
    return X[:, None] if X.ndim == 1 else X


def _fingerprints(X):
    """Rows of floats, dense or sparse."""
    try:
        rows = X.astype(float) if hasattr(X, "astype") else np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        sizes = sorted({len(row) for row in X if isinstance(row, (list, tuple, np.ndarray))})
        seen = f"{sizes[0]} and {sizes[-1]} bits" if len(sizes) > 1 else _odd_kind(X)
        raise ValueError(
            f"Tanimoto: fingerprints must be rows of as many bits each, got {seen}; fold them to one length, or give "
            "kernels.PairwiseKernel(function) for objects"
        ) from None
    if rows.ndim != 2:
        raise ValueError(f"Tanimoto: fingerprints must be rows of bits (n, bits), got shape {rows.shape}")
    return rows


def _odd_kind(X):
    """The name of the type of the first item that is no number or sequence of them, of several where they are mixed."""
    kinds = list(dict.fromkeys(type(x).__name__ for x in X))
    odd = [type(x).__name__ for x in X if kind_of(x) not in ("number", "sequence")]
    if len(kinds) > 1:
        return f"a mix of {' and '.join(kinds[:3])}"
    return odd[0] if odd else f"{kinds[0]} of several lengths"
