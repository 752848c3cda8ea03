"""Additional peak memory of a fit, in Gram matrices: 2.5 with Cholesky factors, 4.5 with eigh.

Each fit runs in a separate process, because the peak of a process never falls.
"""

import subprocess
import sys

from .timing import report

FIT = """
import re, sys
from pathlib import Path
import numpy as np
from hilbertlearn import FunctionalRegressor
from hilbertlearn.spaces import Fourier

def peak():  # in kilobytes, on Linux; getrusage would begin with the peak of the parent process
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

n, space = int(sys.argv[1]), {"cholesky": Fourier(20), "eigh": "grid"}[sys.argv[2]]
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(n, 5)), rng.normal(size=(n, 50))
model = FunctionalRegressor(space=space, gamma=0.1, alpha=1e-3, solver="spectral")
model.fit(X[:60], Y[:60])  # whatever loads on first use
before = peak()
model.fit(X, Y)
print((peak() - before) * 1024 / (8 * n**2))
"""


def main(n=4000):
    for path, limit in [("cholesky", 2.5), ("eigh", 4.5)]:
        run = subprocess.run([sys.executable, "-c", FIT, str(n), path], capture_output=True, text=True, check=True)
        report("memory", "one Gram matrix of float64", path=path, ratio=float(run.stdout), at_most=limit)


if __name__ == "__main__":
    main()
