"""Encoders of scikit-learn that learn which column a value goes to.

Their tables of zeros and ones are built as sparse matrices whose column numbers nobody looks at again; so these are
checked here.
"""

from __future__ import annotations

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import MultiLabelBinarizer, OneHotEncoder

from .kinds import is_number, require


def check_columns(estimator):
    """Raise unless the columns of an encoder are those that there are."""
    learnt = vars(estimator)
    if isinstance(estimator, CountVectorizer):
        require(learnt.get("input") != "filename", "texts that are read from files; set input='content'")
    if isinstance(estimator, (CountVectorizer, DictVectorizer)):
        _check_numbers(learnt.get("vocabulary_"))
    elif isinstance(estimator, MultiLabelBinarizer):
        _check_numbers(learnt.get("_cached_dict"))
    elif isinstance(estimator, OneHotEncoder) and "categories_" in learnt:
        _check_categories(learnt)


def _check_numbers(columns):
    """Columns by word, None before fit: each number once."""
    if columns is not None:
        require(isinstance(columns, dict) and all(map(is_number, columns.values())), "no columns of words")
        require(sorted(columns.values()) == list(range(len(columns))), "columns that there are not")


def _check_categories(learnt):
    """Codes of categories, some joined as infrequent and one maybe dropped, are as many as there are columns."""
    categories, widths = learnt["categories_"], learnt.get("_n_features_outs")
    require(isinstance(categories, list) and isinstance(widths, list), "no categories")
    groups = learnt["_default_to_infrequent_mappings"] if learnt.get("_infrequent_enabled") else None
    dropped = learnt.get("_drop_idx_after_grouping")
    unset = [None] * len(categories)
    each = zip(
        categories, unset if groups is None else groups, unset if dropped is None else dropped, widths, strict=True
    )
    for known, group, out, width in each:
        require(_is_sorted(known) and is_number(width), "no categories")
        require(group is None or _is_grouping(group, len(known)), "no groups of categories")
        codes = len(known) if group is None else int(group.max()) + 1
        require(out is None or (is_number(out) and 0 <= out < codes), "a dropped category that there is not")
        require(width == codes - (out is not None), "columns that there are not")


def _is_sorted(known) -> bool:
    """Whether numbers ascend, as a search by halves takes for granted; texts are looked up."""
    good = isinstance(known, np.ndarray) and known.ndim == 1
    return good and (
        known.dtype.kind in "OUS" or np.array_equal(np.sort(known), known, equal_nan=known.dtype.kind == "f")
    )


def _is_grouping(group, count) -> bool:
    good = isinstance(group, np.ndarray) and group.shape == (count,) and group.dtype.kind == "i" and count > 0
    return good and group.min() >= 0
