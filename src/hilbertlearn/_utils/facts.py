"""What a fit has found, in words: one list of facts for ``summary()``, for notebooks and for reports."""

from __future__ import annotations

import html
import re
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .naming import unnamed_in_errors

Facts = list[tuple[str, Any]]  # name, and a number, an object or a text

_WIDTH = 200  # characters of a fact, beyond which it is cut
_TABLE = "border-collapse: collapse; margin-top: 0.5em; font-size: 0.9em; color: inherit; background: transparent"
_CELL = "text-align: left; padding: 0.15em 1em 0.15em 0; border-bottom: 1px solid rgba(128, 128, 128, 0.35)"


@unnamed_in_errors
class WithFacts:
    """An estimator that says what it has found: a subclass has ``facts()``, the rest is here."""

    def facts(self) -> Facts:
        """What was found, as pairs (name, value); numbers are as the attributes have them."""
        raise TypeError(f"{type(self).__name__} must define facts()")

    def summary(self) -> str:
        """A few lines on what was learnt."""
        return as_text(type(self).__name__, self.facts())

    def _repr_html_inner(self):
        """Scikit-learn's diagram, and below it the facts of a fitted estimator."""
        return super()._repr_html_inner() + self._facts_as_html()  # type: ignore[misc]

    def _repr_mimebundle_(self, **options):
        bundle = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._facts_as_html()
        return bundle

    def _facts_as_html(self):
        try:
            check_is_fitted(self)
        except NotFittedError:
            return ""
        return as_html(self.facts())


def as_text(title, facts: Facts) -> str:
    """A title, and a line for each fact."""
    width = max((len(name) for name, _ in facts), default=0)
    return "\n".join([title, *(f"{name:<{width}}  {short(value)}" for name, value in facts)])


def as_html(facts: Facts) -> str:
    """A table; colours are those of the page around it, be it light or dark."""
    rows = "".join(
        f'<tr><th scope="row" style="{_CELL}; font-weight: normal; opacity: 0.75">{html.escape(name)}</th>'
        f'<td style="{_CELL}">{html.escape(short(value))}</td></tr>'
        for name, value in facts
    )
    return f'<table class="hilbertlearn-facts" style="{_TABLE}"><tbody>{rows}</tbody></table>'


def short(value) -> str:
    """Text of a fact in one line, floats with three digits; long lists and texts are cut."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        value = ", ".join(f"{name} {short(one)}" for name, one in value.items())
    if isinstance(value, (list, tuple)):
        value = ", ".join(short(one) for one in value)
    text = re.sub(r"\d+\.\d+(e[+-]?\d+)?", lambda match: f"{float(match[0]):.3g}", " ".join(str(value).split()))
    return text if len(text) <= _WIDTH else text[: _WIDTH - 2].rstrip() + " …"
