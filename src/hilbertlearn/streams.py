"""Data in pieces: rows that are read a batch at a time and need not fit in memory."""

from .data.streams import *
from .data.streams import __all__ as __all__
