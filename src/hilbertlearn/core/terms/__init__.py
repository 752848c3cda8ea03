"""Terms: the linear maps of the problem, their Gram matrices, and the factors that invert them."""

from .base import ITERATIONS, ONCE, PATH, Factors, LinearPredictor, Sum, Term
from .build import TrainingOutputs, make_gram, make_term
from .deformed import Deformed, DeformedFeatures, DeformedGram, kernels_in_memory
from .directions import PerDirection
from .factors import left_out_of_rows
from .feature_blocks import BlockGram
from .features import FeatureGram, FeatureSpectral
from .general import General
from .gram import DenseGram, Gram
from .padded import Constant, Padded, PaddedFactors
from .patterns import ByPattern
from .rank_one import RankOneTerms
from .sampled import Sampled
from .separable import Separable, merged, summed
