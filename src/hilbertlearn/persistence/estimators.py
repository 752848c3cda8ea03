"""Checks of loaded estimators of scikit-learn: caches of pickles, trees, and columns of one-hot encodings."""

from __future__ import annotations

import numpy as np
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import OneHotEncoder

from .kinds import is_integer, require
from .trees import check_trees


def refuse_memory(estimator):
    """Raise if a pipeline caches its steps in a folder of pickles: its next fit would read them."""
    if isinstance(estimator, (Pipeline, FeatureUnion)):
        require(vars(estimator).get("memory") is None, "memory is a folder of pickles; set memory=None")


def check_estimator(estimator):
    """Raise unless the attributes of an estimator are consistent where compiled code relies on it."""
    refuse_memory(estimator)
    check_trees(estimator)
    if isinstance(estimator, OneHotEncoder) and "categories_" in vars(estimator):
        _check_categories(vars(estimator))


def _check_categories(learnt):
    """Raise unless every code of a category has a column: sparse matrices are built from the codes without checks.

    Infrequent categories share a code, and one code of each feature may be dropped.
    """
    categories, widths = learnt["categories_"], learnt.get("_n_features_outs")
    require(isinstance(categories, list) and isinstance(widths, list), "no categories")
    groups = learnt["_default_to_infrequent_mappings"] if learnt.get("_infrequent_enabled") else None
    dropped = learnt.get("_drop_idx_after_grouping")
    unset = [None] * len(categories)
    groups, dropped = unset if groups is None else groups, unset if dropped is None else dropped
    for known, group, drop, width in zip(categories, groups, dropped, widths, strict=True):
        require(_is_sorted(known) and is_integer(width), "no categories")
        require(group is None or _is_grouping(group, len(known)), "no groups of categories")
        codes = len(known) if group is None else int(group.max()) + 1
        require(drop is None or (is_integer(drop) and 0 <= drop < codes), "a dropped category that does not exist")
        require(width == codes - (drop is not None), "columns that do not exist")


def _is_sorted(known) -> bool:
    """Whether numbers ascend, as a binary search requires; text is looked up in a dictionary."""
    if not isinstance(known, np.ndarray) or known.ndim != 1:
        return False
    return known.dtype.kind in "OUS" or np.array_equal(np.sort(known), known, equal_nan=known.dtype.kind == "f")


def _is_grouping(group, count) -> bool:
    """Whether an array has a code, not negative, for each of `count` categories."""
    is_array = isinstance(group, np.ndarray) and group.shape == (count,) and group.dtype.kind == "i" and count > 0
    return is_array and group.min() >= 0
