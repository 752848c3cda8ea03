"""Leave-one-out in closed form for the squared loss.

The penalty ``alpha n``, kernels and operators are held fixed when a sample is left out. The constant is the mean of the
other samples; its exact effect needs one more column of residuals. The model without sample i is the model of all
samples with target i replaced by its leave-one-out prediction, so ``LeaveOneOutModels`` computes the predictions of all
n models at any input from the factors of one fit.

``Reservoir`` keeps a uniform sample of the rows of a stream. Its rows are left out exactly of the model of *all* rows,
because residuals over one minus leverages need only ``Z'Z`` and the row itself.
"""

from .models import LeaveOneOutModels
from .reservoir import Reservoir, loo_residuals_from_moments
from .residuals import loo_residual_path, loo_residuals, loo_targets
