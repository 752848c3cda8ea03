"""Operator-valued kernels built from the training outputs (Laforgue et al. 2020, proposition 2)."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from .._utils.validation import check_choice
from .gram import check_kernel, length

_FORMS = ("i", "ii", "iii", "iv", "v", "vi")
_PAIRWISE = ("iv", "v", "vi")
_AXES = {"i": 1, "iii": 0, "iv": 2, "vi": 1}  # form: axes of the values of families besides points and training inputs


class OutputTensorKernel(BaseEstimator):
    """Operator-valued kernel built from training outputs, ``sum_i mu_i k_i(s, t) y_i (x) y_i``, and pairwise variants.

    The outputs y_i are centred.

    ======  =====================================================================  ==============================
    form    operator-valued kernel at (s, t)                                       cost of one product
    ======  =====================================================================  ==============================
    i       sum_i mu_i k(s,t) k(s,x_i) k(t,x_i) y_i (x) y_i                        n^3
    ii      k(s,t) sum_i mu_i y_i (x) y_i                                          one separable term
    iii     sum_i mu_i k(s,x_i) k(t,x_i) y_i (x) y_i                               n^2 d
    iv      sum_ij mu_ij k(s,t) l_ij(s) l_ij(t) z_ij (x) z_ij                      n^4
    v       k(s,t) sum_ij mu_ij z_ij (x) z_ij                                      one separable term
    vi      sum_ij mu_ij l_ij(s) l_ij(t) z_ij (x) z_ij                             n^3
    ======  =====================================================================  ==============================

    Here ``z_ij = nu_i y_i + nu_j y_j`` and ``l_ij(s) = k(s, x_i) k(s, x_j)``. The paper leaves the families k_i, k_ij
    and k(s, x_i, x_j) open; by default they are k localised at the samples. Sums of rank-one terms are computed as
    products of (n, n) matrices, without a Gram matrix for each term.

    Parameters
    ----------
    form : {"i", "ii", "iii", "iv", "v", "vi"}, default="ii"
        Row of the table.
    kernel : str or callable, default="rbf"
        The scalar kernel k. A named kernel uses the estimator's gamma.
    weights : callable, default=None
        Function of the centred outputs (n, d) that returns non-negative mu of shape (n,), or (n, n) for pairs. None for
        mu proportional to the sample weights, or to products of two for pairs.
    nu : callable, default=None
        For pairs: function of the centred outputs (n, d) that returns nu in [0, 1] of shape (n,). None for ones.
    families : callable, default=None
        The families in place of ``kernel``, as a function of points S and the n training inputs X. None for `kernel`
        localised at the samples. The values have these shapes:

        - form i: (len(S), n, n), ``k_i(s, x_t)`` at [s, t, i]; each k_i is a positive semi-definite kernel, which is
          checked
        - form iii: (len(S), n), ``k(s, x_i)`` at [s, i]; any function k
        - form iv: (len(S), n, n, n), ``k_ij(s, x_t)`` at [s, t, i, j]; each k_ij is a positive semi-definite kernel,
          which is checked
        - form vi: (len(S), n, n), ``k(s, x_i, x_j)`` at [s, i, j]; any function k

    References
    ----------
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, proposition 2.

    Examples
    --------
    Outputs that lie on a line are predicted on that line:

    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, kernels
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> model = OperatorKernelRegressor(kernels.OutputTensorKernel("ii"), alpha=1e-6).fit(X, X * [1.0, 2.0])
    >>> model.predict([[0.25]]).round(2)
    array([[0.25, 0.5 ]])
    """

    provides_operator = True

    def __init__(self, form="ii", kernel="rbf", weights=None, nu=None, families=None):
        self.form, self.kernel, self.weights, self.nu, self.families = form, kernel, weights, nu, families

    @property
    def scalar_kernel(self):
        """The kernel that is evaluated on inputs."""
        return self.kernel if self.families is None else IndexedKernel(self.form, self.families)

    def validate(self):
        """Raise an error if a setting is out of range, or does not apply to the form."""
        check_choice(self.form, "OutputTensorKernel: form", _FORMS)
        check_kernel(self.kernel)
        if self.nu is not None and self.form not in _PAIRWISE:
            raise ValueError(
                f"OutputTensorKernel: nu is for the pairwise forms {', '.join(_PAIRWISE)}, not {self.form!r}"
            )
        if self.families is not None and self.form not in _AXES:
            raise ValueError(
                f"OutputTensorKernel: form {self.form!r} has one kernel and no families; give it as kernel"
            )

    def operator(self, Y, sample_weight):
        """Compute the output operator of forms ii and v, which are separable.

        Parameters
        ----------
        Y : array of shape (n, d)
            Centred outputs.
        sample_weight : array of shape (n,)
            Weights of the samples.

        Returns
        -------
        M : array of shape (d, d) or None
            None for the other forms.
        """
        if self.form == "ii":
            return (Y.T * self.mixture_weights(Y, sample_weight)) @ Y
        if self.form == "v":
            mu, Z = self.mixture_weights(Y, sample_weight), self.scaled_outputs(Y)
            return Z.T @ (np.diag(mu.sum(0) + mu.sum(1)) + mu + mu.T) @ Z
        return None

    def mixture_weights(self, Y, sample_weight):
        """Compute the weights mu.

        Parameters
        ----------
        Y : array of shape (n, d)
            Centred outputs.
        sample_weight : array of shape (n,)
            Weights of the samples.

        Returns
        -------
        mu : array of shape (n,), or (n, n) for pairs
            Non-negative numbers.
        """
        pairs = self.form in _PAIRWISE
        shape = (len(Y), len(Y)) if pairs else (len(Y),)
        if self.weights is None:
            share = sample_weight / sample_weight.sum()
            return np.multiply.outer(share, share) if pairs else share
        mu = np.asarray(self.weights(Y), dtype=float)
        if mu.shape != shape or not (mu >= 0).all():
            raise ValueError(
                f"OutputTensorKernel: weights must return non-negative numbers of shape {shape}, got {mu.shape}"
            )
        return mu

    def scaled_outputs(self, Y):
        """Compute the summands ``nu_i y_i`` of z_ij.

        Parameters
        ----------
        Y : array of shape (n, d)
            Centred outputs.

        Returns
        -------
        Z : array of shape (n, d)
            One row for each sample.
        """
        if self.nu is None:
            return Y
        nu = np.asarray(self.nu(Y), dtype=float)
        if nu.shape != (len(Y),) or not ((nu >= 0) & (nu <= 1)).all():
            raise ValueError(f"OutputTensorKernel: nu must return numbers in [0, 1] of shape {(len(Y),)}, got {nu!r}")
        return nu[:, None] * Y


class IndexedKernel(BaseEstimator):
    """Families of kernels given by the user: an array of numbers for each pair of a point and a training input."""

    returns_gram = False  # values have more axes than a Gram matrix
    operator_valued = True
    positive_definite = True  # forms iii and vi for any function; i and iv are checked by their term

    def __init__(self, form, families):
        self.form, self.families = form, families

    def value_size(self, n, d):
        """Number of entries of one value, for n samples."""
        return n ** _AXES[self.form]

    def __call__(self, X, Z):
        values, n = np.asarray(self.families(X, Z), dtype=float), length(Z)
        shape = (length(X), n, *[n] * _AXES[self.form])
        if values.shape != shape:
            raise ValueError(
                f"OutputTensorKernel: families must return shape {shape} for form {self.form!r}, got {values.shape}"
            )
        return values
