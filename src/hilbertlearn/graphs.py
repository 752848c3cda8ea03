"""Graphs: pairs of nodes as samples."""

from .data.graphs import *
from .data.graphs import __all__ as __all__
