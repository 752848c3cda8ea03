"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import contextmanager, suppress


@contextmanager
def write_atomically(path):
    """A context that yields a temporary path, whose file replaces `path` at the end, or is removed after an error.

    A symbolic link is followed, and a file that is replaced keeps its permissions.
    """
    target = os.path.realpath(path)
    if os.path.isdir(target):
        raise IsADirectoryError(f"path: {os.fspath(path)!r} is a folder; give the name of a file in it")
    part = os.path.join(
        os.path.dirname(target), f".{secrets.token_hex(8)}.part"
    )  # not based on the name, which may have the largest length
    mode = stat.S_IMODE(os.stat(target).st_mode) if os.path.exists(target) else None
    try:
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if mode is None else 0o600))
        yield part
        _flush(part)
        if mode is not None:
            os.chmod(part, mode)
        os.replace(part, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(part)
        raise


def _flush(path):
    """Wait until a file is on the disk, so that it survives a power failure."""
    with open(path, "r+b") as file:
        os.fsync(file.fileno())
