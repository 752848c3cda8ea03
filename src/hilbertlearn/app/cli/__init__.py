"""The command ``hilbertlearn``: tables in, models, predictions and pages out.

Commands only call ``tabular`` and ``report``. ``run.py`` is the only place that turns errors into exit codes (0 fine, 1
unexpected failure, 2 bad input, 130 interrupted) and one line on standard error.
"""

from __future__ import annotations

import sys

from .run import run

__all__ = ["main"]


def main(argv=None):
    """Run the command with the arguments of the process, or with ``argv``; ends the process with the exit code."""
    sys.exit(run(sys.argv[1:] if argv is None else list(argv)))
