"""Estimators that learn batch by batch."""

from __future__ import annotations

from .. import operators
from .._utils.fitting import available_if_checked, transactional_update
from .._utils.naming import unnamed_in_errors
from .._utils.validation import warn
from ..data.streams import Batch
from ..losses import as_loss
from .base import KernelMachine
from .batch_state import RunningSums
from .batches import add_rows, check_batch_settings, solve_sums, start_sums
from .spec import Spec


def _check_takes_batches(estimator):
    """Raise an AttributeError that says why not where ``partial_fit`` cannot work."""
    setting, name = estimator.feature_map, type(estimator).__name__
    alpha_per_output = getattr(estimator, "alpha_per_output", False)
    reason = ""
    if setting is None or isinstance(setting, str):
        reason = "needs feature_map=: a number of landmarks, features.Landmarks(), RandomFeatures() or a transformer"
    elif not _is_squared(estimator.loss):
        reason = "is for loss='squared'; other losses take fit(source), see hilbertlearn.streams"
    elif getattr(estimator, "regressor", None) is not None or estimator.manifold or alpha_per_output:
        reason = "requires regressor=None, manifold=0 and alpha_per_output=False"
    if reason:
        raise AttributeError(f"{name}.partial_fit {reason}")


def _is_squared(loss) -> bool:
    try:
        return as_loss(loss).quadratic
    except (TypeError, ValueError):  # fit raises it again
        return False


@unnamed_in_errors
class BatchMachine(KernelMachine):
    """A kernel machine whose rows may come in batches, or in the blocks of Dask collections."""

    _accumulated_: RunningSums | None = None  # over the rows so far, of the squared loss
    _by_passes_ = False  # whether a source was read several times, of which there are no sums

    def spec(self, y=None) -> Spec:
        return Spec.from_estimator(self, takes_batches=True)

    @available_if_checked(_check_takes_batches)
    @transactional_update
    def partial_fit(self, X, y, sample_weight=None):
        """Learn from further rows, for the squared loss on features; the rows themselves are not kept.

        The model is that of ``fit`` with the same features and all rows so far, in any batches and order. Memory is
        that of features by features and outputs. The first batch decides everything that depends on data and was not
        given: the kernel and its rate, how inputs are scaled, landmarks, an operator computed from outputs, the scale
        of outputs, how much the constant of curves is smoothed. It should be a random draw, and larger than the number
        of landmarks. features.RandomFeatures with a number for gamma, or ``Landmarks(points=...)``, do not depend on it
        unless ``scale_inputs=True``. alpha="auto" is selected anew each time, by leave-one-out errors of a sample of
        all rows so far. alpha and tol may change between batches, other settings of the model may not.

        After ``fit`` from a source in one pass it continues. It begins anew after a fit that took several passes, and
        warns, and after ``fit`` in memory (small memory-mapped arrays too) or of Dask collections: these keep no sums.
        A batch that is refused leaves the model as it was.

        Parameters
        ----------
        X : array-like of shape (b, n_features)
            Inputs.
        y : array-like of shape (b,) or (b, d)
            Outputs, NaN where not observed.
        sample_weight : array-like of shape (b,), default=None
            Non-negative weights; None is 1 for all.

        Returns
        -------
        self : object
        """
        batch, spec = Batch(X, y, sample_weight), self.spec(y)
        check_batch_settings(spec)
        self._check_continues(spec, X)
        sums = start_sums(spec, batch, passes=False) if self._accumulated_ is None else self._accumulated_
        self.keep(solve_sums(spec, add_rows(spec, sums, [batch])))

    def keep(self, result):
        super().keep(result)
        self._accumulated_, self._by_passes_ = result.sums, result.by_passes

    def _check_continues(self, spec: Spec, X):
        """Refuse settings that batches cannot have, or that differ from those of the batches before."""
        if operators.as_learned(spec.recipe(X).pairs[0][1]) is not None:
            raise ValueError(
                "operator: LearnedOperator takes several passes over all rows, and partial_fit one; use fit(source), "
                "see hilbertlearn.streams, or give another operator"
            )
        if self._by_passes_:
            warn(
                "partial_fit begins anew: the fit(source) before took several passes and kept no sums of its rows; for "
                "a model of all rows use fit with a source that has them all"
            )
        if self._accumulated_ is not None:
            changed = self._accumulated_.settings.changed(self)
            if changed:
                raise ValueError(
                    f"{', '.join(changed)}: the batches before were read with other settings; fit anew, with "
                    "sklearn.base.clone(model).partial_fit, or put them back"
                )
