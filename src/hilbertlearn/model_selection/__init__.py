"""Choice of the regularisation along a whole path; folds of the pairs of a graph."""

from .edges import EdgeSplit
from .path import RegularizationPathCV

__all__ = ["EdgeSplit", "RegularizationPathCV"]
