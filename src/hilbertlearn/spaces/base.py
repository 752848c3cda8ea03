"""What a space of outputs is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


class Space:
    """Outputs as rows of coordinates in an orthonormal basis; subclasses give ``encode``, and most ``decode``.

    An estimator names its space in ``output_space(y, sample_weight)``.

    References
    ----------
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, theorems 5 and 7 (problems in a truncated basis).

    Examples
    --------
    Outputs of two numbers by their sum alone, in the direction (1, 1):

    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, spaces
    >>> class Together(spaces.Space):
    ...     def encode(self, y):
    ...         return np.asarray(y).sum(axis=1, keepdims=True) / np.sqrt(2)
    ...     def decode(self, coordinates):
    ...         return np.repeat(coordinates, 2, axis=1) / np.sqrt(2)
    >>> class Regressor(OperatorKernelRegressor):
    ...     def output_space(self, y, sample_weight):
    ...         return Together()
    >>> X = np.linspace(0, 1, 10)[:, None]
    >>> Regressor(gamma=1.0, alpha=1e-6).fit(X, np.hstack([X, 3 * X])).predict([[0.5]]).round(2)
    array([[1., 1.]])
    """

    residuals_are_errors = True  # whether residuals in coordinates say how good predictions are
    decodes = True  # whether ``decode`` gives outputs, without a decoder

    @property
    def pointwise(self) -> bool:
        """Whether coordinates are point values, as losses with p other than 2 need."""
        return False

    @property
    def measure(self):
        """Weights (d,) of the points, None for ones."""
        return None

    def encode(self, y):
        """Coordinates (n, d) of outputs, NaN where not observed."""
        raise NotImplementedError

    def decode(self, coordinates):
        """Outputs from coordinates (n, d)."""
        return coordinates

    def decode_differences(self, coordinates):
        """Differences of outputs from differences of coordinates (n, d)."""
        return self.decode(coordinates)

    def sampling(self, y):
        """The map from coordinates to what ``encode`` gives when that is something else; None otherwise."""
        return None

    def observation_points(self, y):
        """Where the observed values of each sample are, for functions under a sampling; None otherwise."""
        return None

    def outside_values(self, y):
        """What functions have outside their space, as values on their grid; None where there is nothing."""
        return None

    def residuals(self, y, coordinates):
        """What is left of outputs after predicted coordinates (n, d): the loss is a function of these rows."""
        return self.encode(y) - coordinates

    def outside_norms(self, y):
        """Norms (n,) of what outputs have beside their coordinates, where losses are to see it; None otherwise."""
        return None

    def encode_with_outside(self, y):
        """Coordinates (n, d) of outputs as ``encode`` gives them, and what ``outside`` does."""
        return self.encode(y), self.outside_norms(y)

    def filled_outside_norms(self, y):
        """As ``outside``, of outputs whose gaps are filled as ``complete`` does."""
        return self.outside_norms(y)

    def sample_errors(self, Y, residuals):
        """Error (n,) of each sample whose coordinates are Y (n, d) and whose residuals, held out, are given."""
        return np.nansum(residuals**2, axis=1)

    def compress(self) -> Space:
        """A space of fewer coordinates, linear in these, with the same held-out errors; itself where there is none."""
        return self

    def coordinate_scales(self, Y, weights):
        """Standard deviations (d,) of coordinates Y (n, d) that are outputs of their own kind each; None otherwise."""
        return None

    def smooth_means(self, means):
        """Means (n, d) of coordinates as models are fitted around: without the noise that the space does not allow.

        NaN is a mean of nothing, in the same columns of all rows. Spaces that relate coordinates interpolate it.
        """
        return means

    def unobserved_mask(self, y):
        """Which numbers of an output, as a mask of its shape, no sample of y has; None for outputs of other kinds."""
        return None

    def unobserved_outputs(self, columns):
        """The same mask from that (d,) of the coordinates that no sample has; None for outputs of other kinds."""
        return None

    def unobserved_message(self, mask, names, center):
        """What to say about numbers of an output that no sample has, by their mask; "" for nothing.

        names : of the columns of a data frame, or None; center : whether models are fitted around a constant
        """
        return ""

    def encode_filled(self, y):
        """Coordinates (n, d) with gaps filled, for models that cannot have any."""
        return self.encode(y)

    def filled_share(self, y) -> float:
        """Share of the values behind ``complete(y)`` that were filled in; 1 where it is not known."""
        return 1.0


def unobserved_remedy(center):
    """What is predicted for an output that no sample has, and what to do."""
    return f"and is predicted {'as NaN' if center else 'around 0 (center=False)'}; leave it out"


@dataclass(frozen=True, eq=False)
class MeanSmoother:
    """The method ``smoothed`` of a space as an object that models can keep."""

    space: Space

    def __call__(self, means):
        return self.space.smooth_means(means)


@dataclass(frozen=True, eq=False)
class FixedSpace:
    """The space of any outputs and weights where it is decided: always the same."""

    space: Space

    def __call__(self, y, sample_weight):
        return self.space
