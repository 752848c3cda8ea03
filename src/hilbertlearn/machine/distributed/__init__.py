"""Fits to blocks of rows on the workers of a Dask cluster.

Rows stay on their workers; sums of r x r and r x d numbers travel. ``dask`` and ``distributed`` are imported when a
collection of theirs is given.
"""

from .blocks import Blocks, is_dask, map_blocks, map_blocks_lazily
