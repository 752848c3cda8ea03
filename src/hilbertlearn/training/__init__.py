"""Training data, encoded once, and fits of them."""

from .constant import best_constant
from .data import Training, build
from .fit import Fit, Options, fit, fit_path
from .precision import SETTINGS as PRECISIONS
from .precision import decided, for_alpha, is_single
from .samples import Encoded, Recipe, Samples, counting, kernel_terms, take_samples
