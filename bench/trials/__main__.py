"""Do the worst to real servers, and say what held."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module

from rich.console import Console
from rich.markdown import Markdown

from bench.environments import ROOT
from bench.machine import Cores, describe, raise_file_limit
from bench.trials import report
from bench.trials.finding import Finding

GROUPS = ("overload", "callers", "deadlines", "lifetimes", "hostile", "observed", "soak")
RESULTS = ROOT / "bench" / "results"
# Of all that is known about the machine, what a reader of the figures needs.
_MACHINE = ("processor", "memory", "system")


def main() -> int:
    """Run the trials, print and write what they found; what is not recorded is written where git does not look.

    Returns 1 when something did not hold.
    """
    options = _options()
    raise_file_limit()
    console = Console(stderr=True)
    found: dict[str, list[Finding]] = {}
    for name in options.only.split(",") if options.only else GROUPS:
        found[name] = []
        for finding in findings_of(name):
            console.print(f"{name}: {finding.row}: {'met' if finding.holds else 'missed'}: {finding.measured}")
            found[name].append(finding)
    text = report.markdown(found, _machine())
    Console().print(Markdown(text))
    _write(text, record=options.record)
    return verdict([finding for findings in found.values() for finding in findings])


def findings_of(group: str) -> Iterator[Finding]:
    """Run one group; a trial that breaks off is a finding too, and takes the rest of its group with it."""
    try:
        yield from import_module(f"bench.trials.{group}").run()
    except Exception as error:
        said = f"broke off: {type(error).__name__}: {error}"
        yield Finding(group, "all trials of the group", "run to their ends", said, holds=False)


def verdict(findings: Sequence[Finding]) -> int:
    """Return the exit code: 1 when something did not hold, or nothing was tried."""
    return int(not findings or not all(finding.holds for finding in findings))


def _machine() -> dict[str, str]:
    known = describe(Cores(None, None))
    return {**{name: known[name] for name in _MACHINE}, "python": f"Python {known['python']}"}


def _write(text: str, *, record: bool) -> None:
    folder = RESULTS if record else RESULTS / ".work"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trials.md").write_text(text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.trials", description=__doc__)
    parser.add_argument("--only", help=f"some groups, separated by commas: {','.join(GROUPS)}")
    parser.add_argument("--record", action="store_true", help="write the report to bench/results/trials.md")
    options = parser.parse_args()
    unknown = [name for name in (options.only or "").split(",") if name and name not in GROUPS]
    if unknown:
        parser.error(f"no such group: {', '.join(unknown)}")
    if options.record and options.only:
        parser.error("only a whole run is recorded")
    return options


if __name__ == "__main__":
    sys.exit(main())
