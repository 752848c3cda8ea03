"""The rooms of the house: who may import from whom, and what a plain import loads."""

import ast
import functools
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = "hilbertlearn"
SOURCE = Path(__file__).parents[1] / "src" / PACKAGE

# A room imports only from itself and from rooms above it in this list. The top-level __init__ may import
# anything, and no room imports from it, except for the version.
ROOMS = [
    "_utils",
    "_utils.naming",
    "_utils.validation",
    "_utils.sums",
    "_utils.statistics",
    "_utils.summary",
    "_utils.fitting",
    "_utils.progress",
    "_utils.callbacks",
    "_utils.threads",
    "_utils.atomic_files",
    "_utils.blocks",
    "_utils.pivoted_cholesky",
    "_utils.linalg",
    "data",
    "data.times",
    "data.frames",
    "data.functions",
    "data.objects",
    "data.graphs",
    "data.streams",
    "graphs",
    "streams",
    "kernels",
    "features",
    "operators",
    "losses",
    "output_losses",
    "spaces",
    "core",
    "core.terms",
    "core.problem",
    "core.solvers",
    "training",
    "leave_one_out",
    "selection",
    "decoders",
    "metrics",
    "machine",
    "vector",
    "functional",
    "quantile",
    "structured",
    "links",
    "autoencoder",
    "inspection",
    "model_selection",
    "conformal",
    "plotting",
    "datasets",
    "papers",
    "papers.baselines",
    "papers.bounds",
    "papers.readers",
    "baselines",
    "bounds",
    "readers",
    "persistence",
    "app",
    "app.tabular",
    "app.report",
    "tabular",
    "report",
    "app.cli",
    "__main__",
]

OPTIONAL = ["typer", "matplotlib", "numba", "skfda", "pywt", "networkx", "cvxpy", "dask"]


def room_of(parts):
    """The room of a dotted name given as a tuple, ``a.b`` where that is one; None for the top level."""
    inner = ".".join(parts[1:3])
    return inner if inner in ROOMS else parts[1] if len(parts) > 1 else None


def modules(root):
    """Pairs (path, package) of all modules below `root`; both are relative to the parent of `root`.

    `package` is the tuple of names against which the module's relative imports are resolved.
    """
    for path in sorted(root.rglob("*.py")):
        relative = path.relative_to(root.parent)
        yield relative, relative.parent.parts


