"""Virtual environments of the peers, each made once from exact pins."""

import compileall
import hashlib
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[1]
PEERS = ROOT / "bench" / "peers"
# Inside the project's own environment, so that it goes with it and nothing that walks the sources finds it.
HOME = ROOT / ".venv" / "bench"


class Unavailable(Exception):
    """A row cannot be measured here; the message says why."""


def compile_sources() -> None:
    """Compile the project and its dependencies to bytecode, so that the first start does not pay for it."""
    for folder in (*(ROOT / name for name in ("app", "bench", "tools")), Path(sysconfig.get_path("purelib"))):
        compileall.compile_dir(folder, quiet=2)


def python_of(peer: str) -> str:
    """Return the Python of a peer's environment, which is made when it is missing or its pins have changed.

    Raises:
        Unavailable: Its packages cannot be installed.
    """
    pins = PEERS / f"{peer}.txt"
    folder = HOME / peer
    python = folder / "bin" / "python"
    made_of = folder / "made-of"
    wanted = hashlib.sha256(pins.read_bytes() + sys.version.encode()).hexdigest()
    if not made_of.exists() or made_of.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        _run(sys.executable, "-m", "venv", str(folder))
        _run(str(python), "-m", "pip", "install", "--quiet", "--requirement", str(pins))
        made_of.write_text(wanted)
    return str(python)


def version_of(peer: str) -> str:
    """Return the version of the peer itself that its pins name."""
    found = re.search(rf"^{re.escape(peer)}==(\S+)$", (PEERS / f"{peer}.txt").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"could not be installed: {reason_in(done.stderr or done.stdout)}")


def reason_in(output: str) -> str:
    """Pick the line that says what went wrong, without addresses and paths of the machine."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"(ERROR:|[\w.]*(Error|Exception)\b)", line)]
    line = (telling or lines or ["it said nothing"])[-1]
    return re.sub(r"\w+://\S+|(?<!\w)/\S+", "…", line)[:200]
