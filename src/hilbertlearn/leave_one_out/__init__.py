"""Leave-one-out in closed form for the squared loss: residuals, and predictions of all n models."""

from .models import LeaveOneOutModels
from .reservoir import Reservoir, loo_residuals_from_moments
from .residuals import loo_residual_path, loo_residuals
