"""Every public name explains itself: parameters, learnt attributes, source and an example that runs."""

import dataclasses
import doctest
import importlib
import inspect
import re
from types import ModuleType

import pytest

import hilbertlearn


def public(module, prefix=""):
    """Pairs (dotted name, object) of what `module` offers, and of what the modules among it offer."""
    own_classes = [
        name for name, value in inspect.getmembers(module, inspect.isclass) if value.__module__ == module.__name__
    ]
    for name in getattr(module, "__all__", own_classes):
        value = getattr(module, name)
        yield prefix + name, value
        if isinstance(value, ModuleType):
            yield from public(value, f"{prefix}{name}.")


PUBLIC = dict(public(hilbertlearn))
MODULES = {name: value for name, value in PUBLIC.items() if isinstance(value, ModuleType)}
# Under the shortest of its names. A table such as DECODERS is explained by its module.
SHORTEST = {
    value: name for name, value in reversed(PUBLIC.items()) if inspect.isclass(value) or inspect.isfunction(value)
}
EXPLAINED = {name: value for value, name in SHORTEST.items()}
HOMES = sorted({value.__module__ for value in EXPLAINED.values()} | {value.__name__ for value in MODULES.values()})


def sections(text):
    """Title -> lines of the sections of a docstring in numpydoc's form."""
    found, title = {}, None
    lines = inspect.cleandoc(text or "").splitlines()
    for line, after in zip(lines, [*lines[1:], ""]):
        if line and re.fullmatch(r"-{3,}", after):
            title = line
            found[title] = []
        elif title:
            found[title].append(line)
    return {title: lines[1:] for title, lines in found.items()}  # without the underline


def entries(lines):
    """The names that a section explains: those before the colon of lines that are not indented."""
    heads = [line.split(" : ")[0].split(":")[0] for line in lines if line and not line[0].isspace()]
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def parameters(value):
    """Names of the parameters of a class or function; none where it inherits them from object."""
    if inspect.isclass(value) and value.__init__ is object.__init__:
        return set()
    kinds = inspect.signature(value).parameters.values()
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    inner = {field.name for field in fields if not field.repr}  # of results, which users do not make
    return {parameter.name for parameter in kinds} - {"self"} - inner


def learnt(value):
    """Public properties of a class that end in an underscore, its own and the inherited ones of the package."""
    return {
        name
        for owner in inspect.getmro(value)
        if owner.__module__.startswith("hilbertlearn")
        for name, member in vars(owner).items()
        if re.fullmatch(r"[a-zA-Z].*[^_]_", name) and isinstance(member, property)
    }


def is_estimator(value):
    """Whether a class learns attributes from samples; feature maps, fitted to a kernel, return what they learn."""
    if not inspect.isclass(value) or inspect.isabstract(value) or not callable(getattr(value, "fit", None)):
        return False
    return list(inspect.signature(value.fit).parameters)[1:2] == ["X"]


def methods(value):
    """Pairs (name, function) of the public methods that the package defines for a class."""
    for name, member in inspect.getmembers(value, inspect.isroutine):
        if not name.startswith("_") and (getattr(member, "__module__", "") or "").startswith("hilbertlearn"):
            yield name, member


def defects(value):
    """What is missing in the docstring of a class or function; errors need only say what they mean."""
    if inspect.isclass(value) and issubclass(value, Exception):
        return ["docstring"] * (not value.__doc__)
    found = sections(value.__doc__)
    explained = entries(found.get("Parameters", [])) | entries(found.get("Other Parameters", []))
    if dataclasses.is_dataclass(value):  # made by the package, so that its fields are what users read
        explained |= entries(found.get("Attributes", []))
    missing = [f"parameter {name}" for name in sorted(parameters(value) - explained)]
    if is_estimator(value):
        attributes = entries(found.get("Attributes", []))
        missing += ["section Attributes"] * (not any(name.endswith("_") for name in attributes))
        missing += [f"attribute {name}" for name in sorted(learnt(value) - attributes)]
    if inspect.isfunction(value):
        missing += ["section Returns"] * (not {"Returns", "Yields"} & set(found))
    if inspect.isclass(value):
        missing += [f"docstring of {name}" for name, method in methods(value) if not inspect.getdoc(method)]
    missing += ["section References"] * (not "".join(found.get("References", [])).strip())
    missing += ["an example with >>>"] * (not any(line.startswith(">>>") for line in found.get("Examples", [])))
    return missing


def test_docstrings_are_complete():
    missing = {name: defects(value) for name, value in EXPLAINED.items()}
    assert missing
    assert not {name: what for name, what in missing.items() if what}


def test_modules_say_what_they_are_for():
    assert MODULES
    assert not [name for name, module in MODULES.items() if not (module.__doc__ or "").strip()]


@pytest.mark.parametrize("home", HOMES)
def test_examples_run(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples may write files
    result = doctest.testmod(importlib.import_module(home))
    assert result.failed == 0


def called_functions(cls):
    """Pairs (name, function) of what can be called, and what the decorators of it call."""
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        function = getattr(member, "__func__", member)
        while (name == "__init__" or not name.startswith("_")) and inspect.isfunction(function):
            yield name, function
            function = getattr(function, "__wrapped__", None)


def test_wrong_calls_name_no_class_that_is_not_public():
    """Python's own errors begin with the qualified name of the function."""
    known = {value.__name__ for value in SHORTEST}
    classes = {name: value for name, value in EXPLAINED.items() if inspect.isclass(value)}
    assert classes
    for name, cls in classes.items():
        for method, function in called_functions(cls):
            if function.__module__.startswith("hilbertlearn"):
                named = function.__qualname__
                assert named == method or named.split(".")[0] in known, f"{name}.{method} is called {named}"


def test_a_wrong_keyword_names_the_method():
    for model in (hilbertlearn.LinkPredictor(), hilbertlearn.OperatorKernelRegressor()):
        with pytest.raises(TypeError, match=r"^predict\(\) got an unexpected keyword argument 'k'"):
            model.predict([[0.0]], k=3)
