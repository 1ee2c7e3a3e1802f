"""Kill a bubblewrap that has not begun yet; its child would outlive it otherwise."""

import os
import signal
import subprocess
from contextlib import suppress

from sidecall.kernel.executors.process.descendants import children_of

_PATIENCE = 1.0


def end_early(process: subprocess.Popen[bytes]) -> None:
    """Kill it and its child, which it may be creating."""
    if process.poll() is None:
        with suppress(ProcessLookupError, ChildProcessError):
            # Once it is stopped, it either has a child, which can be found, or will never have one.
            os.kill(process.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            children = children_of(process.pid)
            for pid in children:
                os.kill(pid, signal.SIGKILL)
            if children:  # Which it reaps, and ends.
                os.kill(process.pid, signal.SIGCONT)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_PATIENCE)
    process.kill()
    process.wait()
