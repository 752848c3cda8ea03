"""The base class of output spaces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


class Space:
    """Outputs as rows of coordinates in an orthonormal basis; subclasses define ``encode``, and most ``decode``.

    An estimator creates its space in ``output_space(y, sample_weight)``.

    References
    ----------
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, theorems 5 and 7 (problems in a truncated basis).

    Examples
    --------
    Pairs of numbers represented by their sum alone, in the direction (1, 1):

    >>> import numpy as np
    >>> from hilbertlearn import OperatorKernelRegressor, spaces
    >>> class SumSpace(spaces.Space):
    ...     def encode(self, y):
    ...         return np.asarray(y).sum(axis=1, keepdims=True) / np.sqrt(2)
    ...     def decode(self, coordinates):
    ...         return np.repeat(coordinates, 2, axis=1) / np.sqrt(2)
    >>> class Regressor(OperatorKernelRegressor):
    ...     def output_space(self, y, sample_weight):
    ...         return SumSpace()
    >>> X = np.linspace(0, 1, 10)[:, None]
    >>> Regressor(gamma=1.0, alpha=1e-6).fit(X, np.hstack([X, 3 * X])).predict([[0.5]]).round(2)
    array([[1., 1.]])
    """

    residuals_are_errors = True  # whether small residuals in coordinates mean good predictions
    decodes = True  # whether ``decode`` returns outputs; False: a decoder of ``decoders`` is needed

    @property
    def pointwise(self) -> bool:
        """Whether coordinates are point values, which losses with p other than 2 need."""
        return False

    @property
    def measure(self):
        """Quadrature weights (d,) of point values; None for ones."""
        return None

    def encode(self, y):
        """Coordinates of outputs.

        Parameters
        ----------
        y : outputs
            n outputs in any form that the space represents.

        Returns
        -------
        coordinates : array of shape (n, d)
            NaN where not observed.
        """
        raise NotImplementedError

    def decode(self, coordinates):
        """Outputs of coordinates.

        Parameters
        ----------
        coordinates : array of shape (n, d)
            Predicted coordinates.

        Returns
        -------
        y : outputs
            n outputs in the form of the training outputs.
        """
        return coordinates

    def decode_differences(self, coordinates):
        """Differences of outputs from differences of coordinates (n, d)."""
        return self.decode(coordinates)

    def sampling(self, y):
        """The ``Sampling`` from coordinates to observed values, where ``encode`` returns these; None otherwise."""
        return None

    def observation_points(self, y):
        """Points of the observed values of each sample, for functions with a ``sampling``; None otherwise."""
        return None

    def outside_values(self, y):
        """The part of functions outside the space, as values on their grid; None if there is none."""
        return None

    def residuals(self, y, coordinates):
        """Residuals of outputs for predicted coordinates (n, d): the rows that the loss takes."""
        return self.encode(y) - coordinates

    def outside_norms(self, y):
        """Norms (n,) of the parts of outputs outside the space, where losses include them; None otherwise."""
        return None

    def encode_with_outside(self, y):
        """``encode(y)`` and ``outside_norms(y)``, computed together."""
        return self.encode(y), self.outside_norms(y)

    def filled_outside_norms(self, y):
        """``outside_norms`` of outputs whose gaps are filled as in ``encode_filled``."""
        return self.outside_norms(y)

    def sample_errors(self, Y, residuals):
        """Errors (n,) of samples with coordinates Y (n, d) and cross-validated residuals (n, d)."""
        squares = np.einsum("ij,ij->i", residuals, residuals)  # ten times as fast as nansum for small arrays
        return np.nansum(residuals**2, axis=1) if np.isnan(squares).any() else squares

    def error_resolution(self, n_samples) -> float:
        """The mean of ``sample_errors`` that so many samples cannot tell from zero; 0 for squared errors."""
        return 0.0

    def compress(self) -> Space:
        """A space with fewer coordinates, linear in these, and the same ``sample_errors``; itself if none exists."""
        return self

    def coordinate_scales(self, Y, weights):
        """Standard deviations (d,) of coordinates Y (n, d) with different units; None where they share one unit."""
        return None

    def smooth_means(self, means):
        """Smoothed means (n, d) of coordinates, around which models are fitted.

        NaN marks columns without any observed value, the same in all rows. Spaces of functions interpolate them.
        """
        return means

    def unobserved_mask(self, y):
        """Mask, of the shape of an output, of entries that no sample of y observes; None for other kinds of outputs."""
        return None

    def unobserved_outputs(self, columns):
        """The same mask, from the mask (d,) of coordinates that no sample observes; None for other kinds of outputs."""
        return None

    def unobserved_message(self, mask, names, center):
        """Warning about entries of an output that no sample observes, from their mask; "" for none.

        names : column names of a data frame, or None
        center : whether models are fitted around a constant
        """
        return ""

    def encode_filled(self, y):
        """Coordinates (n, d) with gaps filled, for models that do not accept NaN."""
        return self.encode(y)

    def filled_share(self, y) -> float:
        """Share of the values of ``encode_filled(y)`` that were filled in; 1 where it is unknown."""
        return 1.0


def unobserved_remedy(center):
    """End of a warning: what is predicted for an output that no sample observes, and the remedy."""
    return f"and is predicted {'as NaN' if center else 'around 0 (center=False)'}; leave it out"


@dataclass(frozen=True, eq=False)
class MeanSmoother:
    """``space.smooth_means`` as an object that can be stored with a model."""

    space: Space

    def __call__(self, means):
        return self.space.smooth_means(means)


@dataclass(frozen=True, eq=False)
class FixedSpace:
    """A function of outputs and weights that returns one space: replaces ``output_space`` once the space is known."""

    space: Space

    def __call__(self, y, sample_weight):
        return self.space
