"""The variables of the environment that programs in tool processes see."""

import re
from collections.abc import Mapping, Sequence
from fnmatch import translate
from functools import cache

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
