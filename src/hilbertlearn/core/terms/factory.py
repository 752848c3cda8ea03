"""Functions that make Gram matrices and terms, by the kind of kernel; a new kind registers with them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from ... import operators
from .base import Term
from .gram import DenseGram, Gram
from .separable import SeparableTerm


@dataclass(frozen=True)
class TrainingOutputs:
    """Training outputs, for terms that depend on them."""

    coordinates: np.ndarray  # (n, d), NaN where missing; estimates for functions at irregular points
    weights: np.ndarray  # (n,)
    center: np.ndarray  # (d,)
    functions: Any = None  # the function space, None for other outputs


@singledispatch
def make_gram(kernel, K) -> Gram:
    """The Gram matrix of kernel values K between the samples; other kinds of kernels register."""
    return DenseGram(K)


@singledispatch
def make_term(kernel, gram: Gram, operator, outputs: TrainingOutputs) -> Term:
    """The term of a kernel, its Gram matrix and the setting `operator`; other kinds of kernels register."""
    M = operators.operator_matrix(operator, outputs.coordinates, outputs.weights, outputs.functions)
    return SeparableTerm(gram, M)
