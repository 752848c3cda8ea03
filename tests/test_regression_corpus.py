"""Small fits of every component give the numbers in ``regression_corpus.json``; every component has a case.

``python tests/regression_corpus.py --write`` makes the file anew and prints what changed.
"""

import contextlib
import functools
import inspect
import json

import pytest
from helpers.corpus import CASES
from helpers.corpus.case import called
from regression_corpus import FILE, differences, expected, main, shown, write

import hilbertlearn
from hilbertlearn import (
    baselines,
    conformal,
    decoders,
    features,
    kernels,
    losses,
    model_selection,
    operators,
    output_losses,
    spaces,
    streams,
    tabular,
)
from hilbertlearn.core import solvers
from hilbertlearn.kernels.gram import NAMES as KERNEL_NAMES

EXPECTED = expected()
REMEDY = "python tests/regression_corpus.py --write --only 'subject/name'"


@pytest.mark.parametrize("name", sorted(CASES))
def test_results_are_those_of_the_file(name):
    case = CASES[name]
    for package in case.needs:
        pytest.importorskip(package)
    assert name in EXPECTED, f"no numbers of {name!r}: run {REMEDY}"
    changed = differences(EXPECTED[name], case.run(), case.rtol)
    lines = [f"{field}: {shown(old, new)} ({distance:.1e})" for field, old, new, distance in changed]
    assert not changed, "\n".join([f"{name}: results changed; if that is meant, run {REMEDY}", *lines])


def test_file_has_a_line_for_each_case():
    lines = FILE.read_text(encoding="utf-8").splitlines()[1:-1]
    assert [json.loads("{" + line.rstrip(",") + "}").popitem()[0] for line in lines] == sorted(CASES)


# ---------------------------------------------------------------- every component has a case

# Names of kernels that are not positive semi-definite: fits refuse most of their Gram matrices.
INDEFINITE = {"additive_chi2", "sigmoid"}
# What a name stands for, by the parameter that it is given to.
RESOLVED = {
    "loss": losses.as_loss,
    "output_loss": output_losses.as_output_loss,
    "operator": operators.operator_from_name,
    "space": spaces.named_space,
}


def settings(value, parameter=""):
    """All (parameter, value) pairs of a model and of the objects, lists and dictionaries among its parameters."""
    yield parameter, value
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, (list, tuple)):
        parts = ((parameter, item) for item in value)
    elif hasattr(value, "get_params") and not isinstance(value, type):
        parts = value.get_params(deep=False).items()
    else:
        parts = ()
    for name, part in parts:
        yield from settings(part, str(name).rpartition("__")[2])


def available(case):
    """Whether the optional packages of a case are installed."""
    return all(importable(package) for package in case.needs)


def importable(package):
    try:
        __import__(package)
    except ImportError:
        return False
    return True


@functools.cache
def seen():
    """(objects, names of kernels, other names) that appear in the cases, or were recorded of their fits."""
    objects, kernel_names, names = [], set(), set()
    for case in CASES.values():
        names.update(case.uses)
        for parameter, value in settings(called(case.model)) if available(case) else ():
            if not isinstance(value, str):
                objects.append(value)
            elif parameter in ("kernel", "kernels", "parts"):
                kernel_names.add(value)
            elif parameter in RESOLVED:
                with contextlib.suppress(ValueError):  # "auto", and names that a baseline has for itself
                    objects.append(RESOLVED[parameter](value))
    for fields in EXPECTED.values():
        kinds = ((field.rpartition(".")[2], value) for field, value in fields.items() if isinstance(value, str))
        names.update(f"{kind} {value}" for kind, value in kinds if kind in ("solver", "decoder", "loss"))
    return objects, kernel_names, names


def missing():
    """Public components that appear in no case, as "module.name"."""
    objects, kernel_names, names = seen()
    found = []
    groups = (hilbertlearn, baselines, tabular, model_selection, losses, spaces, operators, output_losses, kernels)
    groups += (features, streams, conformal, conformal.scores, conformal.candidate_scores)
    for group in groups:
        for name, part in public(group):
            qualified = f"{group.__name__.removeprefix('hilbertlearn').lstrip('.')}.{name}".lstrip(".")
            instances = isinstance(part, type) and any(isinstance(value, part) for value in objects)
            if not instances and qualified not in names and f"loss {name}" not in names:
                found.append(qualified)
    found += [f"kernel {name!r}" for name in KERNEL_NAMES if name not in kernel_names | INDEFINITE]
    found += [f"solver {name!r}" for name in solvers.SOLVERS if f"solver {name}" not in names]
    known = (*decoders.DECODERS, "candidates", "gaussian")
    found += [f"decoder {name!r}" for name in known if f"decoder {name}" not in names]
    return found


