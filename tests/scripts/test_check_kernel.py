"""The kernel's tests can be run where there is nothing but the kernel."""

import os
import subprocess

from tests.kit.sources import ROOT

# Those that a call passes; all of them run with `make check-kernel`.
SOME = ("tests/kernel/pipeline/execution", "tests/rest/routes")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script with what is asked of pytest."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    command = [str(ROOT / "scripts/check-kernel"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_all_of_them_find_what_they_import() -> None:
    """A name that has moved into a feature would break each."""
    collected = run("--collect-only", "tests/kernel")

    assert collected.returncode == 0, collected.stdout


def test_some_of_them_pass() -> None:
    """The others take a minute."""
    passed = run(*SOME)

    assert passed.returncode == 0, passed.stdout
    assert " passed" in passed.stdout
