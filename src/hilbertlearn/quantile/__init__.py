"""Quantiles of several levels at once.

The outputs of all levels are columns of one problem with the pinball loss (``losses.Pinball``) in the space
``spaces.QuantileSpace``; ``operators.LevelCoupling`` couples the levels. The kernel is selected for the squared loss,
which has closed forms; coupling and alpha by the pinball loss over folds, and offsets of the levels by residuals of
folds (``selection/levels.py``). Offsets are added to the constants after the problem is solved. ``QuantileSteps``
are the steps in which the fit differs: separate problems for the outputs of vectors (``independent_outputs.py``), and
the order of quantiles as a constraint at the samples and at further points (``non_crossing.py``).
"""

from .regressor import QuantileRegressor
