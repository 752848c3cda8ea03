"""Output spaces: from outputs to orthonormal coordinates and back."""

from .vector import Vector

__all__ = ["Vector"]
