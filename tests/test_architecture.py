"""The rooms of the house: who may import from whom, and what a plain import loads."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = "hilbertlearn"
SOURCE = Path(__file__).parents[1] / "src" / PACKAGE

# A room imports only from itself and from rooms above it in this list. The top-level __init__ may import
# anything, and no room imports from it, except for the version.
ROOMS = [
    "_validation",
    "_statistics",
    "functions",
    "outputs",
    "graphs",
    "kernels",
    "operators",
    "losses",
    "output_losses",
    "spaces",
    "problem",
    "solvers",
    "decoders",
    "metrics",
    "estimators",
    "baselines",
    "model_selection",
    "conformal",
    "bounds",
    "plotting",
    "persistence",
    "distributed",
    "datasets",
    "cli",
]

OPTIONAL = ["matplotlib", "numba", "skfda", "pywt", "networkx", "cvxpy", "dask"]


def room_of(parts):
    """The room of a dotted name given as a tuple; None for the top level."""
    return parts[1] if len(parts) > 1 else None


def modules(root):
    """Pairs (path, package) of all modules below `root`; both are relative to the parent of `root`.

    `package` is the tuple of names against which the module's relative imports are resolved.
    """
    for path in sorted(root.rglob("*.py")):
        relative = path.relative_to(root.parent)
        yield relative, relative.parent.parts


def imported_names(source, package):
    """Pairs (line, name) of what `source` imports from the package, at any depth of the code.

    `name` is a tuple. Imports under `TYPE_CHECKING` count: they are dependencies of the reader.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            names = [(*base, alias.name) for alias in node.names]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name[0] == PACKAGE)


def violations(root):
    """Messages, one for each import that goes against the order of the rooms."""
    found = []
    for path, package in modules(root):
        room = room_of(path.with_suffix("").parts)
        if room not in ROOMS:  # the top-level __init__, or a module that the next test reports
            continue
        for line, name in imported_names((root.parent / path).read_text(encoding="utf-8"), package):
            target = room_of(name)
            if target == "__version__":
                continue
            what = f"{path.as_posix()}:{line}: {room} imports {'.'.join(name)}"
            if target not in ROOMS:
                found.append(f"{what}, which is in no room")
            elif ROOMS.index(target) > ROOMS.index(room):
                found.append(f"{what} from a room below it")
    return found


def strangers(root):
    """Modules that belong to no room."""
    top = Path(root.name, "__init__.py")
    return [
        path.as_posix() for path, _ in modules(root) if path != top and room_of(path.with_suffix("").parts) not in ROOMS
    ]


def test_rooms_import_only_from_rooms_above():
    assert list(modules(SOURCE)), f"no module found in {SOURCE}"
    assert violations(SOURCE) == []


def test_every_module_belongs_to_a_room():
    assert strangers(SOURCE) == []


def house(tmp_path, files):
    """A package with the given files, named by their path without suffix."""
    root = tmp_path / PACKAGE
    for name, source in {"__init__": "", **files}.items():
        path = root / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("losses", "from .solvers import spectral"),
        ("losses", "from . import solvers"),
        ("losses", "from . import kernels, solvers"),
        ("losses", "import hilbertlearn.solvers.spectral as s"),
        ("losses", "from hilbertlearn import solvers"),
        ("losses", "from hilbertlearn.solvers import spectral"),
        ("losses", "def f():\n    from .solvers import spectral"),
        ("losses", "if TYPE_CHECKING:\n    from .solvers import Solution"),
        ("kernels/__init__", "from .. import losses"),
        ("kernels/__init__", "from ..losses import Huber"),
        ("kernels/functional", "from .. import losses"),
        ("kernels/functional", "from ..losses import Huber"),
        ("kernels/deep/inside", "from ...losses import Huber"),
        ("_validation", "from .kernels import gram"),
        ("estimators/base", "from .. import OperatorKernelRegressor"),
        ("estimators/base", "from .. import *"),
        ("estimators/base", "import hilbertlearn"),
        ("estimators/base", "from ..misc import anything"),
    ],
)
def test_walker_finds_a_violation(tmp_path, module, source):
    (message,) = violations(house(tmp_path, {module: source}))
    assert message.startswith(f"{PACKAGE}/{module}.py:{source.count(chr(10)) + 1}: ")


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("__init__", "from .cli import main\nfrom . import kernels, losses"),
        ("losses", "import numpy as np\nfrom sklearn.base import BaseEstimator\nimport hilbertlearning"),
        ("losses", "from ._validation import check\nfrom .kernels import gram\nfrom . import operators"),
        ("solvers/spectral", "from . import base\nfrom .base import Solution\nfrom ..problem import gap"),
        ("solvers/__init__", "from . import spectral\nfrom .spectral import solve"),
        ("solvers/spectral", "from hilbertlearn.solvers import base"),
        ("persistence", "from . import __version__"),
        ("kernels/losses", "from .solvers import a_module_named_like_a_room"),
    ],
)
def test_walker_accepts_the_order(tmp_path, module, source):
    assert violations(house(tmp_path, {module: source})) == []


def test_walker_finds_strangers(tmp_path):
    root = house(tmp_path, {"losses": "", "kernels/__init__": "", "utils": "", "misc/deep": ""})
    assert strangers(root) == [f"{PACKAGE}/misc/deep.py", f"{PACKAGE}/utils.py"]


def test_plain_import_loads_the_core_only():
    code = f"import sys, {PACKAGE}; print(*[name for name in {OPTIONAL} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == []
