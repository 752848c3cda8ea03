"""The papers' guarantees as numbers."""

from .papers.bounds import *
from .papers.bounds import __all__ as __all__
