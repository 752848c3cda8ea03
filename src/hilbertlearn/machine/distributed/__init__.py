"""Fits to blocks of rows on the workers of a Dask cluster: rows stay there, sums of r x r and r x d numbers travel.

``dask`` and ``distributed`` are imported when a collection of theirs is given.
"""

from .blocks import Blocks, by_blocks, is_dask, of_each_block
from .fit import POOL, check_settings, fit_blocks
from .parts import Reader
