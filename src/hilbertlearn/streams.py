"""Streams: rows that are read in batches and need not fit in memory."""

from .data.streams import *
from .data.streams import __all__ as __all__
