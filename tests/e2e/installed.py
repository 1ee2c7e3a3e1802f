"""Sidecall as users have it: built into a wheel, and installed into an environment."""

import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.environments import ROOT

_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--isolated")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, offline, with the back end that is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([*_PIP, "wheel", "--quiet", *options, str(ROOT)], check=True, capture_output=True, text=True)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed_python(wheel: Path) -> Iterator[str]:
    """Install it into an environment that has our dependencies, but not our checkout; all users may read it."""
    with tempfile.TemporaryDirectory(prefix="sidecall-environment-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", made], check=True)
        python = folder / "bin" / "python"
        install = ["install", "--quiet", "--no-index", "--no-deps", str(wheel)]
        subprocess.run([*_PIP, "--python", str(python), *install], check=True)
        site = next(folder.glob("lib/python*/site-packages"))
        # A line in such a file goes on the path as it is; the files of the folder that it names are not read.
        (site / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
        yield str(python)
