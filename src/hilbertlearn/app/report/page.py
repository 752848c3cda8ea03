"""Sections as one self-contained HTML page, with style, script and data inside."""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import os
from functools import cache
from html import escape
from importlib.resources import files

from ..._utils.atomic_files import write_atomically
from .charts import INKS, PALETTE, Chart, plain
from .fit import package_versions
from .parts import Figures, Meter, ReportTable, Section, SectionPart, Tile

_TITLE = "hilbertlearn report"
_METER = 44  # width of a bar in a cell, in pixels


def html(sections, *, title=_TITLE, command=None) -> str:
    """The page of a report as text.

    Parameters
    ----------
    sections : Section or list of Section
        Results of ``report.section``.
    title : str, default="hilbertlearn report"
        Title of the page.
    command : str, default=None
        The command line that made the report. None shows none.

    Returns
    -------
    str
        An HTML document without any reference to other files.

    References
    ----------
    - Okabe, M. and Ito, K. (2008). Color universal design: how to make figures and presentations that are friendly to
      colorblind people. The colours, as in ``plotting``.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, report
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> model = OperatorKernelRegressor("rbf", gamma=5.0, alpha=1e-4).fit(X, np.sin(6 * X[:, 0]))
    >>> page = report.html(report.section(model, X, np.sin(6 * X[:, 0])), title="A sine")
    >>> page.startswith("<!doctype html>"), "<title>A sine</title>" in page
    (True, True)
    """
    sections = _as_list(sections)
    style, script = _style(), _asset("report.js")
    policy = f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'"
    data = {"title": str(title), "sections": [_data(section, k) for k, section in enumerate(sections)]}
    body = "".join(_section(section, k, title) for k, section in enumerate(sections))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="hilbertlearn">
