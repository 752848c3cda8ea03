"""How simple the source is, in numbers: paths of calls, public methods, complexity, lines, names, tests, docstrings.

``python -m tools.measure`` prints the figures beside those stored in ``tools/measures.json``; with ``--write`` it
stores them. ``tests/test_measures.py`` fails where a figure is more than 10 % worse than the stored one.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import json
import re
import sys
import tokenize
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, TransformerMixin

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "hilbertlearn"
STORED = Path(__file__).with_name("measures.json")
TOLERANCE = 0.1  # relative increase of a figure that is accepted

# ---------------------------------------------------------------- paths of calls


def trace_calls(function):
    """Numbers of distinct functions and files of the package that a call runs through, and its deepest path."""
    functions, stack, deepest = set(), [], 0
    package = str(SOURCE)

    def profile(frame, event, argument):
        nonlocal deepest
        own = frame.f_code.co_filename.startswith(package)
        if event == "call":
            stack.append(own)
            if own:
                functions.add((frame.f_code.co_filename, frame.f_code.co_qualname))
                deepest = max(deepest, sum(stack))
        elif event == "return" and stack:
            stack.pop()

    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return {"functions": len(functions), "files": len({path for path, _ in functions}), "depth": deepest}


def fits():
    """The fits whose paths are traced, by name; each is a function without arguments."""
    from hilbertlearn import (
        ConformalPredictor,
        FunctionalRegressor,
        LinkPredictor,
        OperatorKernelRegressor,
        StructuredPredictor,
    )
    from hilbertlearn.data.functions import IrregularFunctions

    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]]) + 0.1 * rng.normal(size=(80, 2))
    grid = np.linspace(0, 1, 20)
    curves = np.sin(6 * (grid + X[:, :1])) + 0.1 * rng.normal(size=(80, 20))
    points = [np.sort(rng.uniform(size=8)) for _ in range(30)]
    irregular = IrregularFunctions(points, [np.sin(6 * (t + x)) for t, x in zip(points, X[:30, 0])])
    ranks = np.argsort(np.argsort(X @ rng.normal(size=(3, 4)), axis=1), axis=1) + 1.0
    W = (np.abs(X[:30, None] - X[None, :30]).sum(axis=2) < 2.0).astype(float)
    np.fill_diagonal(W, 0.0)
    return {
        "default fit": lambda: OperatorKernelRegressor().fit(X, Y),
        "irregular curves, Huber": lambda: FunctionalRegressor(loss="huber").fit(X[:30], irregular),
        "rankings": lambda: StructuredPredictor(output_loss="kendall").fit(X, ranks),
        "links": lambda: LinkPredictor().fit(X[:30], W),
        "conformal curves": lambda: ConformalPredictor(FunctionalRegressor()).fit(X, curves).predict_band(X[:5]),
    }


def measure_calls():
    """Figures of ``trace_calls`` for each fit; each is run once before, so that imports do not count."""
    figures = {}
    for name, fit in fits().items():
        fit()
        figures |= {f"{name}: {kind}": value for kind, value in trace_calls(fit).items()}
    return figures


# ---------------------------------------------------------------- estimators

PLAIN = (BaseEstimator, RegressorMixin, MultiOutputMixin, TransformerMixin)


def public_members(cls):
    """Public methods and properties beside learnt attributes and those of scikit-learn's base classes."""
    inherited = {name for base in PLAIN for name in dir(base)} | set(inspect.signature(cls).parameters)
    names = [name for name in dir(cls) if not name.startswith("_") and not name.endswith("_")]
    external = {name for base in cls.__mro__ if not base.__module__.startswith("hilbertlearn") for name in vars(base)}
    requests = re.compile(r"set_\w+_request")
    return [name for name in names if name not in inherited | external and not requests.fullmatch(name)]


def measure_estimators():
    import hilbertlearn

    names = [name for name in hilbertlearn.__all__ if inspect.isclass(getattr(hilbertlearn, name))]
    classes = [getattr(hilbertlearn, name) for name in names]
    sizes = {cls.__name__: len(public_members(cls)) for cls in classes if hasattr(cls, "fit")}
    return {f"public members: {name}": size for name, size in sizes.items()}


# ---------------------------------------------------------------- source


def modules():
    return sorted(path for path in SOURCE.rglob("*.py") if "__pycache__" not in path.parts)


