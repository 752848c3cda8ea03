"""Terms: the linear maps of the problem, their Gram matrices, and the factors that invert them."""

from .base import ITERATIONS, ONCE, PATH, Factors, LinearPredictor, Sum, Term
from .build import TrainingOutputs, make_gram, make_term
from .deformed import Deformed, DeformedGram, kernels_in_memory
from .directions import PerDirection
from .general import General
from .padded import Constant, Padded, PaddedFactors
from .patterns import ByPattern
from .rank_one import RankOneTerms
from .sampled import Sampled
from .separable import DenseGram, Gram, Separable, merged
