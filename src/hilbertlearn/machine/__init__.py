"""The one fit: from checked settings and data to a fitted state."""