@functools.cache
def parsed(path):
    """The nodes of a module's syntax tree, the tree itself first; each file is read once."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@pytest.fixture(scope="module", autouse=True)
def parsed_for_this_module():
    """Trees are large: other tests do without them."""
    yield
    parsed.cache_clear()


def imported_names(nodes, package):
    """Pairs (line, name) of what a module imports from the package, at any depth of the code.

    `name` is a tuple. Imports under `TYPE_CHECKING` count: they are dependencies of the reader.
    """
    for node in nodes:
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
        for line, name in imported_names(parsed(root.parent / path), package):
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
        ("losses", "from .core.solvers import spectral"),
        ("losses", "from .core import solvers"),
        ("losses", "from . import kernels, machine"),
        ("losses", "import hilbertlearn.core.solvers.spectral as s"),
        ("losses", "from hilbertlearn import machine"),
        ("losses", "from hilbertlearn.core.solvers import spectral"),
        ("losses", "def f():\n    from .core.solvers import spectral"),
        ("losses", "if TYPE_CHECKING:\n    from .core.solvers import Solution"),
        ("kernels/__init__", "from .. import losses"),
        ("kernels/__init__", "from ..losses import Huber"),
        ("kernels/functional", "from .. import losses"),
        ("kernels/functional", "from ..losses import Huber"),
        ("kernels/deep/inside", "from ...losses import Huber"),
        ("_utils/validation", "from ..kernels import gram"),
        ("machine/base", "from .. import OperatorKernelRegressor"),
        ("machine/base", "from .. import *"),
        ("machine/base", "import hilbertlearn"),
        ("machine/base", "from ..misc import anything"),
    ],
)
def test_walker_finds_a_violation(tmp_path, module, source):
    (message,) = violations(house(tmp_path, {module: source}))
    assert message.startswith(f"{PACKAGE}/{module}.py:{source.count(chr(10)) + 1}: ")


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("__init__", "from .app.cli import main\nfrom . import kernels, losses"),
        ("losses", "import numpy as np\nfrom sklearn.base import BaseEstimator\nimport hilbertlearning"),
        ("losses", "from ._utils.validation import check\nfrom .kernels import gram\nfrom . import operators"),
        ("core/solvers/spectral", "from . import base\nfrom .base import Solution\nfrom ..problem import gap"),
        ("core/solvers/__init__", "from . import spectral\nfrom .spectral import solve"),
        ("core/solvers/spectral", "from hilbertlearn.core.solvers import base"),
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


# ---------------------------------------------------------------- what rooms may know of each other

TERMS = "core.terms"  # the only room that may ask what a term, a Gram matrix or factors are made of
LEARNT_BY_COPY, STORED = "_utils.fitting", "persistence"  # the only ones that handle all attributes of an object
HOLD_TERMS = ("term", "terms", "gram", "grams", "factors")  # names of variables and attributes that hold them
NOT_OURS = ("_num_samples", "_safe_indexing", "_check_sample_weight", "_getframe")  # of scikit-learn, of sys


def found_by(walker, root, without=()):
    """Messages ``path:line: text``, in order, of a walker(nodes, package) over all rooms but some."""
    found = []
    for path, package in modules(root):
        if room_of(path.with_suffix("").parts) not in without:
            found += [(path.as_posix(), line, text) for line, text in walker(parsed(root.parent / path), package)]
    return [f"{path}:{line}: {text}" for path, line, text in sorted(found)]


def imports_of(nodes, package):
    """Triples (line, tuple of the whole name, local name) of all ``from ... import``, at any depth of the code."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            yield from ((node.lineno, (*base, alias.name), alias.asname or alias.name) for alias in node.names)


def is_private(name):
    return name.startswith("_") and not name.startswith("__") and name != "_"


def called(node, *names):
    """Whether a node is a call of a function with one of these names, and arguments."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and node.args


def text_of(node):
    return ast.unparse(node).split("\n")[0]


def class_tests(nodes, package):
    """Tests of the class of an object against a class of the room of terms."""
    own = {local for _, name, local in imports_of(nodes, package) if room_of(name) == TERMS and name[-1][0].isupper()}

    def is_term(node):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return node.value.id == "terms"
        return isinstance(node, ast.Name) and node.id in own

    def is_type(node):
        return called(node, "type") or (isinstance(node, ast.Attribute) and node.attr == "__class__")

    for node in nodes:
        asked = []
        if called(node, "isinstance", "issubclass"):
            asked = node.args[1:]
        elif isinstance(node, ast.Compare) and any(map(is_type, [node.left, *node.comparators])):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchClass):
            asked = [node.cls]
        if any(is_term(part) for one in asked for part in ast.walk(one)):
            yield getattr(node, "lineno", 0), f"{text_of(node)} asks for the class of a term"


def looks_inside(nodes, package):
    """Looks into an object's attributes as a whole, or whether a term has one."""
    for node in nodes:
        if (isinstance(node, ast.Attribute) and node.attr == "__dict__") or called(node, "vars"):
            yield node.lineno, f"{text_of(node)} looks into an object"
        elif called(node, "hasattr", "getattr"):
            holder = node.args[0]
            while isinstance(holder, (ast.Subscript, ast.Call)):
                holder = holder.value if isinstance(holder, ast.Subscript) else holder.func
            name = holder.attr if isinstance(holder, ast.Attribute) else getattr(holder, "id", "")
            if name in HOLD_TERMS:
                yield node.lineno, f"{text_of(node)} looks into a term"


