"""Samples left out: leave-one-out and pairs in closed form, folds, and the choice of settings by them."""

from .choice import Choice, by_output, choose, choose_kernels, fit_selected, settled
from .draws import FOLDS, drawn
from .first_rows import Decided, decide, n_patterns, solve_moments
from .folds import fold_errors, own_error
from .levels import choose_levels, with_levels
from .loo import WithoutOne, leave_one_out, residual_path
from .on_features import Approximation
from .reservoir import Reservoir, choose_alpha, left_out_of_all
from .step_back import automatic_bounds, step_back, with_larger_constants
from .trials import Trial, best_index, table
