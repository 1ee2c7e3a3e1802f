"""Sandboxes for tests: where the machine forbids them, tests are skipped; and a machine that does."""

import asyncio
import os
import sys
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest

from sidecall.features.sandbox.detection import SandboxSupport, open_sandbox
from sidecall.kernel.ports.sandbox import SandboxLimits

LIMITS = SandboxLimits(memory_mb=256)
# What Docker's default profile allows to nobody without capabilities, of what is known here.
REFUSED = (
    *("acct", "add_key", "bpf", "clone", "delete_module", "finit_module", "fsconfig", "fsmount", "fsopen", "fspick"),
    *("init_module", "kcmp", "kexec_load", "keyctl", "mount", "mount_setattr", "move_mount", "open_by_handle_at"),
    *("open_tree", "perf_event_open", "pidfd_getfd", "pivot_root", "process_madvise", "quotactl", "reboot"),
    *("request_key", "setdomainname", "sethostname", "setns", "swapoff", "swapon", "syslog", "umount2", "unshare"),
    "userfaultfd",
)
# Be in such a container, and run a program there.
_CONTAINED = """
import sys, os
from sidecall.features.sandbox.landlock import filter_calls, give_up_privileges
from sidecall.features.sandbox.seccomp import CONFINED, build_filter
refused = set(sys.argv[1].split(","))
give_up_privileges()
conditions = {"clone": CONFINED["clone"]} if "clone" in refused else {}
filter_calls(build_filter(sorted(refused - {"clone"}), conditions=conditions))
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""


@cache
def open_once() -> SandboxSupport:
    """Return what sandboxes are made with, found out once; without it a test is skipped.

    In CI only where the machine forbids it: what can be installed has been.
    """
    with ThreadPoolExecutor(1) as thread:  # Where no event loop runs.
        opened = thread.submit(asyncio.run, open_sandbox(LIMITS)).result()
    if opened.backend is None:
        missing = f"there is no sandbox: {opened.report.reason}"
        if os.environ.get("CI") == "true" and "not installed" in missing:
            pytest.fail(missing)
        pytest.skip(missing)
    return opened


def contained(*arguments: str, python: str = sys.executable, allowed: Collection[str] = ()) -> list[str]:
    """Return the command that runs Python with these arguments as in a container, where namespaces are forbidden.

    But for the system calls that are `allowed` there, as by a profile of the operator's own.
    """
    return [python, "-c", _CONTAINED, ",".join(name for name in REFUSED if name not in allowed), *arguments]