def lines_of_code(path):
    """Lines that are neither blank nor comments nor docstrings."""
    text = path.read_text(encoding="utf-8")
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        documented = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        if documented and node.body and isinstance(node.body[0], ast.Expr):
            value = node.body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines)


def highest_complexity():
    from radon.complexity import cc_visit

    return max(block.complexity for path in modules() for block in functions_of(cc_visit(path.read_text("utf-8"))))


def functions_of(blocks):
    """Functions and methods among radon's blocks."""
    for block in blocks:
        if hasattr(block, "methods"):
            yield from functions_of(block.methods)
        else:
            yield block


def class_names():
    """Names of all classes, with the module of each."""
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield node.name, path.relative_to(SOURCE)


def repeated_class_names():
    """Public class names that two modules use; a loss may be in ``losses`` and ``output_losses``."""
    homes: dict = {}
    for name, path in class_names():
        if not name.startswith("_"):
            homes.setdefault(name, set()).add(path.parts[0])
    losses = {"losses", "output_losses"}
    counts = Counter(name for name, _ in class_names() if not name.startswith("_"))
    return sorted(name for name, count in counts.items() if count > 1 and homes[name] != losses)


def untested_modules():
    """Modules without a test file of their name at the same place; packages' ``__init__`` do not count."""
    tests = ROOT / "tests"
    missing = []
    for path in modules():
        relative = path.relative_to(SOURCE)
        if path.name not in ("__init__.py", "__main__.py") and not is_shim(path):
            own = tests / relative.parent / f"test_{relative.stem.lstrip('_')}.py"
            if not own.exists():
                missing.append(relative.as_posix())
    return missing


def is_shim(path):
    """Whether a module is only a short path to a package that lies deeper."""
    return any(
        isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
        for node in ast.parse(path.read_text(encoding="utf-8")).body
    )


def undocumented_defaults():
    """Public classes and functions whose docstrings do not state every default."""
    import hilbertlearn

    missing = []
    for name, value in public_objects(hilbertlearn):
        try:
            parameters = inspect.signature(value).parameters.values()
        except (TypeError, ValueError):
            continue
        documentation = inspect.getdoc(value) or ""
        for parameter in parameters:
            has_default = parameter.default not in (parameter.empty,) if parameter.name != "self" else False
            if has_default and not states_default(documentation, parameter.name):
                missing.append(f"{name}({parameter.name})")
    return missing


def states_default(documentation, name):
    """Whether a numpydoc entry, alone or shared by several parameters, has ``default``, or refers to another class."""
    for line in documentation.splitlines():
        head, separator, rest = line.strip().partition(" : ")
        if separator and name in [part.strip() for part in head.split(",")]:
            return "default" in rest
    return False


def public_objects(package):
    """Pairs (dotted name, class or function) of all that users type."""
    seen = set()
    for name in package.__all__:
        value = getattr(package, name)
        members = [(name, value)]
        if inspect.ismodule(value):
            members = [(f"{name}.{inner}", getattr(value, inner)) for inner in getattr(value, "__all__", ())]
        for label, member in members:
            if (inspect.isclass(member) or inspect.isfunction(member)) and id(member) not in seen:
                seen.add(id(member))
                yield label, member


def measure_source():
    words = len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split())
    text = "\n".join(path.read_text(encoding="utf-8") for path in modules())
    return {
        "places that assign state_": len(re.findall(r"self\.state_ = ", text)),
        "highest complexity of a function": highest_complexity(),
        "class names used twice": len(repeated_class_names()),
        "words of ARCHITECTURE.md": words,
        "lines of code": sum(map(lines_of_code, modules())),
        "modules without a test file": len(untested_modules()),
        "defaults that docstrings do not state": len(undocumented_defaults()),
    }


def measure():
    """All figures; smaller is better."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return measure_calls() | measure_estimators() | measure_source()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="store the figures")
    parser.add_argument("--names", action="store_true", help="list what the last figures count")
    options = parser.parse_args()
    figures = measure()
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    for name, value in figures.items():
        print(f"{name:<50} {value:>7} {stored.get(name, '-'):>7}")
    if options.names:
        for function in (repeated_class_names, untested_modules, undocumented_defaults):
            print(function.__name__, *function(), sep="\n    ")
    if options.write:
        STORED.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
