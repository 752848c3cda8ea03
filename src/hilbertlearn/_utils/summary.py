"""Summaries of fitted estimators: one list of items for ``summary()``, notebooks and reports."""

from __future__ import annotations

import html
import re
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .naming import unnamed_in_errors

SummaryItems = list[tuple[str, Any]]  # pairs of a name and a number, object or text

_WIDTH = 200  # characters after which the text of an item is cut
_TABLE = "border-collapse: collapse; margin-top: 0.5em; font-size: 0.9em; color: inherit; background: transparent"
_CELL = "text-align: left; padding: 0.15em 1em 0.15em 0; border-bottom: 1px solid rgba(128, 128, 128, 0.35)"


@unnamed_in_errors
class SummaryMixin:
    """``summary()`` and the table in notebooks, for estimators that define ``summary_items()``."""

    def summary_items(self) -> SummaryItems:
        """The lines of ``summary`` as pairs (name, value); numbers are those of the learnt attributes."""
        raise TypeError(f"{type(self).__name__} must define summary_items()")

    def summary(self) -> str:
        """A few lines on what was learnt.

        Returns
        -------
        text : str
        """
        return as_text(type(self).__name__, self.summary_items())

    def _repr_html_inner(self):
        """Scikit-learn's diagram, and below it the summary of a fitted estimator."""
        return super()._repr_html_inner() + self._items_as_html()  # type: ignore[misc]

    def _repr_mimebundle_(self, **options):
        bundle = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._items_as_html()
        return bundle

    def _items_as_html(self):
        try:
            check_is_fitted(self)
        except NotFittedError:
            return ""
        return as_html(self.summary_items())


def as_text(title, items: SummaryItems) -> str:
    """A title, and a line for each item."""
    width = max((len(name) for name, _ in items), default=0)
    return "\n".join([title, *(f"{name:<{width}}  {short(value)}" for name, value in items)])


def as_html(items: SummaryItems) -> str:
    """A table in the colours of the page, light or dark."""
    rows = "".join(
        f'<tr><th scope="row" style="{_CELL}; font-weight: normal; opacity: 0.75">{html.escape(name)}</th>'
        f'<td style="{_CELL}">{html.escape(short(value))}</td></tr>'
        for name, value in items
    )
    return f'<table class="hilbertlearn-summary" style="{_TABLE}"><tbody>{rows}</tbody></table>'


def short(value) -> str:
    """The text of an item in one line, floats with three digits; long lists and texts are cut."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        value = ", ".join(f"{name} {short(item)}" for name, item in value.items())
    if isinstance(value, (list, tuple)):
        value = ", ".join(short(item) for item in value)
    text = re.sub(r"\d+\.\d+(e[+-]?\d+)?", lambda match: f"{float(match[0]):.3g}", " ".join(str(value).split()))
    return text if len(text) <= _WIDTH else text[: _WIDTH - 2].rstrip() + " …"
