"""Sums of rank-one operators over the training outputs (Laforgue et al. 2020, proposition 2)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..._utils.validation import check_symmetric_psd
from ...kernels import OutputTensorKernel
from ...kernels.output_tensor import IndexedKernel
from .base import Term
from .factory import make_gram, make_term
from .gram import DenseGram
from .separable import SeparableTerm


@make_term.register
def _(kernel: OutputTensorKernel, gram, operator, outputs):
    centred = np.nan_to_num(outputs.coordinates - outputs.center)
    M = kernel.operator(centred, outputs.weights)
    if M is not None:
        return SeparableTerm(gram, M)
    values, mu, parts = gram.dense(), kernel.mixture_weights(centred, outputs.weights), kernel.scaled_outputs(centred)
    if kernel.families is None or kernel.form == "iii":  # form iii allows any function k(s, x_i)
        return RankOneTerm(kernel.form, values, parts, mu if mu.ndim == 1 else (mu + mu.T) / 2)
    if kernel.form in ("i", "iv"):
        for l, K in enumerate(values.reshape(*values.shape[:2], -1).transpose(2, 0, 1)):
            check_symmetric_psd(K, f"OutputTensorKernel: families: kernel number {l}", "give positive definite kernels")
    return FamilyTerm(kernel.form, values, parts, mu)


class RankOneTerm(Term):
    """Forms i, iii, iv and vi of ``kernels.OutputTensorKernel`` as a map on dual variables.

    G : (n, n) kernel values
    Y : (n, d) outputs, or the parts of their sums
    mu : (n,), or (n, n) symmetric for pairs: (i, j) acts like (j, i)
    """

    def __init__(self, form, G, Y, mu, root_weights=None):
        self.form, self.G, self.Y, self.mu = form, G, Y, mu
        self.root = np.ones(len(Y)) if root_weights is None else root_weights

    @property
    def shape(self):
        return self.Y.shape

    def scaled(self, root_weights):
        return type(self)(self.form, self.G, self.Y, self.mu, self.root * root_weights)

    def apply(self, A):
        return self.root[:, None] * self.predictor(self.root[:, None] * A)(self.G)

    def predictor(self, C):
        return RankOnePredictor(self.form, self.G, self.Y, self.mu, C)

    def margin_gram(self, Y):
        G, H = self.G, self.G * (Y @ self.Y.T)
        if self.form in ("i", "iii"):
            inner = (H * self.mu) @ H.T
        else:  # sum_lm mu_lm (H_il G_im + G_il H_im) (H_jl G_jm + G_jl H_jm), one l at a time
            inner = np.zeros_like(G)
            for i, mu in enumerate(self.mu):
                features = H[:, i : i + 1] * G + G[:, i : i + 1] * H
                inner += (features * mu) @ features.T
        return (inner if self.form in ("iii", "vi") else inner * G) * np.multiply.outer(self.root, self.root)

    @cached_property
    def norm(self) -> float:
        return super().norm

    @property
    def scale(self) -> float:
        """The sum of the weights times the norm."""
        return float(self.root @ self.root) * self.norm


class RankOnePredictor:
    """Values at new points, from their kernel values with the samples."""

    def __init__(self, form, G, Y, mu, A):
        self.form, self.Y = form, Y
        products = A @ Y.T  # <a_t, y_i>
        if form == "i":
            self.state = G * products * mu
        elif form == "iii":
            self.state = ((G * products).sum(axis=0) * mu)[:, None] * Y
        elif form == "vi":
            H = G * products
            self.state = 2 * mu * (H.T @ G + G.T @ H)
        else:
            self.state = (G, products, mu)

    def __call__(self, G):
        if self.form == "iii":
            return G @ self.state
        if self.form in ("i", "vi"):
            return (G * (G @ self.state)) @ self.Y
        train, products, mu = self.state
        out = np.zeros((len(G), self.Y.shape[1]))
        for i, y in enumerate(self.Y):  # all pairs (i, j) of one i
            pairs = train[:, i : i + 1] * train * (products[:, i : i + 1] + products) * mu[i]
            local = G[:, i : i + 1] * G * (G @ pairs)
            out += local @ self.Y + np.multiply.outer(local.sum(axis=1), y)
        return out


class FamilyGram(DenseGram):
    """Values of families (n, n, ...): every axis runs over the samples, each of which has its own member."""

    def take(self, rows):
        return FamilyGram(self.cross(rows, rows))

    def cross(self, rows, columns):
        return self.K[np.ix_(rows, *[columns] * (self.K.ndim - 1))]


@make_gram.register
def _(kernel: IndexedKernel, K):
    return FamilyGram(K)


class FamilyTerm(RankOneTerm):
    """The map of ``sum_l mu_l k_l(s, t) z_l (x) z_l`` with families of the user, one member l a sample or a pair.

    G : for forms i and iv values (n, n, n) and (n, n, n, n) of k_l, for form vi (n, n, n) of f_l with
        ``k_l(s, t) = f_l(s) f_l(t)``
    mu : (n,), or (n, n) for pairs
    """

    def predictor(self, C):
        return FamilyPredictor(self.form, self.G, self.Y, self.mu, C)

    def margin_gram(self, Y):
        n, mu = len(Y), self.mu.ravel()
        products = self.root[:, None] * _products(Y, self.Y, self.form)
        if self.form == "vi":
            features = self.G.reshape(n, -1) * products
            return (features * mu) @ features.T
        return np.einsum("stl,sl,tl->st", self.G.reshape(n, n, -1), products * mu, products)


class FamilyPredictor:
    """Values at new points, from those of the families there."""

    def __init__(self, form, G, Y, mu, A):
        self.form, self.Y = form, Y
        self.state = mu.ravel() * _products(A, Y, form)  # (n, L)
        if form == "vi":
            self.state = np.einsum("tl,tl->l", G.reshape(len(G), -1), self.state)

    def __call__(self, G):
        m, n = len(G), len(self.Y)
        if self.form == "vi":
            local = G.reshape(m, -1) * self.state
        else:
            local = np.einsum("stl,tl->sl", G.reshape(m, n, -1), self.state)
        if self.form != "i":
            local = local.reshape(m, n, n).sum(axis=1) + local.reshape(m, n, n).sum(axis=2)
        return local @ self.Y


def _products(A, Y, form):
    """``<a_t, z_l>`` (n, L), z_l the outputs, or for pairs (i, j) in order their sums."""
    products = A @ Y.T
    return products if form == "i" else (products[:, :, None] + products[:, None, :]).reshape(len(A), -1)
