"""``import hilbertlearn`` against ``import sklearn.kernel_ridge`` in fresh processes: at most 1.15 times."""

import subprocess
import sys

from .timing import best_of, report


def main():
    def importing(name):
        return lambda: subprocess.run([sys.executable, "-c", f"import {name}"], check=True)

    names = ("hilbertlearn", "sklearn.kernel_ridge", "sys")
    t_ours, t_theirs, t_python = best_of(*map(importing, names), repeats=10)
    ratio = (t_ours - t_python) / (t_theirs - t_python)
    report("import_time", "import sklearn.kernel_ridge", ratio=ratio, at_most=1.15, seconds=t_ours - t_python)


if __name__ == "__main__":
    main()
