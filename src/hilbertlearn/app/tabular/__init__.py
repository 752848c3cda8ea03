"""Models of tables: columns of a data frame predicted from other columns, and a comparison with other methods.

A ``TableTask`` is the only place that knows how targets are read, which estimator learns them and how predictions are
written. Inputs become rows of numbers by scikit-learn's ``ColumnTransformer`` (``inputs.py``), so that our estimators
and the alternatives of ``compare`` get the same. A fitted model is saved by ``hilbertlearn.save`` like any other.
"""

from .comparison import compare
from .files import TableError, read_table, write_table
from .model import TabularModel

__all__ = ["TabularModel", "compare", "read_table", "write_table"]
