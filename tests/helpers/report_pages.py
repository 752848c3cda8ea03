"""Sections of the report cases, parsed pages, charts and tables by title."""

import json
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pandas as pd

from helpers.report_cases import case
from hilbertlearn import OperatorKernelRegressor, report

BAD = "<script>alert(1)</script>"
ODD = [BAD, "</script><img src=x onerror=alert(2)>", "a\"b'c&d", "\u2028 <!--", "{{x}}"]


class ParsedPage(HTMLParser):
    """The tags of a page with their attributes, the text of its data, and all other text."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.data, self.shown, self.inside = [], "", [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = (tag, dict(attributes))

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, text):
        if self.inside and self.inside[1].get("id") == "report-data":
            self.data += text
        elif self.inside is None or self.inside[0] not in ("script", "style"):
            self.shown.append(text)


def case_section(name, /, **more):
    model, X, y, known = case(name)
    return report.section(model, X, y, **{**known, **more}) if more else _case_section(name)


@cache
def _case_section(name):
    model, X, y, known = case(name)
    return report.section(model, X, y, **known)


def data_of(section, **options):
    """The section in the page's data."""
    return json.loads(ParsedPage(report.html(section, **options)).data)["sections"][0]


def chart(section, title):
    """The chart of that title, as it is in the page."""
    (found,) = [one for one in data_of(section)["charts"].values() if one["title"] == title]
    return found


def series(view, name):
    (found,) = [one for one in view["series"] if one.get("name", "").startswith(name)]
    return found


def table(section, title):
    (found,) = [item for part in section.parts for item in part.items if getattr(item, "title", "").startswith(title)]
    return found


def assert_close(seen, wanted):
    """Pages keep six digits."""
    np.testing.assert_allclose(np.array(seen, dtype=float), wanted, rtol=1e-5, atol=1e-12)


def scored_estimator(model):
    """The estimator with a score, inside conformal predictors and searches."""
    while hasattr(model, "best_estimator_") or hasattr(model, "sets_"):
        model = model.estimator_ if hasattr(model, "sets_") else model.best_estimator_
    return model


def section_with_odd_names():
    X = np.random.default_rng(0).normal(size=(5, 2))
    frame = pd.DataFrame(X, index=ODD, columns=ODD[:2])
    y = pd.DataFrame(X @ [[1, 2], [3, 4]], index=ODD, columns=ODD[2:4])
    model = OperatorKernelRegressor("rbf", gamma=1.0, alpha=0.1).fit(frame, y)
    reference = {"name": BAD, "score_name": BAD, "ours": 0.2, "score": 0.1}
    return report.section(model, frame, y, name=BAD, task=BAD, reference=reference)
