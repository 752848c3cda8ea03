"""Matrices of kernel values tile by tile: a tile stays in the cache, and of symmetric ones half is worked on."""

from __future__ import annotations

import numpy as np

from .._utils.threads import side_by_side

_ENTRIES = 2**18  # of a tile, 2 MB in double precision
_FEW = 8  # tiles that are not worth the start of threads


def fill_tiles(fill, out, symmetric=False, entries=_ENTRIES):
    """Let ``fill(rows, columns)``, two slices, write the tiles of `out` (n, m); of a large one side by side.

    symmetric : whether `out` is. Tiles on and above the diagonal are then asked for, and copied below: of two numbers
        that differ by rounding both become the smaller.
    entries : of a tile
    """
    n, m = out.shape
    width = int(entries**0.5) if symmetric else max(m, 1)
    height = max(1, entries // width)

    def work(tile):
        fill(*tile)
        if symmetric:
            values = out[tile]
            out[tile[::-1]] = values.T if tile[0] != tile[1] else np.minimum(values, values.T)

    tiles = [
        (slice(i, i + height), slice(j, j + width))
        for i in range(0, n, height)
        for j in range(i if symmetric else 0, m, width)
    ]
    side_by_side(work, tiles, few=_FEW * _ENTRIES // entries)
