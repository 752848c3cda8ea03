"""Automatic selection of settings by leave-one-out errors and folds."""

from .alpha_search import select_alpha_by_output
from .automatic import STAGES, select, select_kernels
from .draws import FOLDS, draw_subsample
from .feature_search import Approximation
from .folds import fold_errors, own_error
from .levels import select_levels, with_levels
from .loss_constants import resolve_loss
from .result import Selection, fit_selected
from .step_back import automatic_bounds, step_back, with_larger_constants
from .stream_settings import StreamSettings, n_patterns, select_alpha, select_stream_settings, solve_moments
from .trials import Trial, best_index, trials_table