<title>{escape(str(title))}</title>
<style>{style}</style>
</head>
<body>
<header class="top"><p class="brand">hilbertlearn</p><h1>{escape(str(title))}</h1>{_contents(sections)}</header>
<div class="tools" role="search"><input id="find" type="search" placeholder="Find a sample by name"
aria-label="Find a sample by name" autocomplete="off"><output id="found" aria-live="polite"></output>
<button id="theme" type="button" aria-label="Switch between light and dark">Dark</button></div>
<noscript><p class="empty">Charts need JavaScript; tables and figures do not.</p></noscript>
<main>{body}</main>
{_footer(command)}
<div id="tip" role="status" hidden></div>
<script id="report-data" type="application/json">{_json(data)}</script>
<script>{script}</script>
</body>
</html>
"""


def write(path, sections, *, title=_TITLE, command=None):
    """Write the page of a report to a file. If this fails, an existing file stays as it is.

    Parameters
    ----------
    path : str or path-like
        File to write.
    sections : Section or list of Section
        Results of ``report.section``.
    title : str, default="hilbertlearn report"
        Title of the page.
    command : str, default=None
        The command line that made the report. None shows none.

    Returns
    -------
    str or path-like
        ``path`` as it was given.

    References
    ----------
    - Okabe, M. and Ito, K. (2008). Color universal design: how to make figures and presentations that are friendly to
      colorblind people. The colours, as in ``plotting``.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, report
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> model = OperatorKernelRegressor("rbf", gamma=5.0, alpha=1e-4).fit(X, np.sin(6 * X[:, 0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = report.write(os.path.join(folder, "sine.html"), report.section(model, X, np.sin(6 * X[:, 0])))
    ...     os.path.getsize(path) > 10_000
    True
    """
    text = html(sections, title=title, command=command)
    target = os.path.abspath(os.fspath(path))
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"path: there is no folder {folder!r}; make it first, or give another path")
    with write_atomically(target) as part, open(part, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def _as_list(sections) -> list[Section]:
    sections = [sections] if isinstance(sections, Section) else list(sections)
    wrong = next((item for item in sections if not isinstance(item, Section)), None)
    if wrong is not None or not sections:
        kind = "none" if not sections else type(wrong).__name__
        raise TypeError(f"sections must be results of report.section, one or a list of them, got {kind}")
    return sections


# ---------------------------------------------------------------- assets and data


@cache
def _asset(name) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _style() -> str:
    """The style, with the colours of ``plotting`` as variables, and other colours in dark mode."""
    light = "".join(f"--{name}:{color};" for name, color in {**PALETTE, **INKS}.items())
    dark = _asset("dark.css")
    return (
        f":root{{{light}}}\n{_asset('report.css')}"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
    )


def _hash(text) -> str:
    """The hash by which the content policy allows an inline style or script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _json(data) -> str:
    """JSON whose text cannot end the script element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    unsafe: dict[str, str | int | None] = {
        "<": "\\u003c",
        ">": "\\u003e",
        "&": "\\u0026",
        "\u2028": "\\u2028",
        "\u2029": "\\u2029",
    }
    return text.translate(str.maketrans(unsafe))


def _data(section: Section, k) -> dict:
    charts = {_key(k, p, i): item.plain() for p, part in enumerate(section.parts) for i, item in enumerate(part.items)
              if isinstance(item, Chart)}  # fmt: skip
    return {"name": section.name, "task": section.task, "facts": plain(section.facts), "charts": charts}


def _key(k, p, i) -> str:
    return f"{k}-{p}-{i}"


# ---------------------------------------------------------------- markup


def _contents(sections) -> str:
    """Links to the sections, or to the parts of the only one."""
    if len(sections) == 1:
        links = [(f"part-0-{p}", part.title) for p, part in enumerate(sections[0].parts)]
    else:
        links = [(f"section-{k}", section.name) for k, section in enumerate(sections)]
    items = "".join(f'<li><a href="#{anchor}">{escape(text)}</a></li>' for anchor, text in links)
    return f'<nav aria-label="Contents"><ul>{items}</ul></nav>'


def _section(section: Section, k, title) -> str:
    head = "" if section.name == title else f"<h2>{escape(section.name)}</h2>"
    tiles = "".join(map(_tile, section.tiles))
    parts = "".join(_part(part, k, p) for p, part in enumerate(section.parts))
    return (
        f'<section class="model" id="section-{k}">{head}'
        f'<p class="task">{escape(section.task)}</p><dl class="tiles">{tiles}</dl>{parts}</section>'
    )


def _tile(tile: Tile) -> str:
    note = f'<dd class="note">{escape(tile.note)}</dd>' if tile.note else ""
    return f'<div><dt>{escape(tile.label)}</dt><dd class="value">{escape(tile.value)}</dd>{note}</div>'


def _part(part: SectionPart, k, p) -> str:
    intro = f'<p class="intro">{escape(part.intro)}</p>' if part.intro else ""
    items = "".join(_item(item, _key(k, p, i)) for i, item in enumerate(part.items))
    head = f"<h3>{escape(part.title)}</h3>{intro}"
    return f'<section class="part" id="part-{k}-{p}">{head}<div class="items">{items}</div></section>'


def _item(item, key) -> str:
    if isinstance(item, Chart):
        caption = f"<figcaption>{escape(item.title)}</figcaption>"
        return f'<figure class="chart" data-chart="{key}">{caption}{_note(item)}</figure>'
    return _table(item) if isinstance(item, ReportTable) else _figures(item)


def _note(item) -> str:
    return f'<p class="note">{escape(item.note)}</p>' if item.note else ""


def _figures(figures: Figures) -> str:
    head = f"<h4>{escape(figures.title)}</h4>" if figures.title else ""
    rows = "".join(f"<dt>{escape(label)}</dt><dd>{escape(value)}</dd>" for label, value in figures.rows)
    return f'<div class="figures">{head}<dl>{rows}</dl></div>'


def _table(table: ReportTable) -> str:
    heads = [*([table.first] if table.names is not None else []), *table.columns]
    words = {table.first, *table.text} if table.names is not None else set(table.text)
    kinds = [' class="words"' if head in words else "" for head in heads]
    top = "".join(f'<th scope="col"{kind}>{escape(head)}</th>' for head, kind in zip(heads, kinds, strict=True))
    rows = "".join(_row(table, i, kinds) for i in range(len(table.rows)))
    if not table.rows:
        rows = f'<tr><td colspan="{len(heads)}" class="empty">nothing to show</td></tr>'
    body = f"<table><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>"
    body = f'<div class="scroll" tabindex="0">{body}</div>{_note(table)}'
    if table.folded:
        return f'<details class="table"><summary>{escape(table.title)}</summary>{body}</details>'
    return f'<div class="table{" narrow" if table.narrow else ""}"><h4>{escape(table.title)}</h4>{body}</div>'


def _row(table: ReportTable, i, kinds) -> str:
    cells, heading = table.rows[i], ""
    if table.names is not None:
        name = escape(table.names[i])
        heading, kinds = f'<th scope="row" class="words">{name}</th>', kinds[1:]
    searched = (
        f' data-name="{escape(table.names[i])}"'
        if table.names is not None and table.first in ("sample", "pair")
        else ""
    )
    return f"<tr{searched}>{heading}{''.join(_cell(cell, kind) for cell, kind in zip(cells, kinds, strict=True))}</tr>"


def _cell(cell, kind) -> str:
    if not isinstance(cell, Meter):
        return f"<td{kind}>{escape(str(cell))}</td>"
    text = f'<span class="share">{escape(cell.text)}</span>'
    if not cell.share > 0:
        return f"<td{kind}>{text}</td>"
    frame = f'<rect class="all" width="{_METER}" height="8" rx="2"/>'
    filled = f'<rect width="{_METER * min(cell.share, 1.0):.1f}" height="8" rx="2"/>'
    bar = f'<svg class="meter" width="{_METER}" height="8" aria-hidden="true">{frame}{filled}</svg>'
    return f"<td{kind}>{bar}{text}</td>"


def _footer(command) -> str:
    date = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    rows = [("made", date), *package_versions()]
    versions = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in rows)
    typed = f"<h3>Command</h3><pre><code>{escape(str(command))}</code></pre>" if command else ""
    return f'<footer>{typed}<h3>Made with</h3><div class="figures"><dl>{versions}</dl></div></footer>'
