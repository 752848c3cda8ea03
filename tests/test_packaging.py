"""The distribution: it builds, is well described, and works once installed elsewhere."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "hilbertlearn"

for package in ("build", "twine", "hatchling"):
    pytest.importorskip(package, reason=f"{package} is not installed: pip install -e '.[test]'")


def run(*command, **options):
    """Standard output of a command, which must succeed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """The wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source


def test_metadata_is_accepted(distributions):
    assert run(sys.executable, "-m", "twine", "check", "--strict", *distributions).count("PASSED") == 2


def test_every_file_of_the_package_is_in_the_wheel(distributions):
    wheel, source = distributions
    files = [path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    wanted = {path.relative_to(SOURCE.parent).as_posix() for path in files}
    assert "hilbertlearn/py.typed" in wanted
    assert wanted <= set(zipfile.ZipFile(wheel).namelist())
    with tarfile.open(source) as archive:
        assert wanted <= {name.split("/src/", 1)[-1] for name in archive.getnames()}


def test_the_wheel_works_in_a_fresh_environment(distributions, tmp_path):
    """Dependencies are those of this environment; the package itself is the wheel's."""
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        distributions[0],
    )
    own = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (own / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    code = (
        "import hilbertlearn, numpy as np\n"
        "X = np.linspace(0, 1, 20)[:, None]\n"
        "model = hilbertlearn.OperatorKernelRegressor(gamma=1.0, alpha=1e-6).fit(X, np.sin(3 * X))\n"
        "assert abs(model.predict([[0.5]]) - np.sin(1.5)) < 1e-2\n"
        "print(hilbertlearn.__file__)"
    )
    assert Path(run(python, "-c", code, cwd=tmp_path, env=environment).strip()).is_relative_to(own)
