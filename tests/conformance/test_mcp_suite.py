"""The official conformance suite of MCP finds nothing to say but what is left out on purpose."""

import json
import platform
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bench.environments import ROOT
from tests.e2e.conftest import Serve

HERE = Path(__file__).parent / "mcp_suite"
INSTALLED = ROOT / ".venv-clients/mcp-suite"
MACHINE = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "")
NODE = INSTALLED / f"node_modules/node-linux-{MACHINE}/bin/node"
SUITE = INSTALLED / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
LEFT_OUT = [name for names in json.loads((HERE / "left_out.json").read_text()).values() for name in names]
# How many scenarios there are nothing to be said of.
CLEAN = {"2026-07-28": 23, "2025-11-25": 15}

Failures = dict[str, list[str]]


@pytest.fixture(scope="module")
def failures(start_server: Serve, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Failures]:
    """What fails in each scenario, by revision; both are tried at the same time."""
    installed = INSTALLED / "installed.json"
    if not installed.is_file() or installed.read_text() != (HERE / "package.json").read_text() or not NODE.is_file():
        pytest.skip("the suite is not installed: with npm, on Linux, scripts/install-mcp-suite gets it")
    server = start_server("--tools", str(HERE / "tools.py"))
    folder = tmp_path_factory.mktemp("suite")

    def find(revision: str) -> Failures:
        return find_failures(revision, f"{server.url}/mcp", folder / revision)

    with ThreadPoolExecutor() as threads:
        found = dict(zip(CLEAN, threads.map(find, CLEAN), strict=True))
    # The suite waits half a second for some answers: a machine that is busy has a second try.
    return {revision: find(revision) if list_unexplained(found[revision]) else found[revision] for revision in CLEAN}


def find_failures(revision: str, url: str, folder: Path) -> Failures:
    """Try what a revision requires."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [NODE, SUITE, "server", "--url", url, "--requirements", revision, "--output-dir", folder]
    subprocess.run(command, capture_output=True, timeout=100, check=False)
    return read_failures(folder)


def read_failures(folder: Path) -> Failures:
    """Read what was found: the failed checks of each scenario, those that cannot be tried among them."""
    found: Failures = {}
    for file in folder.glob("server-*/checks.json"):
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT.*$", "", file.parent.name)
        checks = [check for check in json.loads(file.read_text()) if check["status"] in ("SUCCESS", "FAILURE")]
        if checks:  # Some have nothing to try here, and say so.
            found[scenario] = [f"{scenario}/{check['id']}" for check in checks if check["status"] == "FAILURE"]
    return found


def list_unexplained(found: Failures) -> list[str]:
    """List the checks that failed, and are not left out."""
    kept = [checks for scenario, checks in found.items() if scenario not in LEFT_OUT]
    return [check for checks in kept for check in checks if check not in LEFT_OUT]


@pytest.mark.parametrize("revision", CLEAN)
def test_what_a_revision_requires_is_kept(failures: dict[str, Failures], revision: str) -> None:
    """But for what is left out."""
    found = failures[revision]

    assert list_unexplained(found) == []
    assert len([scenario for scenario, checks in found.items() if not checks]) == CLEAN[revision]


def test_nothing_is_left_out_that_is_kept(failures: dict[str, Failures]) -> None:
    """The list of what is left out is no longer than it has to be."""
    failed = {name for found in failures.values() for name, checks in found.items() if checks}
    failed |= {check for found in failures.values() for checks in found.values() for check in checks}

    assert [name for name in LEFT_OUT if name not in failed] == []
