"""The commands: arguments in, calls of the library, results out."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from ... import __version__
from ...persistence import load, save
from ..tabular import TableError, TabularModel, compare, read_table, write_table
from ..tabular.columns import join_names
from ..tabular.files import check_output
from ..tabular.tasks import TASKS
from .output import CommandOutput

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"max_content_width": 100},
)

TaskName = Enum("TaskName", {name: name for name in TASKS})  # type: ignore[misc]

Data = Annotated[Path, typer.Argument(metavar="DATA", help="Table, CSV or Parquet, with a line of names.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="File that fit has written.")]
Targets = Annotated[
    str | None, typer.Option(help='Columns to predict: names with commas, a glob "y_*", a range "y_1:y_50".')
]
Features = Annotated[
    str | None, typer.Option(help="Columns to predict from, in the form of targets; by default all others.")
]
Id = Annotated[str | None, typer.Option("--id", help="Column that names the rows.")]
Long = Annotated[str | None, typer.Option(help="CURVE,POINT,VALUE: a row is a point of a curve; instead of --targets.")]
Inputs = Annotated[
    Path | None, typer.Option(help="With --long: table with one row for each curve, if inputs are not in DATA.")
]
Task = Annotated[TaskName | None, typer.Option(help="Kind of the targets; by default inferred from them.")]
Loss = Annotated[
    str | None,
    typer.Option(help="huber, epsilon_insensitive, ... for numbers and curves; kendall, hamming, f1, ... for objects."),
]
Levels = Annotated[str | None, typer.Option(help="Levels of quantiles: 0.1,0.5,0.9.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only results and errors.")]
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
    task: Task = None,
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

    Settings that are not given are chosen from the data. Empty cells of inputs are filled, empty cells of targets are
    missing outputs. Dates become numbers, text becomes categories. Notes tell what was chosen, left out and filled in.

    \b
      hilbertlearn fit spectra.csv --targets "nm_400:nm_700" --loss huber --level 0.9 --out model.hl
      hilbertlearn fit sales.csv --targets north,south --task quantiles --levels 0.1,0.5,0.9 --out model.hl
      hilbertlearn fit growth.csv --long child,age,height --inputs children.csv --out model.hl
    """
    output = CommandOutput(quiet, json)
    check_output(out)
    frame, rows = read_table(data), _rows(inputs)
    model = _model(frame, targets, task, features, id, long, loss, levels, level=level, verbose=output.verbose)
    selection = model.select_columns(frame, rows)
    output.notes(selection.notes)
    model.fit_selection(selection)
    save(model, out)
    output.notes(model.notes_[len(selection.notes) :])
    facts = {
        "model": str(out),
        "task": model.task_,
        "targets": model.targets_,
        "features": model.features_,
        "id": model.id_,
        "samples": model.n_samples_,
        "notes": model.notes_,
        "seconds": output.seconds,
    }
    columns = f"{len(model.targets_)} target{'s' * (len(model.targets_) > 1)} from {len(model.features_)} columns"
    output.result(facts, f"{out}: {model.task_}, {columns}, {model.n_samples_} samples, {output.seconds:.1f} s")


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
    with that probability. The column novelty says how far a row is from the rows of training: 0 is as near as these
    are to themselves, 1 is so far that they say nothing about it.

    \b
      hilbertlearn predict model.hl new.csv --out predictions.csv
    """
    output = CommandOutput(quiet, json)
    check_output(out, (".csv", ".parquet"))
    fitted = _load(model)
    frame, rows = read_table(data), _rows(inputs)
    predictions = _with_novelty(fitted, fitted.predict(frame, rows), frame, rows)
    write_table(predictions, out)
    notes = fitted.input_notes(frame, rows)
    output.notes(notes)
    facts = {"predictions": str(out), "rows": len(predictions), "columns": list(predictions.columns), "notes": notes}
    output.result(facts, f"{out}: {len(predictions)} rows, {predictions.shape[1]} columns")


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
    """Evaluate a model on a table, and write a page about it.

    The table has the true targets. Give one that the model was not fitted to.

    \b
      hilbertlearn report model.hl test.csv --out report.html
    """
    from ..report import section, write

    output = CommandOutput(quiet, json)
    check_output(out, (".html",))
    fitted = _load(model)
    frame, rows = read_table(data), _rows(inputs)
    inputs_known, outputs, ids = fitted.labelled_samples(frame, rows)
    result = section(
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
    write(out, result, title=f"{data.stem}: {fitted.task_}", command=command)
    notes = fitted.inputs_.notes(inputs_known)
    output.notes(notes)
    score = f"{result.tiles[0].label} {result.tiles[0].value}"
    output.result({"report": str(out), "notes": notes, **result.facts}, f"{out}: {len(ids)} samples, {score}")


@app.command(name="compare")
def compare_(
    data: Data,
    targets: Targets = None,
    task: Task = None,
    features: Features = None,
    id: Id = None,
    long: Long = None,
    inputs: Inputs = None,
    loss: Loss = None,
    levels: Levels = None,
    folds: Annotated[int, typer.Option(help="Number of folds of the cross-validation.")] = 5,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
):
    """Compare with estimators of scikit-learn, by the same folds.

    Our estimator has its default settings; kernel ridge regression and others are tuned by a search in each fold.
    Scores are means over folds, the higher the better, with standard errors; seconds are of one fold.

    \b
      hilbertlearn compare train.csv --targets "y_*" --folds 10
    """
    output = CommandOutput(quiet, json)
    frame, rows = read_table(data), _rows(inputs)
    model = _model(frame, targets, task, features, id, long, loss, levels)
    table, score, notes = compare(model, frame, rows, folds=folds, verbose=output.verbose)
    output.notes(notes)
    lines = [
        (row["method"], f"{row['score']:.3f} ± {row['standard_error']:.3f}", f"{row['seconds']:.2f}")
        for row in table.to_dict("records")
    ]
    output.table(f"{data.name}, {folds} folds", ("", score, "seconds"), lines)
    output.result({"score": score, "folds": folds, "methods": table.to_dict("records"), "notes": notes})


@app.command()
def demo(quiet: Quiet = False, json: Json = False, debug: Debug = False):
    """Show four tasks beside plain alternatives.

    Curves with outliers and their band, lower halves of digits, rankings of labels, links of a network: one table, and
    the page hilbertlearn-report.html in this folder. Takes under a minute; nothing is downloaded.
    """
    from .demo import REPORT, run_demo

    output = CommandOutput(quiet, json)
    check_output(REPORT)
    run_demo(output)


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

    output = CommandOutput(quiet, json)
    if list_ or name is None:
        header = ("name", "what it shows, with the paper's figures", "data", "minutes")
        output.table("Experiments", header, [experiment.row for experiment in EXPERIMENTS], text=(0, 1, 2))
        output.result({"experiments": [experiment.facts for experiment in EXPERIMENTS]})
        return
    script, seconds = run_experiment(name, data, quick, to_stderr=json)
    output.result({"experiment": name, "script": str(script), "seconds": seconds}, f"{name}: {seconds:.0f} s")


def _model(frame, targets, task, features, id, long, loss, levels, **options):
    """The unfitted model for the options of a command."""
    if targets is None and long is None:
        columns = join_names(frame.columns)
        raise TableError(f"say what to predict, by --targets with names, a glob or a range; the table has {columns}")
    return TabularModel(
        targets,
        "auto" if task is None else task.value,
        features=features,
        id=id,
        long=None if long is None else tuple(part.strip() for part in long.split(",")),
        loss=loss,
        levels=None if levels is None else _numbers(levels),
        **options,
    )


def _numbers(levels):
    try:
        return tuple(sorted(float(part) for part in levels.split(",")))
    except ValueError:
        raise TableError(f"--levels must be numbers with commas, as 0.1,0.5,0.9, got {levels!r}") from None


def _with_novelty(fitted, predictions, frame, rows):
    """Predictions with a column of novelty, where the kernel of the model provides it; in long form by curve."""
    if not fitted.has_novelty:
        return predictions
    novelty, name = fitted.novelty(frame, rows), "novelty"
    while name in predictions.columns:  # of a target
        name += "_"
    values = novelty.to_numpy() if fitted.long is None else predictions[fitted.long[0]].map(novelty).to_numpy()
    return predictions.assign(**{name: values})


def _rows(inputs):
    return None if inputs is None else read_table(inputs)


def _load(path):
    fitted = load(path)
    if not isinstance(fitted, TabularModel):
        name = type(fitted).__name__
        raise TableError(f"{path}: holds a {name}, not a model of a table; give a file that fit has written")
    return fitted
