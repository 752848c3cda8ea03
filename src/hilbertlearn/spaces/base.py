"""What a space of outputs is."""

from __future__ import annotations


class Space:
    """Outputs as rows of coordinates in an orthonormal basis; subclasses give ``encode`` and ``decode``."""

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
        raise NotImplementedError

    def decode_differences(self, coordinates):
        """Differences of outputs from differences of coordinates (n, d)."""
        return self.decode(coordinates)

    def sampling(self, y):
        """The map from coordinates to what ``encode`` gives when that is something else; None otherwise."""
        return None

    def residuals(self, y, coordinates):
        """What is left of outputs after predicted coordinates (n, d): the loss is a function of these rows."""
        return self.encode(y) - coordinates

    def held_out_errors(self, Y, residuals):
        """Error (n,) of each sample whose coordinates are Y (n, d) and whose residuals, held out, are given."""
        return (residuals**2).sum(axis=1)

    def complete(self, y):
        """Coordinates (n, d) with gaps filled, for models that cannot have any."""
        return self.encode(y)
