"""Readers of the data files that the papers use."""

from .papers.readers import *
from .papers.readers import __all__ as __all__
