"""What is said of a file that cannot be loaded."""


class ModelFileError(ValueError):
    """A file holds no model that can be loaded: it is damaged, of a newer version, or was not written by ``save``.

    Parameters
    ----------
    message : one line that names the file, what is wrong with it and what to do

    References
    ----------
    The format is that of ``hilbertlearn.save``.

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
