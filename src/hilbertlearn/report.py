"""Reports: one self-contained page on a fitted model."""

from .app.report import *
from .app.report import __all__ as __all__
