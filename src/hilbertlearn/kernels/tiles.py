"""Matrices of kernel values, computed in tiles that fit in the cache; symmetric matrices are computed half."""

from __future__ import annotations

import numpy as np

from .._utils.threads import map_in_threads

_ENTRIES = 2**18  # entries of a tile, 2 MB in double precision; larger tiles leave the cache
_SINGLE_THREAD_TILES = 8  # number of tiles up to which one thread is faster than several


def fill_tiles(fill, out, symmetric=False, entries=_ENTRIES):
    """Fill `out` (n, m) by calls of ``fill(rows, columns)`` with two slices, in several threads if it is large.

    symmetric : whether `out` is symmetric; tiles on and above the diagonal are then computed and copied below it, and
        entries of a diagonal tile that differ by rounding become the smaller one
    entries : entries of a tile
    """
    n, m = out.shape
    width = int(entries**0.5) if symmetric else max(m, 1)
    height = max(1, entries // width)

    def compute(tile):
        fill(*tile)
        if symmetric:
            values = out[tile]
            out[tile[::-1]] = values.T if tile[0] != tile[1] else np.minimum(values, values.T)

    tiles = [
        (slice(i, i + height), slice(j, j + width))
        for i in range(0, n, height)
        for j in range(i if symmetric else 0, m, width)
    ]
    map_in_threads(compute, tiles, serial_up_to=_SINGLE_THREAD_TILES * _ENTRIES // entries)
