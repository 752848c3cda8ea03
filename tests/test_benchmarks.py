"""The benchmarks run, on problems too small to say anything about time."""

import contextlib
import functools
import importlib.util
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import (
    adaptive_rank,
    candidate_batches,
    default_fit,
    distributed,
    epsilon_svr,
    feature_fit,
    float32,
    functional_dictionary,
    functional_robust,
    gaps,
    jackknife,
    landmarks,
    leave_one_out,
    link_scores,
    links,
    loss_trick,
    margin,
    matern,
    memory,
    multitask_lasso,
    output_rank,
    path_grid,
    prediction,
    quantile_fit,
    ranking_decoder,
    ridge,
    robust_fit,
    scalar_decoder,
    semi_supervised,
    set_decoder,
    splitting,
    streams,
    structured_weights,
    top_candidates,
    vector_fields,
)

SMALL = {
    links: {"n": 60, "repeats": 1, "known": 60, "new": 40, "top_known": 60, "nodes": 200, "k": 10},
    default_fit: {"n": 50, "d": 2, "many": 60, "sets": 60, "labels": 6, "repeats": 1},
    ridge: {"n": 80, "d": 3},
    landmarks: {"n": 200, "r": 20, "repeats": 1},
    feature_fit: {
        "n": 200,
        "d": 2,
        "r": 20,
        "new": 30,
        "n_alphas": 4,
        "sets": 80,
        "queries": 20,
        "labels": 6,
        "rank": 20,
        "repeats": 1,
    },
    float32: {"n": 80, "d": 3, "repeats": 1},
    matern: {"n": 60, "p": 3},
    path_grid: {"n": 40, "m": 8, "n_alphas": 2, "n_kappas": 2, "ps": (2,)},
    prediction: {"n": 50, "m": 60, "d": 3},
    jackknife: {"n": 60, "d": 5, "queries": 3},
    leave_one_out: {"n": 60, "d": 5, "n_alphas": 4},
    adaptive_rank: {"n": 60, "d": 3, "repeats": 1},
    gaps: {"n": 60, "repeats": 2},
    splitting: {"n": 24, "d": 4, "patience": 2},
    robust_fit: {"n": 60, "d": 5},
    multitask_lasso: {"n": 60, "d": 5},
    quantile_fit: {"n": 40, "many": 60, "repeats": 1},
    epsilon_svr: {"n": 24, "d": 3, "patience": 2},
    functional_robust: {"n": 40, "m": 10},
    functional_dictionary: {"n": 200, "m": 20, "components": 5, "n_check": 100},
    memory: {"n": 600},
    streams: {"sizes": (6000, 7000), "r": 20, "robust_n": 200, "robust_r": 10, "robust_d": 3, "repeats": 1},
    distributed: {"n": 400, "r": 10, "blocks": 4, "repeats": 1},
    ranking_decoder: {"items": 15, "n": 30, "queries": 3},
    set_decoder: {"n": 80, "labels": 12, "queries": 20},
    scalar_decoder: {"n": 40, "m": 60, "looped": 10},
    candidate_batches: {
        "queries": 5,
        "each": 4,
        "pool": 20,
        "n": 12,
        "many": 4,
        "own": 5,
        "shared": 10,
        "rows": 8,
        "bits": 64,
        "repeats": 1,
    },
    output_rank: {"n": 60, "new": 20, "labels": 8, "rank": 5, "repeats": 1},
    top_candidates: {"m": 5, "candidates": 300, "r": 4, "k": 3},
    loss_trick: {"n": 200},
    semi_supervised: {"labelled": 20, "unlabelled": 60, "d": 3},
    margin: {"n": 60, "d": 5},
    link_scores: {"nodes": 60, "known": 30, "n_features": 3},
    vector_fields: {"n": 40, "repeats": 2},
    structured_weights: {"n": 100, "repeats": 3},
}


def printed_here(command, **_):
    """What ``python -c code arguments`` prints, in this process: a new one takes a second to import the package."""
    _, _, code, *arguments = command
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["-c", *arguments])
        exec(compile(code, "<benchmark>", "exec"), {"__name__": "__main__"})
    return SimpleNamespace(stdout=printed.getvalue())


@pytest.fixture
def few_processes(request, monkeypatch):
    """Benchmarks start no processes where their lines can be had without; memory has to: it reports a difference."""
    module = request.getfixturevalue("module")
    if module in (streams, links):
        monkeypatch.setattr(module.subprocess, "run", printed_here)
    if module is distributed:
        cluster = pytest.importorskip("distributed").LocalCluster
        in_threads = functools.partial(cluster, protocol="tcp")
        monkeypatch.setattr("distributed.LocalCluster", lambda **options: in_threads(**{**options, "processes": False}))


@pytest.mark.parametrize("module", SMALL, ids=lambda module: module.__name__.split(".")[1])
@pytest.mark.usefixtures("few_processes")
def test_each_line_is_json_with_a_figure_and_its_target(module, capsys):
    module.main(**SMALL[module])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines
    for line in lines:
        assert line["reference"]
        figure, target = ("ratio", "at_most") if "ratio" in line else ("speedup", "at_least")
        assert line[figure] > 0 and target in line
        assert line.get("gap", 0) <= 1e-6


def test_every_benchmark_is_run_here():
    """But the one whose time is all there is to it, in new processes: the time of the import."""
    folder = Path(importlib.util.find_spec("benchmarks").origin).parent
    files = {path.stem for path in folder.glob("*.py") if "def main(" in path.read_text()}
    assert {module.__name__.split(".")[1] for module in SMALL} == files - {"import_time"}
