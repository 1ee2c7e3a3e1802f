"""Start a real server without each feature that may be off, and call a tool: `make check-features`.

What needs the feature is off as well. With `--record` the rows are written into bench/results/features.md.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from bench.environments import ROOT, Unavailable
from sidecall.composition.features import load_features
from sidecall.composition.requirements import find_dependent
from tests.kit.servers import end, start

_TOOLS = '''from sidecall import tool

@tool
def double(number: int) -> int:
    """Double a number."""
    return 2 * number
'''
_HEAD = """# Servers without a feature

<!-- Written by `make check-features ARGS=--record`. -->

A real server is started with each feature off that may be off, and with what needs it, and runs a tool.

| off | starts, is ready, runs a tool |
|---|---|
"""


def list_switchable() -> Iterator[frozenset[str]]:
    """Yield what is off together: each feature that may be off, with those that need it."""
    features = load_features(use_entry_points=False)
    fixed = {feature.name for feature in features if not feature.can_be_off}
    for feature in features:
        off = find_dependent(features, feature.name)
        if off.isdisjoint(fixed):
            yield off


def try_without(off: frozenset[str], folder: Path) -> str:
    """Start a server and call its tool; return `yes`, or what went wrong."""
    (folder / "double.py").write_text(_TOOLS)
    environment = {"SIDECALL_FEATURES_OFF": ",".join(sorted(off)), "SIDECALL_ENTRY_POINTS": "false"}
    try:
        server = start(folder, "--tools", str(folder / "double.py"), environment=environment)
    except Unavailable as error:
        return str(error)
    try:
        with httpx.Client(base_url=server.url, trust_env=False) as client:
            ready = client.get("/readyz").status_code
            answer = client.post("/tool_calls", json={"name": "double", "args": {"number": 4}}).json()
        return "yes" if (ready, answer.get("content")) == (200, "8") else f"no: {ready}, {answer}"
    finally:
        end(server.process)


def main() -> None:
    """Try all, print a row of each, and record them if that is wanted."""
    rows = []
    for off in list_switchable():
        with TemporaryDirectory() as folder:
            rows.append(f"| {', '.join(f'`{name}`' for name in sorted(off))} | {try_without(off, Path(folder))} |\n")
        print(rows[-1], end="", flush=True)
    if "--record" in sys.argv[1:]:
        (ROOT / "bench/results/features.md").write_text(_HEAD + "".join(rows))
    if not all(row.endswith("| yes |\n") for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
