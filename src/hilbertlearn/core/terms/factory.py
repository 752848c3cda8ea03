"""From a kernel's values to the term it makes, by the kind of kernel."""

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
    """What a term may be made of beside kernel values."""

    coordinates: np.ndarray  # (n, d) NaN where not observed; for functions seen at points a guess
    weights: np.ndarray  # (n,)
    center: np.ndarray  # (d,)
    functions: Any = None  # the space of functions, None for other outputs


@singledispatch
def make_gram(kernel, K) -> Gram:
    """Values K of a kernel between the samples, as one who can take some of these; other kinds of kernels register."""
    return DenseGram(K)


@singledispatch
def make_term(kernel, gram: Gram, operator, outputs: TrainingOutputs) -> Term:
    """The term of a kernel with Gram matrix `gram` and the setting `operator`; other kinds of kernels register."""
    M = operators.operator_matrix(operator, outputs.coordinates, outputs.weights, outputs.functions)
    return SeparableTerm(gram, M)
