"""Training data, encoded once, and fits of them."""

from .constant import best_constant
from .data import Training, alpha_grid, build, make_terms
from .fit import Fit, Options, fit, fit_path
from .moments import MomentProblem, Moments
from .samples import Encoded, Recipe, Samples, counting, kernel_terms, take_samples
