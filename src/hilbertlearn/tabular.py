"""Tables: models that predict some columns from others, and comparisons with other methods."""

from .app.tabular import *
from .app.tabular import __all__ as __all__
