"""Runs a command and returns its exit code.

Errors are one line on standard error; --debug adds the traceback.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from typing import Any

FINE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
_BAD_INPUT = (ValueError, ImportError, FileNotFoundError, PermissionError, IsADirectoryError)


def run(argv) -> int:
    """The exit code of the command with these arguments."""
    try:
        import typer

        from .app import app
    except ImportError as error:
        missing = (error.name or "typer").split(".")[0]
        return _fail(f"the command line needs {missing}: pip install 'hilbertlearn[cli]'", BAD_INPUT)
    # ClickException, which typer bundles and does not export
    usage_error: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")
    with warnings.catch_warnings():
        warnings.showwarning = _show_once()
        if "--quiet" in argv or "-q" in argv:
            warnings.simplefilter("ignore")
        try:
            code = app(argv, standalone_mode=False, prog_name="hilbertlearn") or FINE
        except (KeyboardInterrupt, typer.Abort):
            code = INTERRUPTED
        except usage_error as error:
            return _fail(f"{error.format_message()} (hilbertlearn --help says more)", BAD_INPUT)
        except Exception as error:
            if "--debug" in argv:
                traceback.print_exc()
            if isinstance(error, _BAD_INPUT):
                return _fail(str(error), BAD_INPUT)
            return _fail(f"unexpected {type(error).__name__}: {error}; --debug shows where it is from", FAILED)
    return _fail("interrupted; nothing was written", INTERRUPTED) if code == INTERRUPTED else code


def _fail(message, code):
    print(f"hilbertlearn: {' '.join(message.split())}", file=sys.stderr)
    return code


def _show_once():
    """A replacement of ``warnings.showwarning``: one line on standard error for each text, even if it is repeated."""
    printed = set()

    def show(message, category, filename, lineno, file=None, line=None):
        text = " ".join(str(message).split())
        if text not in printed:
            printed.add(text)
            print(f"warning: {text}", file=sys.stderr)

    return show
