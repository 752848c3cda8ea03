"""Dtypes of polars as parts: see ``kinds``. Models keep the dtypes of the training outputs, and no frames."""

from __future__ import annotations

import polars

from .kinds import Kind, require
from .packages import POLARS_DTYPES


def _dtype(name):
    require(name in POLARS_DTYPES, f"no dtype of {POLARS_DTYPES}")
    return getattr(polars, name)()


KINDS = (
    Kind("polars.dtype", tuple(f"polars.{name}" for name in POLARS_DTYPES), lambda dtype: [str(dtype)], _dtype),
    Kind(
        "polars.Enum",
        ("polars.Enum",),
        lambda dtype: dtype.categories.to_list(),
        lambda *categories: polars.Enum(list(categories)),
    ),
)
