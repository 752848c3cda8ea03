"""Training data, encoded once, and fits of them."""

from .constant import best_constant
from .data import Encoded, Recipe, Training, build, counting, kernel_terms, take_samples
from .fit import Fit, Options, fit, fit_path
