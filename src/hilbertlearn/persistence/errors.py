"""The error for a file that cannot be loaded."""


class ModelFileError(ValueError):
    """A file cannot be loaded: it is damaged, was written by a newer version, or not written by ``save``.

    Parameters
    ----------
    message : str
        One line that names the file, the problem and the remedy.

    References
    ----------
    ``hilbertlearn.save`` describes the format.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from hilbertlearn import load
    >>> from hilbertlearn.persistence import ModelFileError
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "notes.txt"
    ...     _ = path.write_text("no model")
    ...     try:
    ...         load(path)
    ...     except ModelFileError as error:
    ...         print("save the model again" in str(error))
    True
    """

    def __init__(self, message):
        super().__init__(message)
