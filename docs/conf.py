"""Settings of the documentation: `make docs` builds it to docs/_build/html, to be read without a network."""

import os
import shutil
import sys
from importlib.metadata import distribution
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import api_pages  # noqa: E402

import hilbertlearn  # noqa: E402

project = "hilbertlearn"
author = "the hilbertlearn developers"
copyright = "the hilbertlearn developers; licence BSD 3-Clause"
version = release = hilbertlearn.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/*.*", "gallery/[!a]*/*", "sg_execution_times.rst"]
templates_path = ["_templates"]

# Pages in Markdown

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Public names: a page for each module and each name, written at each build

autosummary_generate = api_pages.write(HERE / "api" / "generated")
autosummary_context = {
    # methods that users call; the others are for the package's own parts
    "asked": [
        *("fit", "partial_fit", "predict", "score", "decision_function", "transform", "inverse_transform", "summary"),
        *("predict_band", "predict_interval", "predict_level", "predict_links", "predict_probability"),
        *("predict_region", "predict_scores", "predict_set", "predict_topk", "predict_weights", "weights"),
        *("coordinates", "residuals", "loo_residuals", "contains", "mean_width", "volume"),
        *("of", "to_array", "split", "split_graph", "get_n_splits", "sample"),
    ],
    "to_be_derived": ["Loss", "OutputLoss", "Space", "Source", "Score", "CandidateScore"],  # with all their methods
}
autodoc_typehints = "none"
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"

# Examples that draw

MATPLOTLIB = {"backend": "Agg", "figure.dpi": 100, "savefig.bbox": "tight"}
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "gallery/auto",
    "filename_pattern": r"[/\\]plot_",
    "ignore_pattern": r"[/\\](_|auto[/\\])",  # what was built is inside the folder that is built from
    "doc_module": ("hilbertlearn",),
    "backreferences_dir": "api/generated/backreferences",
    "reference_url": {"hilbertlearn": None},
    "parallel": True,  # as many as sphinx-build -j says
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "copyfile_regex": "",
}

# Looks

html_theme = "pydata_sphinx_theme"
html_title = "hilbertlearn"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["hilbertlearn.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "hilbertlearn", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "back_to_top_button": True,
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "tutorial": [], "choose": [], "mathematics": []}

# Formulas by MathJax, from a package and not from the network

mathjax_path = "mathjax/tex-chtml.js"
MATHJAX = Path(str(distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline/static/mathjax")))


def copy_mathjax(app, exception):
    """The script and its fonts, 1.5 MB of the package's 24."""
    if exception is None and app.builder.format == "html":
        target = Path(app.outdir) / "_static" / "mathjax"
        fonts = Path("output", "chtml", "fonts", "woff-v2")
        os.makedirs(target, exist_ok=True)
        shutil.copy(MATHJAX / "tex-chtml.js", target)
        shutil.copytree(MATHJAX / fonts, target / fonts, dirs_exist_ok=True)


def at_home(app, relative_path, parent_docname, content):
    """Links between the pages of the repository's root, which are pages of the site under other names."""
    for name in ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING"):
        content[0] = content[0].replace(f"]({name}.md", f"]({name.lower()}.md")


def of_scikit_learn(app, what, name, member, skip, options):
    """Whether a method is scikit-learn's own: its text refers to pages that are not here."""
    return True if (getattr(member, "__module__", None) or "").startswith("sklearn") else None


def setup(app):
    app.connect("autodoc-skip-member", of_scikit_learn)
    app.connect("include-read", at_home)
    app.connect("build-finished", copy_mathjax)
