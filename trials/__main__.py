"""Do the worst to real servers, and report what held."""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from rich.console import Console
from rich.markdown import Markdown

from bench.environments import ROOT
from bench.machine import Cores, describe, raise_file_limit
from tests.kit.deployment import has_programs
from tests.kit.postgres import find_programs
from trials import (
    callers,
    contract,
    deadlines,
    fleet_days,
    fleet_pairs,
    fleet_workers,
    guesses,
    lifetimes,
    overload,
    report,
    schemathesis,
    series,
    soak,
    traces,
)
from trials.confined import agents, attacks, commands, pages, pythons, raced, viewing
from trials.durable import (
    drained,
    fleet,
    frozen,
    killed,
    long_history,
    notified,
    points,
    shared,
    store_outage,
    torn,
    webhook_after_kill,
    workers,
)
from trials.finding import Finding
from trials.hostile import (
    bombs,
    floods,
    framing,
    fuzz,
    held_up,
    loris,
    outputs,
    paged,
    stalls,
    two_tenants,
    unfetched,
    worst_mix,
)
from trials.proxied import draining
from trials.searching import docstrings, stores
from trials.soaking import long

Trial = Callable[[], Iterator[Finding]]
GROUPS: Mapping[str, Sequence[Trial]] = {
    "overload": (overload.run,),
    "callers": (callers.run, guesses.run, two_tenants.run),
    "deadlines": (deadlines.run,),
    "lifetimes": (lifetimes.run,),
    "hostile": (
        fuzz.run,
        framing.run,
        bombs.run,
        floods.run,
        unfetched.run,
        loris.run,
        stalls.run,
        worst_mix.run,
        outputs.run,
    ),
    "responsive": (held_up.run,),
    "console": (paged.run,),
    "observed": (schemathesis.run, contract.run, traces.run, series.run),
    "durable": (
        killed.run,
        points.run,
        torn.run,
        store_outage.run,
        shared.run,
        webhook_after_kill.run,
        drained.run,
        long_history.run,
        frozen.run,
    ),
    "confined": (commands.run, pythons.run, attacks.run, raced.run, viewing.run, pages.run, agents.run),
    "fleet": (fleet.run,),
    "fleet-workers": (fleet_workers.run, fleet_workers.run_on_servers),
    "fleet-days": (fleet_days.run, fleet_pairs.run),
    "proxied": (draining.run,),
    "soak": (soak.run,),
    "mixed": (long.run,),
    "workers": (workers.run,),
    "approvals-told": (notified.run,),
}
# Parts of groups that can be tried alone, on a smaller scale; a whole run leaves them out.
PARTS: Mapping[str, Sequence[Trial]] = {
    "searching": (docstrings.run, stores.run),
    "killed-on-postgres": (killed.run_on_postgres,),
    "frozen-on-postgres": (frozen.run_shortly,),
    "told-on-postgres": (webhook_after_kill.run_on_postgres,),
}
# A minute of them, in pytest.
SHORT: Mapping[str, Trial] = {
    "overload": overload.run_shortly,
    "callers": callers.run_shortly,
    "guesses": guesses.run_shortly,
    "two tenants": two_tenants.run_shortly,
    "deadlines": deadlines.run_shortly,
    "lifetimes": lifetimes.run_shortly,
    "fuzz": fuzz.run_shortly,
    "framing": framing.run_shortly,
    "bombs": bombs.run_shortly,
    "floods": floods.run_shortly,
    "unfetched": unfetched.run_shortly,
    "worst mix": worst_mix.run_shortly,
    "outputs": outputs.run_shortly,
    "held up": held_up.run_shortly,
    "contract": contract.run,
    "traces": traces.run_shortly,
    "series": series.run_shortly,
    "killed": killed.run_shortly,
    "points": points.run_shortly,
    "torn": torn.run_shortly,
    "store outage": store_outage.run_shortly,
    "webhook after kill": webhook_after_kill.run_shortly,
    "notified": notified.run_shortly,
    "workers": workers.run_shortly,
    **({} if find_programs() is None else {"shared": shared.run_shortly, "fleet": fleet.run_shortly}),
    **({} if not has_programs("nginx", "caddy") else {"proxied": draining.run_shortly}),
    "raced": raced.run_shortly,
    "commands": commands.run_shortly,
    "pythons": pythons.run_shortly,
    "viewing": viewing.run,
    "vector stores": stores.run_shortly,
    "attacks": attacks.run,
    "pages": pages.run,
    "agents": agents.run_shortly,
    "soak": soak.run_shortly,
    "mixed": long.run_shortly,
}
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
    known = {**GROUPS, **PARTS}
    found: dict[str, list[Finding]] = {}
    for name in options.only.split(",") if options.only else GROUPS:
        found[name] = []
        for finding in findings_of(name, known[name]):
            console.print(f"{name}: {finding.row}: {'met' if finding.is_met else 'missed'}: {finding.measured}")
            found[name].append(finding)
    recorded = RESULTS / "trials.md"
    text = report.markdown(found, _machine())
    Console().print(Markdown(text))
    whole = report.renew(recorded.read_text(), text, list(GROUPS)) if options.only and options.record else text
    _write(whole, record=options.record)
    return verdict([finding for findings in found.values() for finding in findings])


def findings_of(group: str, trials: Sequence[Trial]) -> Iterator[Finding]:
    """Run one group; a trial that breaks off is a finding too, and takes the rest of its group with it."""
    try:
        for trial in trials:
            yield from trial()
    except Exception as error:
        reason = f"broke off: {type(error).__name__}: {error}"
        yield Finding(group, "all trials of the group", "run to their ends", reason, holds=False)


def verdict(findings: Sequence[Finding]) -> int:
    """Return the exit code: 1 when something did not hold, or nothing was tried."""
    return int(not findings or not all(finding.is_met for finding in findings))


def _machine() -> dict[str, str]:
    known = describe(Cores(None, None))
    return {**{name: known[name] for name in _MACHINE}, "python": f"Python {known['python']}"}


def _write(text: str, *, record: bool) -> None:
    folder = RESULTS if record else RESULTS / ".work"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trials.md").write_text(text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m trials", description=__doc__)
    parser.add_argument("--only", help=f"some of these, separated by commas: {','.join((*GROUPS, *PARTS))}")
    parser.add_argument(
        "--record",
        action="store_true",
        help="write to bench/results/trials.md; groups that were not run keep what they have there",
    )
    options = parser.parse_args()
    unknown = [name for name in (options.only or "").split(",") if name and name not in {**GROUPS, **PARTS}]
    if unknown:
        parser.error(f"no such group: {', '.join(unknown)}")
    if options.record and PARTS.keys() & set((options.only or "").split(",")):
        parser.error("only whole groups are recorded")
    return options


if __name__ == "__main__":
    sys.exit(main())
