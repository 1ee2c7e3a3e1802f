"""Start a real server without each feature that may be off, and call a tool: `make check-features`.

What needs the feature is off as well. With `--suites` tests run without it, too: of the files that name nothing of it,
a share that differs from feature to feature, so that each file runs about once in all. `--share=1` runs every file,
`--share=4` each fourth. Names of features choose some. With `--record` each row is written into
bench/results/features.md once it is there, where others stay.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

import httpx

from bench.environments import ROOT, Unavailable
from sidecall.composition.features import load_features
from sidecall.composition.requirements import find_dependent
from sidecall.feature import Feature
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
`ARGS="--suites --record"` tests run without it, too: of the files that name nothing of it, a share that differs from
feature to feature. A test whose tool or setting asks for what is off is skipped; one that fails is named.

| off | starts, is ready, runs a tool | tests without it |
|---|---|---|
"""
# Those of single parts, and of servers as processes; the others look at the whole, with all its features.
_SUITES = (
    "kernel", "http", "rest", "compiler", "authoring", "features", "cli", "client", "compat", "loading", "server",
    "storage", "terminal", "testing", "tools",
)  # fmt: skip
# They print all that is set, and so what is off.
_OF_ALL_SETTINGS = ("tests/cli/test_settings.py", "tests/e2e/test_settings.py")
_SHARE = 28
NOT_RUN = "not run"
_HOLE = re.compile(r"\{[^}]*\}")
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


def choose_tests(off: frozenset[str], share: int) -> list[str]:
    """Return the files of a share of the tests, without those that name something of these features."""
    named = name_parts([it for it in load_features(use_entry_points=False) if it.name in off])
    out = (*_OF_ALL_SETTINGS, *(f"tests/features/{name}/" for name in off))
    files = (file for suite in _SUITES for file in (ROOT / "tests" / suite).rglob("test_*.py"))
    paths = sorted(str(file.relative_to(ROOT)) for file in (*files, *(ROOT / "tests/e2e").glob("test_*.py")))
    chosen = (it for it in paths if not it.startswith(out) and crc32(f"{sorted(off)} {it}".encode()) % share == 0)
    return [it for it in chosen if not named.search((ROOT / it).read_text())]


def name_parts(features: Iterable[Feature]) -> re.Pattern[str]:
    """Return what is found where something of these features is used: modules, paths, options, settings, methods."""
    found: list[str] = []
    for it in features:
        found += [rf"features[./]{it.name}\b", rf"SIDECALL_{it.name.upper()}\b"]
        paths = (re.escape(route.path).replace(r"\{", "{").replace(r"\}", "}") for route in it.routes)
        found += [_HOLE.sub(r"[^/\\s]+", path) for path in paths if path != "/"]
        found += [rf"\b{name}[ \"']*[=:]" for name in (*it.options, *it.settings_off)]
        found += [rf"[\"']{re.escape(name)}[\"']" for name in (*it.mcp_methods, *it.commands, *it.executors)]
    return re.compile("|".join(found))


def run_suites(off: frozenset[str], share: int) -> str:
    """Run tests without these features; return how many passed, of how many files, and which failed."""
    files = choose_tests(off, share)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "trials.refused_starts", *files],
        cwd=ROOT,
        env={**os.environ, "SIDECALL_FEATURES_OFF": ",".join(sorted(off))},
        capture_output=True,
        text=True,
        check=False,
    )
    said = [*run.stdout.splitlines(), "nothing"][-2]
    failed = "".join(f"<br>`{name}`" for name in _FAILED.findall(run.stdout))
    return f"{', '.join(_SUMMARY.findall(said))} in {len(files)} files{failed}"


def record(rows: Iterable[tuple[str, str, str]]) -> None:
    """Write rows into the page; tests that were not run now stay as they were recorded."""
    page = ROOT / "bench/results/features.md"
    before = [line.strip("| \n").split(" | ") for line in page.read_text().splitlines() if line.startswith("| `")]
    there = {_name(off) for off in list_switchable()}
    known = {off: (served, *(tested or (NOT_RUN,))) for off, served, *tested in before if off in there}
    for off, served, tested in rows:
        known[off] = (served, known[off][1] if tested == NOT_RUN and off in known else tested)
    page.write_text(_HEAD + "".join(f"| {off} | {served} | {tested} |\n" for off, (served, tested) in known.items()))


def _name(off: frozenset[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(off))


def try_all(chosen: Sequence[str], share: int | None, *, is_recorded: bool) -> bool:
    """Try all, or those that are chosen; print a row of each, and return whether all is well."""
    is_well = True
    for off in list_switchable():
        if chosen and off.isdisjoint(chosen):
            continue
        with TemporaryDirectory() as folder:
            served = try_without(off, Path(folder))
        tested = NOT_RUN if share is None else run_suites(off, share)
        is_well = is_well and served == "yes" and "`" not in tested
        row = _name(off), served, tested
        print(*row, sep=" | ", flush=True)
        if is_recorded:
            record([row])
    return is_well


def main() -> None:
    """Read what is asked for, and end with 1 where something is not well."""
    asked = sys.argv[1:]
    shares = [int(it.removeprefix("--share=")) for it in asked if it.startswith("--share=")]
    share = (shares or [_SHARE])[-1] if "--suites" in asked or shares else None
    if not try_all([it for it in asked if not it.startswith("--")], share, is_recorded="--record" in asked):
        sys.exit(1)


if __name__ == "__main__":
    main()
