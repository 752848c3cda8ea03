"""All kinds, by their names in files and by the types of their values."""

from __future__ import annotations

import numpy as np

from .estimators import ESTIMATORS
from .frames import FRAMES
from .graphs import GRAPHS
from .kinds import Kind, type_name
from .plain import PLAIN

KINDS = {kind.name: kind for kind in (*PLAIN, *FRAMES, *GRAPHS, *ESTIMATORS)}
_BY_TYPE = {name: kind for kind in KINDS.values() for name in kind.types}


def kind_of(value) -> Kind | None:
    """The kind of a value, None if it has none."""
    if isinstance(value, np.generic):
        return KINDS["scalar"]
    if isinstance(value, np.dtype):
        return KINDS["dtype"]
    return _BY_TYPE.get(type_name(type(value)))
