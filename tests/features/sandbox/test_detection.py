"""The strongest kind of sandbox is found out by trying, and where there is none it is said why."""

import asyncio
import importlib.util
import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from bench.environments import ROOT
from sidecall.features.sandbox import bubblewrap
from sidecall.features.sandbox.detection import NoSandbox, open_bubblewrap
from sidecall.features.sandbox.landlock import NEEDED, read_version
from sidecall.kernel.ports.sandbox import SandboxLimits
from tests.features.sandbox.machine import contained, open_once
from tests.features.sandbox.plain_user import as_plain_user

CHECKS = [
    ("it writes nothing outside", True, ""),
    ("it reaches no network", True, ""),
    ("it sees no environment", True, ""),
    ("its processes are bounded", True, ""),
    ("its memory is bounded", True, ""),
    ("it ends at its deadline", True, ""),
]
REPORT = """
import asyncio, json
from dataclasses import asdict
from sidecall.kernel.ports.sandbox import SandboxLimits
from sidecall.features.sandbox.detection import open_sandbox
print(json.dumps(asdict(asyncio.run(open_sandbox(SandboxLimits())).report)))
"""


def test_all_that_must_not_succeed_is_tried() -> None:
    """Before anything relies on it."""
    report = open_once().report

    assert report.profile == "bubblewrap"
    assert [(check.name, check.passed, check.found) for check in report.checks] == CHECKS


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 1", "{bwrap} does not run (`--version` fails)"),
        ("echo bubblewrap 0.4.1", "{bwrap} is of version 0.4"),
        (None, "bubblewrap is not installed"),
    ],
)
def test_why_no_bubblewrap_is_used_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, said: str
) -> None:
    """One that is there and of no use is not called missing."""
    monkeypatch.setattr(bubblewrap, "PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    program = tmp_path / "bwrap"
    if script is not None:
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    with pytest.raises(LookupError) as caught:
        bubblewrap.find_program()

    assert said.format(bwrap=program) in str(caught.value)


async def test_a_bubblewrap_that_takes_its_time_holds_up_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked for its version beside what goes on."""
    monkeypatch.setattr(bubblewrap, "PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    program, answer = tmp_path / "bwrap", tmp_path / "answer"
    os.mkfifo(answer)
    program.write_text(f"#!/bin/sh\nread said <{answer}\necho $said\n")
    program.chmod(0o755)

    opening = asyncio.create_task(open_bubblewrap(SandboxLimits()))
    while not opening.done():
        await asyncio.sleep(0.01)
        with suppress(OSError):  # Nobody reads yet.
            descriptor = os.open(answer, os.O_WRONLY | os.O_NONBLOCK)
            os.write(descriptor, b"bubblewrap 0.4.1\n")
            os.close(descriptor)
            break

    with pytest.raises(NoSandbox, match=r"is of version 0\.4"):
        await opening


@pytest.mark.parametrize("most", [48, 64])
def test_a_server_that_may_open_few_files_has_a_sandbox(most: int) -> None:
    """Programs there may open as few: nobody may give them more."""
    open_once()
    script = f"import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, ({most}, {most}))\n{REPORT}"
    command = as_plain_user(sys.executable, "-c", script)
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")

    assert json.loads(done.stdout)["profile"] == "bubblewrap"


def test_where_namespaces_are_forbidden_there_are_no_commands() -> None:
    """Python alone runs with Landlock, and the reason says what is missing."""
    done = subprocess.run(contained("-c", REPORT), capture_output=True, text=True, check=True, cwd="/")
    report = json.loads(done.stdout)

    assert report["profile"] == ("landlock" if read_version() >= NEEDED else "none")
    assert "bubblewrap does not start" in report["reason"]
    assert "it needs user namespaces, which containers forbid by default, as docs/sandbox.md says" in report["reason"]


def test_a_container_that_allows_what_is_documented_has_commands() -> None:
    """No more system calls are needed than the profile of docs/deploy.md gives back."""
    open_once()
    [names] = re.findall(r"\.syscalls \+= \[\{names: (\[[^]]*\])", (ROOT / "docs" / "deploy.md").read_text())
    command = as_plain_user(*contained("-c", REPORT, allowed=json.loads(names)))
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")

    assert json.loads(names) == ["clone", "mount", "pivot_root", "sethostname", "umount2", "unshare"]
    assert json.loads(done.stdout)["profile"] == "bubblewrap"


def test_a_python_that_is_closed_in_is_whole() -> None:
    """The emulated container itself hinders no other program."""
    done = subprocess.run(contained("-c", "print(6 * 7)"), capture_output=True, text=True, check=True, cwd="/")

    assert (done.stdout, sys.version_info >= (3, 11)) == ("42\n", True)
