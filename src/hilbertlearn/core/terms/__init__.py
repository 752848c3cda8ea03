"""Terms: the linear maps of the problem, their Gram matrices, and the factors that invert them."""

from .base import ITERATIONS, ONCE, PATH, Factors, LinearPredictor, SumTerm, Term
from .block import BlockTerm
from .deformed import DeformedFeatureKernel, DeformedGram, DeformedKernel, kernels_in_memory
from .eigenspaces import EigenspaceTerm
from .factors import loo_residuals_from_spectrum
from .factory import TrainingOutputs, make_gram, make_term
from .feature_blocks import FeatureBlockGram
from .features import FeatureGram, FeatureSpectralFactors
from .gram import DenseGram, Gram
from .padded import ConstantTerm, PaddedFactors, PaddedTerm
from .patterns import PatternTerm
from .rank_one import RankOneTerm
from .sampled import SampledTerm
from .separable import SeparableTerm, merge_terms, sum_grams
