"""Cross-validated errors of all settings that a fit evaluated, and the selected ones."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._utils.validation import check_choice
from ..kernels import is_average
from .axes import CYCLE, RED, axes_of, colour_bar, format_number, scale_for, tidy

_DIGITS = 6  # decimals of log10 to which two values of a setting are equal: 1e-6 is a relative difference of 2e-6
_MAX_ERROR_RATIO = 1.5  # errors above this multiple of the smallest share the last colour of a map
_OVER = ("alpha", "gamma", "both")


def plot_search_results(model, ax=None, *, over="alpha"):
    """Cross-validated errors of all settings that a fit evaluated, kernel by kernel, and the selected ones.

    Leave-one-out errors, errors of folds, and errors on different numbers of samples are separate curves: they cannot
    be compared with each other.

    Parameters
    ----------
    model : fitted estimator with ``search_results_``
        At least one of kernel, gamma and alpha was "auto".
    ax : matplotlib Axes, default=None
        Axes to draw on; None creates a figure.
    over : {"alpha", "gamma", "both"}, default="alpha"
        "alpha": for each alpha the smallest error over all gammas. "gamma": for each gamma the smallest error over all
        alphas. "both": a map of all pairs that were evaluated for the selected kernel.

    Returns
    -------
    ax : matplotlib Axes
        The axes drawn on.

    References
    ----------
    - Allen, D. M. (1974). The relationship between variable selection and data augmentation and a method for
      prediction. Technometrics 16(1), which leaves one sample out.

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, plotting
    >>> X = np.linspace(0, 1, 40)[:, None]
    >>> model = OperatorKernelRegressor("rbf").fit(X, np.sin(6 * X[:, 0]) + 0.1 * np.cos(40 * X[:, 0]))
    >>> ax = plotting.plot_search_results(model, over="gamma")
    >>> ax.get_xlabel()
    'gamma'
    """
    check_choice(over, "over", _OVER)
    trials = _trials(model)
    if over != "alpha" and not np.isfinite(trials["gamma"]).any():
        raise ValueError(f"over={over!r}: no gamma was tried; use over='alpha'")
    ax = axes_of(ax)
    return _map(ax, trials, model) if over == "both" else _curves(ax, trials, model, over)


def _trials(model):
    """Columns of ``search_results_`` as arrays; gamma is NaN for kernels without one."""
    if not hasattr(model, "fit"):
        raise TypeError(f"model must be a fitted estimator, got {type(model).__name__}")
    check_is_fitted(model)
    results = getattr(model, "search_results_", None)
    if results is None or not len(results["alpha"]):
        raise ValueError(
            "model has no search results: kernel, gamma and alpha were given; set alpha='auto' or gamma='auto'"
        )
    stages = [f"{method}, {n} samples" for method, n in zip(results["method"], results["n_samples"], strict=True)]
    return {
        "alpha": np.asarray(results["alpha"], dtype=float),
        "gamma": np.array([_as_number(gamma) for gamma in results["gamma"]]),
        "error": np.asarray(results["error"], dtype=float),
        "kernel": np.array([_name(kernel) for kernel in results["kernel"]]),
        "stage": np.array(stages),
    }


def _as_number(gamma):
    return float(gamma) if np.ndim(gamma) == 0 and gamma is not None else np.nan


def _name(kernel):
    if isinstance(kernel, (list, tuple)):
        return " + ".join(_name(one) for one in kernel)
    if isinstance(kernel, str):
        return kernel
    return getattr(kernel, "name", None) or getattr(kernel, "__name__", type(kernel).__name__)


def _curves(ax, trials, model, over):
    names, stages = (list(dict.fromkeys(trials[key])) for key in ("kernel", "stage"))
    for name, color in zip(names, np.resize(CYCLE, len(names)), strict=True):
        for stage in stages:
            is_drawn = (trials["kernel"] == name) & (trials["stage"] == stage) & np.isfinite(trials[over])
            if not is_drawn.any():
                continue
            at, lowest = _envelope(trials[over][is_drawn], trials["error"][is_drawn])
            last = stage == stages[-1]
            label = name if len(stages) == 1 else f"{name}, {stage}"
            ax.plot(at, lowest, color=color, linestyle="-" if last else ":", linewidth=2 if last else 1.3,
                    marker="o", markersize=3, label=label)  # fmt: skip
    selected = _selected_trial(trials, model, over)
    for value in np.atleast_1d(getattr(model, f"{over}_")):
        if np.isfinite(_as_number(value)):
            ax.axvline(value, color=RED, linewidth=1, alpha=0.6)
    ax.plot(trials[over][selected], trials["error"][selected], "o", color=RED, markersize=8, zorder=4,
            label=f"selected: {_name(model.kernel_)}, {_setting(model, over)}")  # fmt: skip
    ax.set_xscale("log")
    ax.set_yscale(scale_for(trials["error"]))
    ax.legend(frameon=False, fontsize="small")
    return tidy(ax, xlabel=over, ylabel="cross-validated error")


def _map(ax, trials, model):
    selected = _selected_trial(trials, model, "both")
    is_drawn = np.isfinite(trials["gamma"])
    for key in ("kernel", "stage"):
        same = trials[key] == trials[key][selected]
        is_drawn &= same if (is_drawn & same).any() else True
    error = trials["error"][is_drawn]
    top = min(error.max(), _MAX_ERROR_RATIO * error.min())
    alphas, gammas = trials["alpha"][is_drawn], trials["gamma"][is_drawn]
    dots = ax.scatter(alphas, gammas, c=error, cmap="cividis", vmax=top, s=26, marker="s")
    ax.plot(trials["alpha"][selected], trials["gamma"][selected], "*", markersize=15, color=RED,
            markeredgecolor="white", markeredgewidth=1.2,
            label=f"selected: {_setting(model, 'alpha')}, {_setting(model, 'gamma')}")  # fmt: skip
    ax.set(xscale="log", yscale="log")
    colour_bar(ax, dots, "cross-validated error", extend="max" if error.max() > top else "neither")
    ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1))
    return tidy(ax, xlabel="alpha", ylabel="gamma")


def _envelope(values, errors):
    """Distinct values in increasing order, and the smallest error at each."""
    logarithms = np.round(np.log10(values), _DIGITS)
    at, group = np.unique(logarithms, return_inverse=True)
    lowest = np.full(len(at), np.inf)
    np.minimum.at(lowest, group, errors)
    return 10.0**at, lowest


def _selected_trial(trials, model, over):
    """Index of the trial nearest to the selected settings, in the last stage that evaluated the selected kernel.

    An average of kernels has no single gamma: over gamma it is drawn at the rate of the kernel with the largest share.
    """
    main = model.kernel_.main_part if is_average(model.kernel_) else None
    kernel, gamma = (model.kernel_, model.gamma_) if over == "alpha" or main is None else (main.kernel, main.rate)
    same = trials["kernel"] == _name(kernel)
    is_candidate = same if same.any() else np.ones(len(same), dtype=bool)
    is_candidate &= trials["stage"] == trials["stage"][is_candidate][-1]
    distances = np.zeros(len(is_candidate))
    for key, value in ("alpha", np.exp(np.mean(np.log(model.alpha_)))), ("gamma", _as_number(gamma)):
        if np.isfinite(value) and value > 0:
            distances += np.nan_to_num(np.abs(np.log(trials[key] / value)))
    return int(np.flatnonzero(is_candidate)[np.argmin(distances[is_candidate])])


def _setting(model, name):
    """Text such as "alpha = 0.01"; the range where there are several values."""
    values = [value for value in map(_as_number, np.atleast_1d(getattr(model, f"{name}_"))) if np.isfinite(value)]
    if not values:
        return f"no {name}"
    low, high = format_number(min(values)), format_number(max(values))
    return f"{name} = {low if low == high else f'{low} to {high}'}"
