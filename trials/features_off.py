"""Start a real server without each feature that may be off, and call a tool: `make check-features`.

What needs the feature is off as well. With `--suites` tests run without it, too: the kernel's of HTTP, REST and the
pipeline, and those of the three features that have most to do with it. Names of features choose some. With `--record`
the rows are written into bench/results/features.md, where others stay.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
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

A real server is started with each feature off that may be off, and with what needs it, and runs a tool. With
`ARGS="--suites --record"` tests run without it, too: those of HTTP, REST and the pipeline, and those of the three
features that have most to do with it. Tests that ask for what is off are skipped or named.

| off | starts, is ready, runs a tool | tests without it |
|---|---|---|
"""
# Of the kernel, those that a feature could change.
_KERNEL = ("tests/kernel/http", "tests/kernel/rest", "tests/kernel/pipeline")
_NEIGHBORS = 3
NOT_RUN = "not run"
# What the calls of any feature's tools pass.
_MET_BY_ALL = ("approvals", "mcp_server", "calls")
_IMPORT = re.compile(r"^ *from sidecall\.features\.(\w+)", re.MULTILINE)
_SUMMARY = re.compile(r"\d+ (?:passed|failed|skipped|error)s?")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


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


def find_neighbors(off: frozenset[str]) -> list[str]:
    """Return the features that import most from these, or from which these import most; others where these are few."""
    counts: Counter[str] = Counter()
    for file in (ROOT / "app/sidecall/features").glob("*/**/*.py"):
        own = file.relative_to(ROOT / "app/sidecall/features").parts[0]
        imported = _IMPORT.findall(file.read_text())
        counts.update(imported if own in off else [own] * sum(name in off for name in imported))
    tested = {folder.name for folder in (ROOT / "tests/features").iterdir() if folder.is_dir()}
    found = dict.fromkeys((*(name for name, _ in counts.most_common()), *_MET_BY_ALL))
    return [name for name in found if name in tested - off][:_NEIGHBORS]


def run_suites(off: frozenset[str]) -> str:
    """Run tests without these features; return how many passed, and which failed."""
    folders = [*_KERNEL, *(f"tests/features/{name}" for name in find_neighbors(off))]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "trials.refused_starts", *folders],
        cwd=ROOT,
        env={**os.environ, "SIDECALL_FEATURES_OFF": ",".join(sorted(off))},
        capture_output=True,
        text=True,
        check=False,
    )
    said = [*run.stdout.splitlines(), "nothing"][-2]
    failed = "".join(f"<br>`{name}`" for name in _FAILED.findall(run.stdout))
    return ", ".join(_SUMMARY.findall(said)) + failed


def record(rows: Iterable[tuple[str, str, str]]) -> None:
    """Write rows into the page; tests that were not run now stay as they were recorded."""
    page = ROOT / "bench/results/features.md"
    before = [line.strip("| \n").split(" | ") for line in page.read_text().splitlines() if line.startswith("| `")]
    known = {off: (served, *(tested or (NOT_RUN,))) for off, served, *tested in before}
    for off, served, tested in rows:
        known[off] = (served, known[off][1] if tested == NOT_RUN and off in known else tested)
    page.write_text(_HEAD + "".join(f"| {off} | {served} | {tested} |\n" for off, (served, tested) in known.items()))


def main() -> None:
    """Try all, print a row of each, and record them if that is wanted."""
    asked = set(sys.argv[1:])
    chosen, rows, is_well = {it for it in asked if not it.startswith("--")}, [], True
    for off in list_switchable():
        if chosen and off.isdisjoint(chosen):
            continue
        with TemporaryDirectory() as folder:
            served = try_without(off, Path(folder))
        tested = run_suites(off) if "--suites" in asked else NOT_RUN
        is_well = is_well and served == "yes" and "`" not in tested
        rows.append((", ".join(f"`{name}`" for name in sorted(off)), served, tested))
        print(*rows[-1], sep=" | ", flush=True)
    if "--record" in asked:
        record(rows)
    if not is_well:
        sys.exit(1)


if __name__ == "__main__":
    main()
