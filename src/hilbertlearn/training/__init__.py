"""Training data, encoded once, and fits of them."""

from .constant import best_constant
from .data import Training, alpha_grid, build, make_terms
from .fit import Fit, Options, fit, fit_grid, fit_path
from .moments import MomentProblem, Moments
from .precision import SETTINGS as PRECISIONS
from .precision import for_alpha, has_float32_inputs, select_precision
from .samples import Encoded, Recipe, Samples, kernel_terms, observed_rows, take_samples
from .schedules import SCHEDULES, check_alpha, is_searched, resolve_schedule
