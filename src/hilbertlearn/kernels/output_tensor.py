"""Operator-valued kernels built from the training outputs (Laforgue et al. 2020, proposition 2)."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from .._utils.validation import check_choice
from .gram import check_kernel, length

FORMS = ("i", "ii", "iii", "iv", "v", "vi")
PAIRWISE = ("iv", "v", "vi")
_AXES = {"i": 1, "iii": 0, "iv": 2, "vi": 1}  # of the values of families, beside points and training inputs


class OutputTensorKernel(BaseEstimator):
    """Kernels ``sum_i mu_i k_i(s, t) y_i (x) y_i`` over the training outputs y_i, centred, and pairwise variants.

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

    with ``z_ij = nu_i y_i + nu_j y_j`` and ``l_ij(s) = k(s, x_i) k(s, x_j)``: the paper leaves the families k_i, k_ij
    and k(s, x_i, x_j) open, here they are k localised at the samples, unless ``families`` are given. Sums of rank-one
    terms are then kept as products of n x n matrices, never as one Gram matrix a term.

    Parameters
    ----------
    form : {"i", "ii", "iii", "iv", "v", "vi"}, default="ii"
        Row of the table.
    kernel : str or callable, default="rbf"
        The scalar kernel k; a name uses the estimator's gamma.
    weights : callable, default=None
        None for mu proportional to the sample weights (1/n without them, products of two for pairs), or a function of
        the centred outputs (n, d) that returns non-negative mu of shape (n,), or (n, n) for pairs.
    nu : callable, default=None
        For pairs: None for 1, or a function of the centred outputs (n, d) that returns numbers in [0, 1] of shape (n,).
    families : callable, default=None
        The families in place of ``kernel``, as a function of points S and the n training inputs X whose values have
        these shapes, for each of the len(S) points s:

        - form i: (len(S), n, n), ``k_i(s, x_t)`` at [s, t, i]; each k_i a positive kernel, which is checked
        - form iii: (len(S), n), ``k(s, x_i)`` at [s, i]; any function k
        - form iv: (len(S), n, n, n), ``k_ij(s, x_t)`` at [s, t, i, j]; each k_ij a positive kernel, which is checked
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
        """The kernel that inputs are read for and whose values the term is made of."""
        return self.kernel if self.families is None else IndexedKernel(self.form, self.families)

    def validate(self):
        """Raise where settings are out of range, or do not go with the form."""
        check_choice(self.form, "OutputTensorKernel: form", FORMS)
        check_kernel(self.kernel)
        if self.nu is not None and self.form not in PAIRWISE:
            raise ValueError(
                f"OutputTensorKernel: nu is for the pairwise forms {', '.join(PAIRWISE)}, not {self.form!r}"
            )
        if self.families is not None and self.form not in _AXES:
            raise ValueError(
                f"OutputTensorKernel: form {self.form!r} has one kernel and no families; give it as kernel"
            )

    def operator(self, Y, sample_weight):
        """The operator (d, d) of forms ii and v, which are separable; None for the others."""
        if self.form == "ii":
            return (Y.T * self.mixture(Y, sample_weight)) @ Y
        if self.form == "v":
            mu, Z = self.mixture(Y, sample_weight), self.parts(Y)
            return Z.T @ (np.diag(mu.sum(0) + mu.sum(1)) + mu + mu.T) @ Z
        return None

    def mixture(self, Y, sample_weight):
        """The weights mu, (n,) or (n, n) for pairs, of centred outputs Y (n, d)."""
        pairs = self.form in PAIRWISE
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

    def parts(self, Y):
        """What z_ij is the sum of, ``nu_i y_i`` (n, d), of centred outputs Y (n, d)."""
        if self.nu is None:
            return Y
        nu = np.asarray(self.nu(Y), dtype=float)
        if nu.shape != (len(Y),) or not ((nu >= 0) & (nu <= 1)).all():
            raise ValueError(f"OutputTensorKernel: nu must return numbers in [0, 1] of shape {(len(Y),)}, got {nu!r}")
        return nu[:, None] * Y


class IndexedKernel(BaseEstimator):
    """Values of the user's families, more than a number for each pair of a point and a training input."""

    returns_gram = False  # values have more axes than a Gram matrix

    operator_valued = True
    positive_definite = True  # forms iii and vi whatever the function; for i and iv checked where their term is made

    def __init__(self, form, families):
        self.form, self.families = form, families

    def value_size(self, n, d):
        """Numbers in one value, for n samples."""
        return n ** _AXES[self.form]

    def __call__(self, X, Z):
        values, n = np.asarray(self.families(X, Z), dtype=float), length(Z)
        shape = (length(X), n, *[n] * _AXES[self.form])
        if values.shape != shape:
            raise ValueError(
                f"OutputTensorKernel: families must return shape {shape} for form {self.form!r}, got {values.shape}"
            )
        return values