def private_names(nodes):
    """Names with an underscore that a module defines: functions, classes, methods, attributes of self or of a class."""
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _own(node.value, ()):
            yield node.attr


def _own(node, classes):
    """Whether an expression is self, cls, super() or a class of the module."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and (node.id in ("self", "cls") or node.id in classes)


def trespasses(nodes, package):
    """Uses of what is private to another module; inside one module anything goes."""
    defined = set(private_names(nodes))
    classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    for line, name, _ in imports_of(nodes, package):
        if is_private(name[-1]) and not (name[0] != PACKAGE and name[-1] in NOT_OURS) and not is_module(name):
            yield line, f"{name[-1]} of {'.'.join(name[:-1])} is private"
    for node in nodes:
        if isinstance(node, ast.Attribute):
            holder, attribute = node.value, node.attr
        elif called(node, "getattr", "setattr", "hasattr", "delattr") and isinstance(node.args[1], ast.Constant):
            holder, attribute = node.args[0], node.args[1].value
        else:
            continue
        if is_private(attribute) and attribute not in {*defined, *NOT_OURS} and not _own(holder, classes):
            yield node.lineno, f"{text_of(node)}: {attribute} is private to another module"


def is_module(name):
    """Whether a tuple of names is a module of the package, the name of which may be private."""
    path = SOURCE.parent.joinpath(*name)
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def dense_matrices(nodes, package):
    """Reads of the matrix of a term; solvers ask for products, factors and ``gram.dense()``."""
    for node in nodes:
        named = called(node, "getattr", "hasattr") and getattr(node.args[1], "value", None) == "K"
        if named or (isinstance(node, ast.Attribute) and node.attr == "K"):
            yield node.lineno, f"{text_of(node)} reads the matrix of a term"


def effects(nodes, package):
    """Statements ``_ = ...``: what is computed for its effect is a call by itself."""
    for node in nodes:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and any(
            isinstance(target, ast.Name) and target.id == "_" for target in targets
        ):
            yield node.lineno, f"{text_of(node)} is for its effect"


INTERNAL = ("core", "training", "leave_one_out", "selection", "machine")  # rooms that are not public


def internals(nodes, package):
    """Imports of the application from rooms that are not public; ``trespasses`` finds private names."""
    for line, name in imported_names(nodes, package) if package[1:2] == ("app",) else ():
        if room_of(name).split(".")[0] in INTERNAL:
            yield line, f"{'.'.join(name)} is not public"


WALKERS = {
    class_tests: (TERMS,),
    looks_inside: (LEARNT_BY_COPY, STORED),
    trespasses: (),
    dense_matrices: (TERMS,),
    effects: (),
    internals: (),
}


@pytest.mark.parametrize("walker", WALKERS, ids=lambda walker: walker.__name__)
def test_rooms_know_of_each_other_what_is_public(walker):
    assert found_by(walker, SOURCE, WALKERS[walker]) == []


@pytest.mark.parametrize(
    ("walker", "source"),
    [
        (class_tests, "from ..terms import SeparableTerm\nisinstance(x, SeparableTerm)"),
        (class_tests, "from ..terms.separable import Spectral as S\nissubclass(type(x), (int, S))"),
        (class_tests, "from ..terms import SumTerm\nx = 1 if type(t) is SumTerm else 2"),
        (class_tests, "from ..terms import SumTerm\nassert t.__class__ == SumTerm"),
        (class_tests, "from .. import terms\nisinstance(x, terms.Gram | None)"),
        (class_tests, "from ..terms import SumTerm\nmatch t:\n    case SumTerm():\n        pass"),
        (looks_inside, "if 'norm' in x.__dict__:\n    pass"),
        (looks_inside, "self.__dict__ = {}"),
        (looks_inside, "names = vars(x)"),
        (looks_inside, "hasattr(term, 'gram')"),
        (looks_inside, "getattr(problem.terms[0], 'gram', None)"),
        (looks_inside, "getattr(self.factors, 'inputs')"),
        (looks_inside, "hasattr(training.gram(), 'S')"),
        (trespasses, "from .base import _hidden"),
        (trespasses, "from ..losses.base import Loss, _hidden"),
        (trespasses, "from sklearn.utils import _print_elapsed_time"),
        (trespasses, "def f(other):\n    return other._matrix"),
        (trespasses, "import numpy as np\nnp._core"),
        (trespasses, "space._coordinates(y)"),
        (trespasses, "estimator._axes_ = 1"),
        (trespasses, "getattr(estimator, '_axes_', None)"),
        (trespasses, "class A:\n    def f(self, x):\n        return x._g()"),
        (trespasses, "self.space._read(y)"),
        (dense_matrices, "problem.separable_term.K @ A"),
        (dense_matrices, "getattr(term, 'K', None)"),
        (effects, "_ = term.norm"),
        (effects, "_: float = term.norm"),
    ],
)
def test_a_walker_finds(tmp_path, walker, source):
    root = house(tmp_path, {"core/solvers/spectral": source})
    (message,) = found_by(walker, root, WALKERS[walker])
    assert message.startswith(f"{PACKAGE}/core/solvers/spectral.py:")


@pytest.mark.parametrize(
    "source", ["from ...core.terms import Term", "from ... import machine", "import hilbertlearn.core"]
)
def test_the_application_does_not_know_what_is_internal(tmp_path, source):
    (message,) = found_by(internals, house(tmp_path, {"app/report/page": source}))
    assert message.startswith(f"{PACKAGE}/app/report/page.py:1: ")


@pytest.mark.parametrize(
    ("walker", "module", "source"),
    [
        (
            internals,
            "app/report/page",
            "from ...spaces import Vector\nfrom ... import __version__\nfrom .text import core",
        ),
        (internals, "vector", "from .machine import Machine"),
        (class_tests, "terms/base", "from .separable import SeparableTerm\nisinstance(x, SeparableTerm)"),
        (class_tests, "core/solvers/spectral", "from ..terms import PATH\nif use is PATH:\n    isinstance(use, str)"),
        (class_tests, "core/solvers/spectral", "from ..kernels import DeformedKernel\nisinstance(x, DeformedKernel)"),
        (class_tests, "core/solvers/spectral", "from ..terms import Term\ndef f(x: Term):\n    return Term"),
        (looks_inside, "_utils/fitting", "self.__dict__ = new.__dict__\nvars(new)"),
        (looks_inside, "core/solvers/spectral", "hasattr(kernel, 'resolve')\ngetattr(self, name)\nvariables = 1"),
        (trespasses, "core/solvers/dense", "from .._validation import check\nfrom sklearn.utils import _safe_indexing"),
        (trespasses, "datasets/synthetic", "from .. import _utils\nfrom .. import __version__"),
        (trespasses, "core/solvers/dense", "self._x\ncls._y()\nsuper()._z()\nx.__class__\nx.y_"),
        (trespasses, "core/solvers/dense", "def _f():\n    pass\nclass A:\n    _b = 1\nA._b\nA._inherited\nother._b"),
        (trespasses, "core/solvers/dense", "class A:\n    def f(self, o):\n        self._c = 1\n        return o._c"),
        (dense_matrices, "core/terms/base", "self.K"),
        (dense_matrices, "core/solvers/spectral", "K = gram.dense()\nK.T\nf(K=K)"),
        (effects, "core/solvers/spectral", "value, _ = f()\nfor _ in range(3):\n    f()\n_x = 1"),
    ],
)
def test_a_walker_accepts(tmp_path, walker, module, source):
    assert found_by(walker, house(tmp_path, {module: source}), WALKERS[walker]) == []
