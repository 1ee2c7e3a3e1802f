"""Sandboxes for tests: where the machine forbids them, tests are skipped; and a machine that does."""

import asyncio
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest

from sidecall.core.run.sandbox import SandboxLimits
from sidecall.executors.sandbox.opening import Opened, open_sandbox

LIMITS = SandboxLimits(memory_mb=256)
# Be in a container such as Docker's, where namespaces are forbidden, and run a program there.
_CONTAINED = """
import sys, os
from sidecall.executors.sandbox.landlock import filter_calls, give_up_privileges
from sidecall.executors.sandbox.system_calls import CONFINED, build_filter
refused = ("unshare", "setns", "mount", "umount2", "pivot_root", "bpf", "keyctl", "add_key", "request_key",
    "pidfd_getfd", "process_madvise", "perf_event_open", "userfaultfd", "open_by_handle_at", "kexec_load")
give_up_privileges()
filter_calls(build_filter(refused, conditions={"clone": CONFINED["clone"]}))
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@cache
def open_once() -> Opened:
    """Return what sandboxes are made with, found out once; without it a test is skipped.

    In CI only where the machine forbids it: what can be installed has been.
    """
    with ThreadPoolExecutor(1) as thread:  # Where no event loop runs.
        opened = thread.submit(asyncio.run, open_sandbox(LIMITS)).result()
    if opened.means is None:
        missing = f"there is no sandbox: {opened.report.reason}"
        if os.environ.get("CI") == "true" and "not installed" in missing:
            pytest.fail(missing)
        pytest.skip(missing)
    return opened


def contained(*arguments: str, python: str = sys.executable) -> list[str]:
    """Return the command that runs Python with these arguments as in a container, where namespaces are forbidden."""
    return [python, "-c", _CONTAINED, *arguments]
