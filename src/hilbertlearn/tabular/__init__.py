"""Tables: reading them, a model that predicts some of their columns from others, and a comparison with peers."""

from .columns import listed
from .comparison import compare
from .files import TableError, check_output, read_table, whole_file, write_table
from .inputs import InputEncoding
from .model import TabularModel
from .peers import tuned_kernel_ridge
from .tasks import TASKS

__all__ = [
    "TASKS",
    "InputEncoding",
    "TableError",
    "TabularModel",
    "check_output",
    "compare",
    "listed",
    "read_table",
    "tuned_kernel_ridge",
    "whole_file",
    "write_table",
]
