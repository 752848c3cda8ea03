"""The settings of one fit, checked and frozen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import features, kernels
from .._utils.fitting import snapshot
from .._utils.progress import Progress
from .._utils.validation import check_choice, check_number
from ..core import solvers
from ..losses import Loss, as_loss
from ..training import PRECISIONS, Options, Recipe, check_alpha, kernel_terms
from .steps import FitSteps

_BOOLEANS = (True, False)


@dataclass(frozen=True, kw_only=True)
class Spec:
    """The settings of an estimator, checked, with the functions in which estimators differ.

    ``KernelMachine.spec`` creates it at the beginning of a fit. Data sources, wrappers and ``FitSteps`` read it.
    """

    estimator: Any  # inputs are validated against its features; a fit records new ones on it
    kernel: Any
    gamma: Any
    kernel_params: dict | None
    operator: Any
    loss: Loss  # a copy: later changes of the estimator's settings do not reach it
    alpha: Any  # a number, "auto" or a schedule
    center: Any
    options: Options
    scale_inputs: Any = False  # "auto", True or False
    feature_map: Any = None  # "auto", None for Gram matrices, or an object of ``features``
    precision: str = "float64"
    graph: Any = None
    manifold: float = 0.0
    alpha_per_output: bool = False
    regressor: Any = None  # a regressor of scikit-learn in place of the kernel machine
    operators: tuple = ()  # operators to select from where the kernel is selected too
    excluded_kernels: tuple = ()  # names that kernel="auto" does not try
    learns_metric: bool = True  # whether kernel="auto" learns a metric of the inputs
    takes_batches: bool = False  # whether rows may come in batches or Dask blocks
    reuse: str | None = None  # what a wrapper uses of the fit: its selection for "parts" of the samples, its "factors"
    read_outputs: Callable  # y -> outputs with a length, indexed by rows
    output_space: Callable  # (outputs, sample weights) -> Space
    batch_space: Callable  # the same from the first rows of many
    steps: FitSteps

    @classmethod
    def from_estimator(cls, estimator, **differences) -> Spec:
        """The checked settings of an estimator.

        Parameters
        ----------
        estimator : KernelMachine
        **differences : fields that differ from the estimator's settings and methods, and from the default steps;
            ``centers``, the values that ``center`` may have, by default True and False
        """

        def setting(name, default):
            return differences.pop(name, getattr(estimator, name, default))

        check_alpha(estimator.alpha)
        check_number(estimator.tol, "tol")
        check_number(estimator.max_iter, "max_iter", integer=True)
        check_choice(estimator.solver, "solver", solvers.NAMES)
        precision = check_choice(setting("precision", "float64"), "precision", PRECISIONS)
        check_choice(estimator.center, "center", differences.pop("centers", _BOOLEANS))
        per_output = check_choice(setting("alpha_per_output", False), "alpha_per_output", _BOOLEANS)
        manifold = check_number(setting("manifold", 0.0), "manifold", strict=False)
        scale_inputs = check_choice(setting("scale_inputs", False), "scale_inputs", ("auto", *_BOOLEANS))
        loss = snapshot(as_loss(estimator.loss))
        progress = Progress(type(estimator).__name__, estimator.verbose)
        functions = {
            "read_outputs": estimator.read_outputs,
            "output_space": estimator.output_space,
            "batch_space": estimator.output_space,
            "steps": FitSteps(),
        }
        return cls(
            estimator=estimator,
            kernel=estimator.kernel,
            gamma=estimator.gamma,
            kernel_params=estimator.kernel_params,
            operator=setting("operator", None),
            loss=loss,
            alpha=estimator.alpha,
            scale_inputs=scale_inputs,
            center=estimator.center,
            options=Options(estimator.solver, estimator.tol, estimator.max_iter, progress),
            feature_map=_check_feature_map(setting("feature_map", None), loss),
            precision=precision,
            graph=setting("graph", None),
            manifold=manifold,
            alpha_per_output=per_output,
            regressor=setting("regressor", None),
            **{**functions, **differences},
        )

    @property
    def name(self) -> str:
        """The class of the estimator, for messages."""
        return type(self.estimator).__name__

    def recipe(self, X) -> Recipe:
        """How samples become a problem; X : inputs, whose form may decide which kernels are tried."""
        candidates = self.candidate_kernels(X)
        pairs = kernel_terms(candidates[0], self.operator)
        kernels.check_kernel_params([kernels.scalar_kernel(kernel) for kernel, _ in pairs], self.kernel_params)
        if self.scale_inputs and not isinstance(self.scale_inputs, str):
            kernels.check_scalable([term[0] for kernel in candidates for term in kernel_terms(kernel, self.operator)])
        is_selected, is_default = len(candidates) > 1, isinstance(self.kernel, str) and self.kernel == "auto"
        takes_average = getattr(self.feature_map, "takes_average", True)
        return Recipe(
            pairs=[(snapshot(kernel), snapshot(operator)) for kernel, operator in pairs],
            gamma=self.gamma,
            params=self.kernel_params,
            center=bool(self.center),
            scale_inputs=self.scale_inputs,
            space=self.output_space,
            graph=self.graph,
            manifold=self.manifold,
            kernel_candidates=tuple(snapshot(kernel) for kernel in candidates) if is_selected else (),
            operator_candidates=self.operators if is_selected else (),
            features=self.feature_map,
            takes_average=takes_average,
            learns_metric=self.learns_metric and is_default and is_selected and takes_average and not self.manifold,
        )

    def candidate_kernels(self, X) -> list:
        """The kernels, settings, to select from; one where the kernel is given."""
        transformer = getattr(self.feature_map, "transformer", None)
        if transformer is not None:  # its features are the kernel
            if isinstance(self.kernel, (list, tuple)) or kernels.is_precomputed(self.kernel):
                raise ValueError(
                    "feature_map: a transformer takes the place of one kernel of inputs; give features.Landmarks() "
                    "with kernel='precomputed' or a list of terms"
                )
            return [features.TransformerKernel(transformer)]
        if isinstance(self.kernel, (list, tuple)):
            return [kernels.kernel_from_name(self.kernel, self.gamma)]
        candidates = kernels.candidate_kernels(self.kernel, self.gamma, X)
        automatic = isinstance(self.kernel, str) and self.kernel == "auto"
        excluded = self.excluded_kernels if automatic else ()
        return [kernel for kernel in candidates if not (isinstance(kernel, str) and kernel in excluded)]

    def terms(self, X=None) -> list[tuple]:
        """The (kernel, operator) terms, with the first of the kernels to select from."""
        return kernel_terms(self.candidate_kernels(X)[0], self.operator)

    def input_kernels(self, X=None) -> list:
        """The scalar kernels, settings, that inputs are read for."""
        return [snapshot(kernels.scalar_kernel(kernel)) for kernel, _ in self.terms(X)]


def _check_feature_map(setting, loss: Loss):
    """The setting of the feature map: "auto", None, or an object."""
    if isinstance(setting, str):
        check_choice(setting, "feature_map", ("auto",), ", None, a number, an object of features")
        return None if loss.on_margins else "auto"  # margins compare all pairs of samples
    return snapshot(features.as_feature_map(setting))
