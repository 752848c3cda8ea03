"""The commands."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from sklearn.base import clone

from ... import __version__
from ...persistence import load, save
from ..tabular import TableError, TabularModel, compare, read_table, write_table
from ..tabular.columns import listed
from ..tabular.files import check_output
from ..tabular.tasks import TASKS
from .console import Talk

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"max_content_width": 100},
)

Task = Enum("Task", {name: name for name in TASKS})  # type: ignore[misc]

Data = Annotated[Path, typer.Argument(metavar="DATA", help="Table, CSV or Parquet, with a line of names.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="File that fit has written.")]
Targets = Annotated[
    str | None, typer.Option(help='Columns to predict: names with commas, a glob "y_*", a range "y_1:y_50".')
]
Features = Annotated[str | None, typer.Option(help="Columns to predict from, given as targets; by default the others.")]
Id = Annotated[str | None, typer.Option("--id", help="Column that names the rows.")]
Long = Annotated[
    str | None, typer.Option(help="CURVE,POINT,VALUE: a row is a point of a curve; in place of --targets.")
]
Inputs = Annotated[Path | None, typer.Option(help="With --long: table with a row a curve, if inputs are not in DATA.")]
TaskOption = Annotated[Task | None, typer.Option(help="What the targets are; by default told from them.")]
Loss = Annotated[
    str | None,
    typer.Option(help="huber, epsilon_insensitive, ... for numbers and curves; kendall, hamming, f1, ... for objects."),
]
Levels = Annotated[str | None, typer.Option(help="Of quantiles: 0.1,0.5,0.9.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but results and errors.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output, and nothing else there.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
):
    """Predict curves, rankings, label sets and other objects from tables.

    \b
      hilbertlearn demo
      hilbertlearn fit train.csv --targets "y_*" --level 0.9 --out model.hl
      hilbertlearn predict model.hl new.csv --out predictions.csv
      hilbertlearn report model.hl test.csv --out report.html
      hilbertlearn compare train.csv --targets "y_*"

    Exit codes: 0 fine, 1 unexpected failure, 2 bad input or usage, 130 interrupted.
    """
    if version:
        typer.echo(f"hilbertlearn {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def fit(
    data: Data,
    out: Annotated[Path, typer.Option(help="File of the model.")],
    targets: Targets = None,
    task: TaskOption = None,
    features: Features = None,
    id: Id = None,
    long: Long = None,
    inputs: Inputs = None,
    loss: Loss = None,
    level: Annotated[float | None, typer.Option(help="Probability of bands, intervals and sets, as 0.9.")] = None,
    levels: Levels = None,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
):
    """Learn a model from a table.

    Everything that is not given is chosen from the data. Empty cells of inputs are filled, empty cells of targets are
    gaps. Dates become numbers, text becomes categories. What was chosen, left out and filled in is said.

    \b
      hilbertlearn fit spectra.csv --targets "nm_400:nm_700" --loss huber --level 0.9 --out model.hl
      hilbertlearn fit sales.csv --targets north,south --task quantiles --levels 0.1,0.5,0.9 --out model.hl
      hilbertlearn fit growth.csv --long child,age,height --inputs children.csv --out model.hl
    """
    talk = Talk(quiet, json)
    check_output(out)
    frame, rows = read_table(data), _rows(inputs)
    model = _model(frame, targets, task, features, id, long, loss, levels, level=level, verbose=talk.verbose)
    first = clone(model)
    first.choose_columns(frame, rows)  # what is said, and what is wrong, before the fit
    talk.remarks(first.notes_)
    model.fit(frame, rows)
    save(model, out)
    talk.remarks(model.notes_[len(first.notes_) :])
    facts = {
        "model": str(out),
        "task": model.task_,
        "targets": model.targets_,
        "features": model.features_,
        "id": model.id_,
        "samples": model.n_samples_,
        "notes": model.notes_,
        "seconds": talk.seconds,
    }
    of = f"{len(model.targets_)} target{'s' * (len(model.targets_) > 1)} from {len(model.features_)} columns"
    talk.result(facts, f"{out}: {model.task_}, {of}, {model.n_samples_} samples, {talk.seconds:.1f} s")


@app.command()
def predict(
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option(help="File of the predictions, .csv or .parquet.")],
    inputs: Inputs = None,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
):
    """Predict the targets of a table.

    There is a row for each of its rows. Columns are found by name, in any order; others are ignored. A model that was
    fitted with --level adds columns _lower and _upper beside each target, or sets of objects that hold the true one
    with that probability.

    \b
      hilbertlearn predict model.hl new.csv --out predictions.csv
    """
    talk = Talk(quiet, json)
    check_output(out, (".csv", ".parquet"))
    fitted = _load(model)
    frame, rows = read_table(data), _rows(inputs)
    remarks = fitted.remarks(frame, rows)
    predictions = fitted.predict(frame, rows)
    write_table(predictions, out)
    talk.remarks(remarks)
    facts = {"predictions": str(out), "rows": len(predictions), "columns": list(predictions.columns), "notes": remarks}
    talk.result(facts, f"{out}: {len(predictions)} rows, {predictions.shape[1]} columns")


@app.command()
def report(
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option(help="Page to write.")] = Path("report.html"),
    inputs: Inputs = None,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
):
    """Judge a model: a page on how it does on a table.

    The table has the true targets, and is best one that the model was not fitted to.

    \b
      hilbertlearn report model.hl test.csv --out report.html
    """
    from ..report import section, write

    talk = Talk(quiet, json)
    check_output(out, (".html",))
    fitted = _load(model)
    frame, rows = read_table(data), _rows(inputs)
    inputs_known, outputs, ids = fitted.outputs(frame, rows)
    found = section(
        fitted.estimator_,
        fitted.encode_inputs(inputs_known),
        outputs,
        name=data.stem,
        ids=ids,
        targets=fitted.targets_,
        seconds=fitted.seconds_,
        inputs=inputs_known,
    )
    command = f"hilbertlearn report {model} {data} --out {out}"
    write(out, found, title=f"{data.stem}: {fitted.task_}", command=command)
    remarks = fitted.remarks(frame, rows)
    talk.remarks(remarks)
    score = f"{found.tiles[0].label} {found.tiles[0].value}"
    talk.result({"report": str(out), "notes": remarks, **found.facts}, f"{out}: {len(ids)} samples, {score}")


@app.command(name="compare")
def compare_(
    data: Data,
    targets: Targets = None,
    task: TaskOption = None,
    features: Features = None,
    id: Id = None,
    long: Long = None,
    inputs: Inputs = None,
    loss: Loss = None,
    levels: Levels = None,
    folds: Annotated[int, typer.Option(help="Parts of the table that are held out in turn.")] = 5,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
):
    """Compare with what scikit-learn has, by the same folds.

    Ours has nothing set but what is given; kernel ridge regression and others are tuned by a search in each fold.
    Scores are means over held-out folds, the higher the better, with standard errors; seconds are of one fold.

    \b
      hilbertlearn compare train.csv --targets "y_*" --folds 10
    """
    talk = Talk(quiet, json)
    frame, rows = read_table(data), _rows(inputs)
    model = _model(frame, targets, task, features, id, long, loss, levels)
    table, score, notes = compare(model, frame, rows, folds=folds, verbose=talk.verbose)
    talk.remarks(notes)
    lines = [
        (one["method"], f"{one['score']:.3f} ± {one['standard_error']:.3f}", f"{one['seconds']:.2f}")
        for one in table.to_dict("records")
    ]
    talk.table(f"{data.name}, {folds} folds", ("", score, "seconds"), lines)
    talk.result({"score": score, "folds": folds, "methods": table.to_dict("records"), "notes": notes})


@app.command()
def demo(quiet: Quiet = False, json: Json = False, debug: Debug = False):
    """Show four tasks beside plain alternatives.

    Curves with outliers and their band, lower halves of digits, rankings of labels, links of a network: one table, and
    the page hilbertlearn-report.html in this folder. Takes under a minute; nothing is downloaded.
    """
    from .demo import REPORT, run_demo

    talk = Talk(quiet, json)
    check_output(REPORT)
    run_demo(talk)


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Experiment, one of --list.")] = None,
    data: Annotated[
        Path | None, typer.Option(envvar="HILBERTLEARN_DATA", help="Folder that holds the data sets.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer repetitions, under a minute.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="Show the experiments, and what the papers report.")] = False,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
):
    """Run an experiment of the papers.

    Experiments are not part of the installed package: this needs a clone of the repository.

    \b
      hilbertlearn reproduce --list
      hilbertlearn reproduce lambert2022_dti --data FOLDER --quick
    """
    from .experiments import EXPERIMENTS, run_experiment

    talk = Talk(quiet, json)
    if list_ or name is None:
        header = ("name", "what it shows, with the paper's figures", "data", "minutes")
        talk.table("Experiments", header, [one.row for one in EXPERIMENTS], text=(0, 1, 2))
        talk.result({"experiments": [one.facts for one in EXPERIMENTS]})
        return
    script, seconds = run_experiment(name, data, quick, aside=json)
    talk.result({"experiment": name, "script": str(script), "seconds": seconds}, f"{name}: {seconds:.0f} s")


def _model(frame, targets, task, features, id, long, loss, levels, **more):
    """The model of a table that options describe."""
    if targets is None and long is None:
        have = listed(frame.columns)
        raise TableError(f"say what to predict, by --targets with names, a glob or a range; the table has {have}")
    return TabularModel(
        targets,
        "auto" if task is None else task.value,
        features=features,
        id=id,
        long=None if long is None else tuple(part.strip() for part in long.split(",")),
        loss=loss,
        levels=None if levels is None else _numbers(levels),
        **more,
    )


def _numbers(levels):
    try:
        return tuple(sorted(float(part) for part in levels.split(",")))
    except ValueError:
        raise TableError(f"--levels must be numbers with commas, as 0.1,0.5,0.9, got {levels!r}") from None


def _rows(inputs):
    return None if inputs is None else read_table(inputs)


def _load(path):
    fitted = load(path)
    if not isinstance(fitted, TabularModel):
        name = type(fitted).__name__
        raise TableError(f"{path}: holds a {name}, not a model of a table; give a file that fit has written")
    return fitted
