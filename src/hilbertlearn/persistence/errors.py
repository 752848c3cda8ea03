"""What is said of a file that cannot be loaded."""


class ModelFileError(ValueError):
    """A file holds no model that can be loaded: it is damaged, of a newer version, or was not written by ``save``."""
