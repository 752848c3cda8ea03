"""Selection of alpha and of constants of the loss along a path; folds of the pairs of a graph.

*Hidden links.* Pairs of nodes are the samples (``graphs.Pairs``), so that scikit-learn's tools apply. ``EdgeSplit``
splits them; any other splitter of scikit-learn works too.

Decisions
---------
*Errors.* Without a scorer ``RegularizationPathCV`` compares twice the estimator's loss, which is the squared error for
the squared loss.

*Grids of alpha and constants of a loss* (``grid.py``). Losses with different constants cannot be compared by their own
values, so without a scorer all models are compared by one loss. For losses with a bound it is the loss with its "auto"
constants, so that outliers in the test part do not decide; for others the squared loss. The start of a fit is ``B + C -
D`` from the dual variables for the previous alpha (B), the previous loss (C) and both (D). Extrapolation of higher
order, or in one direction only, takes more iterations, because dual variables have kinks where they reach their bound.
Losses are in the order from the one nearest to the square to the most robust: clipping dual variables keeps them
admissible, enlarging them is a guess. Models of folds are solved to ten times ``tol``. The simplest model has the
largest alpha, then the smallest bound, then the widest tube.
"""

from .edges import EdgeSplit
from .path import RegularizationPathCV

__all__ = ["EdgeSplit", "RegularizationPathCV"]
