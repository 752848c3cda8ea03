"""Methods that the papers compare with."""

from .papers.baselines import *
from .papers.baselines import __all__ as __all__