def public(group):
    """(name, object) of the components that a module exports."""
    if group in (conformal.scores, conformal.candidate_scores):  # modules of classes, without a list of names
        own = ((name, part) for name, part in vars(group).items() if inspect.isclass(part))
        return [(name, part) for name, part in own if part.__module__ == group.__name__ and name[0] != "_"]
    every = [(name, getattr(group, name)) for name in group.__all__]
    if group is conformal:
        return [(name, part) for name, part in every if name == "sets_of_scores"]  # others are its answers
    if group in (hilbertlearn, tabular):
        return [(name, part) for name, part in every if isinstance(part, type) and hasattr(part, "fit")]
    return every


def test_every_component_has_a_case():
    gone = missing()
    assert not gone, (
        f"in no case of the regression corpus: {', '.join(gone)}. Add a case to the module of its subject in "
        "tests/helpers/corpus/, or name it in the `uses` of one that runs it; then run "
        "python tests/regression_corpus.py --write"
    )


@pytest.mark.parametrize("group", [losses, kernels, output_losses], ids=lambda group: group.__name__)
def test_a_new_component_needs_a_case(monkeypatch, group):
    class New:
        """A class that no case has."""

    monkeypatch.setattr(group, "New", New, raising=False)
    monkeypatch.setattr(group, "__all__", [*group.__all__, "New"])
    assert missing() == [f"{group.__name__.rpartition('.')[2]}.New"]


def test_a_new_name_needs_a_case(monkeypatch):
    monkeypatch.setitem(solvers.SOLVERS, "new", None)
    monkeypatch.setitem(decoders.DECODERS, "new", None)
    assert missing() == ["solver 'new'", "decoder 'new'"]


# ---------------------------------------------------------------- comparing


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ({"a": 2.0}, {"a": 2.0 + 1e-9}, True),
        ({"a": 2.0}, {"a": 2.0 + 1e-7}, False),
        ({"a": [[1.0, 1e-3]]}, {"a": [[1.0, 1e-3 + 1e-9]]}, True),  # relative to the largest of the values
        ({"a": [[1.0, 1e-3]]}, {"a": [[1.0, 1e-3 + 1e-7]]}, False),
        ({"a": 1e-16}, {"a": -3e-16}, True),  # both are zero up to rounding
        ({"a": float("nan")}, {"a": float("nan")}, True),
        ({"a": float("nan")}, {"a": 1.0}, False),
        ({"a": float("inf")}, {"a": 1.0}, False),
        ({"a": "rbf"}, {"a": "rbf"}, True),
        ({"a": "rbf"}, {"a": "linear"}, False),
        ({"a": True}, {"a": False}, False),
        ({"a": [1.0]}, {"a": [1.0, 2.0]}, False),
        ({"a": 1.0}, {}, False),
        ({}, {"a": 1.0}, False),
        ({"a": 0.0}, {"a": None}, False),
    ],
)
def test_differences(old, new, same):
    assert (differences(old, new, 1e-8) == []) is same


def test_the_command_prints_and_writes_what_changed(monkeypatch, tmp_path, capsys):
    name, other = "vectors/alpha of a schedule", "vectors/refined"
    monkeypatch.setattr("regression_corpus.FILE", tmp_path / "corpus.json")
    write({**EXPECTED, name: {**EXPECTED[name], "alpha": 0.5}})
    with pytest.raises(SystemExit) as ended:
        main(["--only", name])
    assert ended.value.code == 1
    assert capsys.readouterr().out.startswith(f"{name}\n    alpha: 0.5 -> 0.20412")
    main(["--only", other])  # nothing changed there
    main(["--write", "--only", name])
    written = expected()
    assert not differences(EXPECTED[name], written.pop(name), 1e-6)  # another machine has other last digits
    assert written == {case: result for case, result in EXPECTED.items() if case != name}
