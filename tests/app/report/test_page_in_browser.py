"""Reports in a browser: charts are drawn, can be pointed at and filtered, on a phone and in the dark."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest
from helpers.report_cases import case

from hilbertlearn import OperatorKernelRegressor, report

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
if BROWSER is None:
    pytest.skip("no Chromium is installed", allow_module_level=True)

KINDS = ("intervals", "bands", "chosen", "rankings", "quantiles", "links", "codes", "two variables")
BAD = "<img src=x onerror=document.title='hit'>"
WIDE, PHONE = {"width": 1200, "height": 900}, {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Paths of reports: of all kinds, and of samples with odd names."""
    folder, sections = tmp_path_factory.mktemp("reports"), []
    for name in KINDS:
        model, X, y, known = case(name)
        sections.append(report.section(model, X, y, name=name, seconds=0.1, **known))
    X = pd.DataFrame(np.arange(12.0).reshape(6, 2), index=[BAD, "</script>", "b", "c", "d", "e"], columns=[BAD, "y"])
    odd = OperatorKernelRegressor("rbf", gamma=0.1, alpha=0.01).fit(X, X)
    return {
        "all": report.write(folder / "all.html", sections, command="report --of everything " + 20 * "long "),
        "bands": report.write(folder / "bands.html", sections[1]),
        "intervals": report.write(folder / "intervals.html", sections[0]),
        "odd": report.write(folder / "odd.html", report.section(odd, X, X, name=BAD), title=BAD),
    }


@pytest.fixture
def visit(browser, files):
    """Opens a report; at the end of the test nothing has been logged and nothing was asked of the network."""
    pages, events = [], []

    def opened(name, viewport=WIDE, dark=False):
        page = browser.new_page(viewport=viewport, color_scheme="dark" if dark else "light")
        page.on("console", lambda message: events.append(message.text))
        page.on("pageerror", lambda error: events.append(str(error)))
        page.on("request", lambda request: events.append(request.url) if not request.url.startswith("file:") else None)
        page.goto(files[name].as_uri())
        page.wait_for_selector(".plot svg")
        pages.append(page)
        return page

    yield opened
    for page in pages:
        page.close()
    assert events == []


def test_every_chart_is_drawn(visit):
    page = visit("all")
    assert page.locator(".plot svg").count() == page.locator("[data-chart]").count() >= 20
    shapes = page.eval_on_selector_all(
        ".plot svg path, .plot svg circle:not(.marker), .plot svg rect",
        "nodes => nodes.map(n => ['d', 'cx', 'cy', 'x', 'y', 'width', 'height'].map(k => n.getAttribute(k)).join(' '))",
    )
    assert len(shapes) > 500 and not any(re.search("NaN|Infinity|undefined", shape) for shape in shapes)
    boxes = page.eval_on_selector_all(
        ".plot svg", "all => all.map(one => [one.clientWidth, one.clientHeight, one.querySelectorAll('path').length])"
    )
    assert all(width > 200 and height > 150 and paths > 3 for width, height, paths in boxes)


def test_dots_are_where_the_numbers_say(visit):
    page, (model, X, y, _) = visit("intervals"), case("intervals")
    known = y["slump"].notna()
    places = page.eval_on_selector_all(
        "[data-chart='0-1-0'] .plot circle:not(.marker)",
        "all => all.map(c => [+c.getAttribute('cx'), +c.getAttribute('cy')])",
    )
    assert len(places) == known.sum()
    across, down = np.sort(np.array(places), axis=0).T
    true, predicted = np.sort(y.loc[known, "slump"]), np.sort(-model.predict(X).loc[known, "slump"])
    for pixels, values in ((across, true), (down, predicted)):
        assert np.abs(np.corrcoef(pixels, values)[0, 1] - 1) < 1e-5


def test_pointing_at_a_dot_names_the_sample(visit):
    page, (_, X, _, _) = visit("intervals"), case("intervals")
    tip = page.locator("#tip")
    assert tip.is_hidden()
    dot = page.locator("[data-chart='0-1-0'] .plot circle").first
    dot.scroll_into_view_if_needed()
    box = dot.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert tip.is_visible() and tip.locator("b").inner_text() in X.index
    assert {"true", "predicted", "from", "to"} <= {line.split(" ")[0] for line in tip.inner_text().split("\n")}
    page.mouse.move(2, 2)
    assert tip.is_hidden()
    page.locator("[data-chart='0-1-0'] .plot").focus()
    page.keyboard.press("ArrowRight")
    assert tip.is_visible()
    page.keyboard.press("Escape")
    assert tip.is_hidden()


