"""sidecall check: report what models and providers will reject or misread."""

import shutil
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from sidecall.cli.checks.blocking import find_blocking
from sidecall.cli.checks.unset import find_unread, find_unset, find_unset_elsewhere
from sidecall.cli.tools import estimate_tokens
from sidecall.compat.cli import find_unmet
from sidecall.features.sandbox.bubblewrap import PATH
from sidecall.kernel.executors.process.finder import Finder
from sidecall.kernel.executors.process.home import find_unfit
from sidecall.kernel.registry import Registry
from sidecall.kernel.schema.lint import Finding, lint
from sidecall.later import Later
from sidecall.loading.offers import tools_of
from sidecall.loading.skipped_tools.find import Omission
from sidecall.settings import Settings
from sidecall.terminal.console import make_console
from sidecall.terminal.options import Toolkits, Tools, explain_emptiness, load_registry, read_settings, write_count

if TYPE_CHECKING:
    from sidecall.features.contract import cli as _contract
    from sidecall.features.toolsets import toolsets as _toolsets
else:
    _contract = Later("sidecall.features.contract.cli")
    _toolsets = Later("sidecall.features.toolsets.toolsets")

_COLORS = {"error": "red", "warning": "yellow", "note": "dim"}


def _find_all(settings: Settings, registry: Registry, omissions: Iterable[Omission]) -> list[Finding]:
    omitted = [Finding(omission.place, "warning", omission.text) for omission in omissions]
    places = {finding.tool for finding in omitted}
    return [
        *lint(list(registry)),
        *find_blocking(registry),
        *omitted,
        *(finding for finding in find_unmet(registry) if finding.tool not in places),
        *find_unread(settings.places),
        *_check_toolsets(settings, registry),
        *_check_programs(registry),
        *find_unset(settings, registry),
        *find_unset_elsewhere(settings),
        *_check_emptiness(settings, registry),
        *(
            Finding(tool.name, "error", f"cannot have executor='process': {reason}")
            for tool, reason in find_unfit(registry, Finder(tools_of))
        ),
    ]


def _check_emptiness(settings: Settings, registry: Registry) -> list[Finding]:
    lack = explain_emptiness(settings, registry)
    return [] if lack is None else [Finding(",".join(settings.places), "error", lack)]


def _check_toolsets(settings: Settings, registry: Registry) -> list[Finding]:
    if settings.toolsets is None:
        return []
    tags = {tool.name: tool.options.tags for tool in registry}
    unmet = _toolsets.read_toolsets(settings.toolsets).find_unmet(tags)
    return [Finding("SIDECALL_TOOLSETS", "warning", text) for text in unmet]


def _check_programs(registry: Registry) -> Iterator[Finding]:
    for tool in registry:
        command = tool.options.command
        word = "" if command is None else command.words[0]
        if word and not word.startswith("./") and "{" not in word and shutil.which(word, path=PATH) is None:
            yield Finding(tool.name, "warning", f"runs `{word}`, which is not here: its sandbox looks in {PATH}")


def _write_finding(finding: Finding) -> Text:
    level = f"{finding.level:7}", _COLORS[finding.level]
    return Text.assemble(level, " ", (finding.tool, "cyan"), f" {finding.message}")


def _write_tokens(counted: tuple[str, int]) -> Text:
    name, count = counted
    return Text.assemble(("tokens ", "dim"), " ", (name, "cyan"), f" about {count}")


def check(
    tools: Tools = None,
    toolkits: Toolkits = None,
    lock: Annotated[bool, typer.Option("--lock", help="Say what has changed since `sidecall lock`, too.")] = False,
) -> None:
    """Check every tool for missing descriptions, types a provider refuses, names too alike and what stops the start.

    The exit code is 1 when there is an error; warnings and notes leave it 0. Tokens of definitions are estimated.
    With --lock it is 1, too, when a change breaks callers, and 3 when there are other changes only.
    """
    settings: Settings = read_settings(tools=tools, toolkits=toolkits)
    omissions: list[Omission] = []
    registry = load_registry(settings, omissions.append)
    findings = _find_all(settings, registry, omissions)
    console = make_console(soft_wrap=True)
    errors = sum(finding.level == "error" for finding in findings)
    tokens = {tool.name: estimate_tokens(tool) for tool in registry}
    if lines := [*map(_write_finding, findings), *map(_write_tokens, tokens.items())]:
        console.print(Text("\n").join(lines))  # At once: a line alone takes four times as long.
    console.print(
        f"{write_count(len(registry), 'tool')}, {write_count(errors, 'error')},"
        f" {len(findings) - errors} warnings and notes,"
        f" about {sum(tokens.values())} tokens"
    )
    changes = _contract.compare_with_lock(registry) if lock else []
    if lock:
        _contract.print_changes(changes, console)
    raise typer.Exit(1 if errors else _contract.find_exit_code(changes) if changes else 0)
