"""Coverage of prediction sets: guaranteed and observed."""

from __future__ import annotations

import numpy as np

from .charts import Axis, Chart, Series, View, bin_edges, histogram
from .parts import CoverageSummary, Figures, Meter, ReportTable, SectionPart, Tile
from .text import format_count, format_number, format_percent


def interval_coverage(model, X, y, true, ends, targets):
    """Coverage of intervals (n, d, 2) of each output, and of the region of all at once."""
    known = np.isfinite(true)
    inside = known & (ends[..., 0] <= true) & (true <= ends[..., 1])
    shares = inside.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    widths = ends[..., 1] - ends[..., 0]
    rows = [
        [
            Meter(shares[j], format_percent(shares[j])),
            format_number(known[:, j].sum()),
            format_number(np.median(widths[:, j])),
        ]
        for j in range(len(targets))
    ]
    head = ["inside", "of", "median width"]
    items = [ReportTable("Intervals, each output by itself", head, rows, targets, first="output")]
    facts = {"coverage_by_output": dict(zip(targets, shares.tolist()))}
    single = true.shape[1] == 1
    covered = inside[:, 0] if single else model.conformal.predict_region(X).contains(y)
    return _summary(model, covered[known.any(axis=1)], "intervals" if single else "all outputs at once", items, facts)


def band_coverage(model, band, y, known, along: Chart | None):
    """Coverage of bands of the curves that are known (n,), and along the curve."""
    width = float(np.mean(band.mean_width()))
    covered = np.asarray(band.contains(y))[known]
    items = [] if along is None else [along]
    rows = [("mean width", format_number(width))]
    return _summary(model, covered, "whole curves", items, {"mean_width": width}, rows)


def set_coverage(model, sets, y, rows):
    """Coverage of sets of objects, and their sizes, of the samples in these rows."""
    covered, sizes = np.asarray(sets.contains(y))[rows], np.asarray(sets.sizes, dtype=float)[rows]
    known = sizes[np.isfinite(sizes)]
    facts, items, sizes_row = {}, [], []
    if len(known):
        facts["median_set_size"] = float(np.median(known))
        sizes_row = [("outputs in a set, median", format_number(np.median(known)))]
    if len(np.unique(known)) > 1:
        bars = histogram("sets", known, bin_edges(known))
        items = [Chart("Sizes of the sets", Axis("outputs in the set"), Axis("share of samples"), [View("", [bars])])]
    return _summary(model, covered, "sets", items, facts, sizes_row)


def partner_coverage(model, covered, sizes):
    """Coverage of sets of partners by links, and their sizes."""
    return _summary(model, covered, "links", [], {}, [("partners of a node, median", format_number(np.median(sizes)))])


def guaranteed_coverage(conformal) -> str:
    """The coverage that holds for every distribution, see ``ConformalPredictor``."""
    level = float(conformal.level)
    if conformal.method_ == "split":
        return format_percent(level)
    bound = format_percent(max(2 * level - 1, 0.0))
    return bound if conformal.method_ == "jackknife+" else f"nearly {bound}"


def _summary(model, covered, subject, items, facts, extra_rows=()) -> CoverageSummary:
    """The summary for ``covered`` (n,), whether sets contain the truth, of a subject; extra_rows : of figures."""
    conformal, n = model.conformal, len(covered)
    level, observed = float(conformal.level), float(np.mean(covered)) if n else float("nan")
    error = float(np.sqrt(level * (1 - level) / n)) if n else float("nan")
    rows = [
        ("nominal level", format_percent(level)),
        ("guaranteed for any distribution", guaranteed_coverage(conformal)),
        ("observed", f"{format_percent(observed)} ({int(np.sum(covered))} of {n})"),
        ("standard error", f"± {format_percent(error)}"),
        ("method", f"{conformal.method_}" + (", in closed form" if conformal.closed_form_ else "")),
        ("calibrated on", format_count(conformal.n_calibration_, "sample")),
    ]
    facts = {"coverage": observed, "level": level, "n_covered": int(np.sum(covered)), **facts}
    tile = Tile("coverage", format_percent(observed), f"nominal level {format_percent(level)}, {subject}")
    intro = f"How often the truth was inside, on the test data: {subject}."
    return CoverageSummary(SectionPart("Coverage", intro, [Figures([*rows, *extra_rows]), *items]), facts, tile)


def coverage_chart(points, share, level) -> Chart:
    """Share (m,) of the curves that is inside at each point (m,)."""
    series = [
        Series("observed", "line", points, share, color="blue"),
        Series(
            f"nominal level for whole curves, {format_percent(level)}", "rule", y=[level], color="grey", dashed=True
        ),
    ]
    note = "A band contains whole curves, so that its coverage at single points is above the nominal level."
    return Chart("Inside the band, along the curve", Axis("t"), Axis("share inside"), [View("", series)], note)
