"""Training data and the fits of them: samples, the constant, one fit, paths, and sums over rows.

``Samples`` are checked inputs and encoded outputs; ``Training`` adds kernels and terms; ``fit`` solves the problem of a
loss and an alpha. The package is below ``selection``, because the selection of settings fits models.

Decisions
---------
- *Constant.* A model is fitted around the constant of smallest loss, the model of infinite alpha. It is continuous in
  the settings of the loss, and certified by its own duality gap. An offset that is minimised together with the function
  would change ridge regression for kernels that are not centred. The constant of curves on a grid is smoothed by a
  spline; its penalty minimises an unbiased estimate of the error, with the noise estimated from fourth differences, so
  that curves without noise are not smoothed. It is linear in the outputs, so leave-one-out stays exact.
- *Unobserved outputs.* The constant of an output that no sample observes is NaN, except at points of a grid, where
  ``Space.smooth_means`` interpolates with a spline in tension. Problems use 0 in place of NaN.
- *Precision* is decided in ``precision.py`` alone. "auto" does not use float32 where the default ``tol`` would not be
  reached. Settings are selected in float64; where all samples took part, the fit reuses their factors.
- *Moments.* On features the squared loss needs only ``Z'DZ``, ``Z'DY`` and a few sums, which add up over rows in any
  order. The duality gap is the residual of the normal equations, in which nothing cancels. Outputs are summed around
  an origin near their mean, so that a large mean costs no digits. Outputs with the same missing rows share sums; more
  than 100 patterns are refused.
"""

from .constant import best_constant
from .data import Training, alpha_grid, build, make_terms
from .fit import Fit, Options, fit, fit_grid, fit_path
from .moments import MomentProblem, Moments
from .precision import SETTINGS as PRECISIONS
from .precision import for_alpha, has_float32_inputs, select_precision
from .samples import EncodedOutputs, Recipe, Samples, kernel_terms, observed_rows, take_samples
from .schedules import SCHEDULES, check_alpha, is_searched, resolve_schedule
