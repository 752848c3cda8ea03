"""Tables: reading them, a model that predicts some of their columns from others, and a comparison with peers."""

from .comparison import compare
from .files import TableError, read_table, write_table
from .model import TabularModel

__all__ = ["TabularModel", "compare", "read_table", "write_table"]
