"""The executor of tool processes, made with the first tool that runs in one, and the variables that they see."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import translate
from functools import cache

from sidecall.kernel.executors.base import Executor
from sidecall.kernel.executors.table import ExecutorSettings, LateExecutor
from sidecall.later import later

_open_executor: Callable[..., Executor] = later("sidecall.features.processes.executor:ProcessExecutor")


def make_late_processes(settings: ExecutorSettings) -> LateExecutor:
    """Prepare the executor without starting it."""
    return LateExecutor(settings.processes, lambda: _make_executor(settings))


def _make_executor(settings: ExecutorSettings) -> Executor:
    return _open_executor(
        settings.processes,
        settings.tools_of,
        settings.memory_limit_mb,
        max_result_bytes=settings.max_result_bytes,
        traces=settings.traces,
        imports_once=settings.imports_once,
        env=choose_variables(os.environ, settings.process_env, traces=settings.traces is not None),
    )


# What programs need to be found, to find their files, to speak a language and to reach the network. None is a secret,
# but for what a proxy may want, without which nothing would reach it.
_NEEDED = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PWD",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "TMPDIR",
    "TEMP",
    "TMP",
    "XDG_*_DIR",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "DYLD_*",
    "MALLOC_*",
    "VIRTUAL_ENV",
    "PYTHON*",
    "COVERAGE_*",
    "SSL_CERT_*",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
)
# Where spans go, and what lets them in there.
_OF_TRACES = ("OTEL_*",)


def choose_variables(present: Mapping[str, str], more: Sequence[str] = (), *, traces: bool = False) -> dict[str, str]:
    """Select the variables that every program needs, and those that match more names or patterns."""
    chosen = _join((*_NEEDED, *more, *(_OF_TRACES if traces else ())))
    return {name: value for name, value in present.items() if chosen.match(name)}


@cache
def _join(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Join patterns into one, which is much faster."""
    return re.compile("|".join(map(translate, patterns)))