def test_search_keeps_the_samples_of_that_name(visit):
    page, (_, _, y, _) = visit("intervals"), case("intervals")
    name, known = "mix 3", y.index[y["slump"].notna()]
    wanted = sum(name in one for one in known)
    page.fill("#find", name.upper())
    assert page.locator("#found").inner_text().endswith("found")
    rows = page.locator("tr[data-name]:not([hidden])")
    assert rows.count() and all(name in rows.nth(i).get_attribute("data-name") for i in range(rows.count()))
    dots = page.locator("[data-chart='0-1-0'] .plot g > g > circle")
    faded = page.locator("[data-chart='0-1-0'] .plot g.faded > circle")
    assert (faded.count(), dots.count()) == (len(known) - wanted, len(known)) and 0 < wanted < len(known)
    page.fill("#find", "nobody")
    assert page.locator("#found").inner_text() == "no sample of this name" and rows.count() == 0
    page.fill("#find", "")
    assert page.locator(".faded").count() == 0 and rows.count() > 0


def test_curves_are_chosen_and_searched(visit):
    page = visit("bands")
    chart = page.locator("[data-chart='0-1-0']")
    select, line = chart.locator("select"), ".plot path[fill='none'][stroke-width='2']"
    assert select.locator("option").count() == 20
    before = chart.locator(line).first.get_attribute("d")
    chart.get_by_role("button", name="next").click()
    assert select.evaluate("s => s.selectedIndex") == 1 and chart.locator(line).first.get_attribute("d") != before
    chart.get_by_role("button", name="previous").click()
    assert chart.locator(line).first.get_attribute("d") == before
    page.fill("#find", "run 1")
    labels = select.locator("option").all_inner_texts()
    assert len(labels) == 11 and all(label.startswith("run 1") for label in labels)


def test_legend_takes_a_series_away(visit):
    page = visit("bands")
    chart = page.locator("[data-chart='0-1-0']")
    key, paths = chart.locator(".key", has_text="band"), chart.locator(".plot path")
    before = paths.count()
    key.click()
    assert key.get_attribute("aria-pressed") == "false" and paths.count() < before
    key.click()
    assert key.get_attribute("aria-pressed") == "true" and paths.count() == before


@pytest.mark.parametrize("name", ["all", "odd"])
def test_nothing_is_wider_than_a_phone(visit, name):
    page = visit(name, PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    outside = page.eval_on_selector_all(
        "h1, h2, h3, .tiles, .tiles > div, .items > *, .plot svg, .key, select, footer, pre",
        "all => all.filter(one => one.getBoundingClientRect().right > innerWidth + 0.5).map(one => one.className)",
    )
    assert outside == []
    cut = page.eval_on_selector_all(
        ".plot svg",
        "all => all.flatMap(s => [...s.querySelectorAll('text')].filter(t => { const a = t.getBoundingClientRect(), "
        "b = s.getBoundingClientRect(); return a.left < b.left - 4 || a.right > b.right + 4 || a.top < b.top - 4 })"
        ".map(t => t.textContent))",
    )
    assert cut == []


def contrast(page, selector, parent="body"):
    """Ratio of luminances of a text and what it stands on, as WCAG has it."""
    colors = [
        page.eval_on_selector(selector, "node => getComputedStyle(node).color"),
        page.eval_on_selector(parent, "node => getComputedStyle(node).backgroundColor"),
    ]
    parts = [np.array(re.findall(r"\d+", color)[:3], dtype=float) / 255 for color in colors]
    linear = [np.where(one <= 0.04045, one / 12.92, ((one + 0.055) / 1.055) ** 2.4) for one in parts]
    light, dark = sorted((one @ [0.2126, 0.7152, 0.0722] for one in linear), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_in_the_light_and_in_the_dark(visit, dark):
    page = visit("intervals", dark=dark)

    def brightness():
        color = page.eval_on_selector("body", "node => getComputedStyle(node).backgroundColor")
        return np.mean([int(part) for part in re.findall(r"\d+", color)[:3]])

    assert (brightness() < 100) == dark
    for selector, parent in (
        ("h1", "body"),
        (".task", "body"),
        (".tiles .note", ".tiles > div"),
        (".figures dt", ".figures"),
    ):
        assert contrast(page, selector, parent) > 4.5
    page.click("#theme")
    assert (brightness() < 100) != dark and contrast(page, ".task") > 4.5
    page.click("#theme")
    assert (brightness() < 100) == dark


def test_names_from_data_never_become_elements(visit):
    page = visit("odd")
    assert page.locator("img").count() == 0 and page.title() == BAD
    chart = page.locator("[data-chart='0-1-0']")
    assert chart.locator("option").first.inner_text() == BAD
    page.fill("#find", "<img")
    page.locator("[data-chart='0-1-0'] .plot").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#tip b").inner_text() == BAD
    assert page.locator("img").count() == 0 and page.title() == BAD


def test_print_is_light_and_shows_tables_whole(visit):
    page = visit("intervals", dark=True)
    page.emulate_media(media="print")
    assert page.eval_on_selector("body", "node => getComputedStyle(node).backgroundColor") == "rgb(255, 255, 255)"
    assert contrast(page, ".task") > 4.5
    assert page.locator(".tools").is_hidden()
    assert page.eval_on_selector(".scroll", "node => getComputedStyle(node).maxHeight") == "none"
    assert len(page.pdf()) > 10_000
