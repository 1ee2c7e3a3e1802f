"""sidecall check: report what models and providers will reject or misread."""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from sidecall.cli.blocking_calls import find_blocking
from sidecall.cli.tools import estimate_tokens
from sidecall.compat.cli import find_unmet
from sidecall.features.contract.cli import compare_with_lock, find_exit_code, print_changes
from sidecall.features.credentials.server_secrets import list_missing, list_unknown_providers, secrets_in
from sidecall.features.mcp_client.mcp_json import InvalidMcpServers, UpstreamEntry, read_entries
from sidecall.features.openapi_import.services import InvalidServices, ServiceEntry, read_services
from sidecall.features.processes.finder import Finder
from sidecall.features.processes.tool_location import find_unfit
from sidecall.features.provider_formats.lint import lint
from sidecall.features.toolsets.toolset_file import read_toolsets
from sidecall.kernel.core.injection import Secret, UserToken
from sidecall.kernel.core.tool import CompiledTool, Finding
from sidecall.kernel.ports.sandbox import PATH
from sidecall.kernel.registry import Registry
from sidecall.loading.collect import tools_of
from sidecall.loading.discovery import resolve_place
from sidecall.loading.skipped_tools import Omission
from sidecall.settings import Settings
from sidecall.terminal.console import make_console
from sidecall.terminal.options import Toolkits, Tools, explain_emptiness, load_registry, read_settings, write_count

_SERVICES, _SERVERS = "SIDECALL_OPENAPI_SERVICES", "SIDECALL_MCP_SERVERS"


def find_unset(settings: Settings, tools: Iterable[CompiledTool]) -> Iterator[Finding]:
    """List the secrets that are not set, and the providers that SIDECALL_OAUTH lacks."""
    secrets = secrets_in(settings.secrets_dir)
    where = f"neither as a variable nor as a file in {settings.secrets_dir}"
    for tool in tools:
        for name in list_missing(tool, secrets, required=True):
            yield Finding(tool.name, "warning", f"needs the secret {name}, which is not set, {where}")
        for name in list_missing(tool, secrets, required=False):
            yield Finding(tool.name, "note", f"takes the secret {name}, which is not set, {where}")
        for provider in list_unknown_providers(tool, settings.providers):
            yield Finding(tool.name, "warning", f"takes a token of {provider}, which SIDECALL_OAUTH lacks")


def find_unset_elsewhere(settings: Settings) -> Iterator[Finding]:
    """List what OpenAPI services and MCP servers lack; settings that stop the start are errors.

    Their documents and tools are not requested.
    """
    try:
        named = settings.openapi_services
        services = {} if named is None else read_services(named, os.environ)
    except InvalidServices as error:
        services = {}
        yield Finding(_SERVICES, "error", _shorten(error.message, _SERVICES))
    try:
        servers = {} if settings.mcp_servers is None else read_entries(settings.mcp_servers, os.environ)
    except InvalidMcpServers as error:
        servers = {}
        yield Finding(_SERVERS, "error", _shorten(error.message, _SERVERS))
    yield from _check_services(settings, services)
    yield from _check_servers(settings, servers)


def _shorten(text: str, setting: str) -> str:
    """Remove the setting's name from the text, since it is printed before it."""
    return text.removeprefix(setting).lstrip(" ,:")


def _check_services(settings: Settings, services: Mapping[str, ServiceEntry]) -> Iterator[Finding]:
    secrets = secrets_in(settings.secrets_dir)
    for name, entry in services.items():
        credentials = entry.auth.values() if isinstance(entry.auth, Mapping) else (entry.auth,)
        lacks = (_find_lack(credential, settings, secrets) for credential in credentials)
        for lack in dict.fromkeys(filter(None, lacks)):
            yield Finding(_SERVICES, "warning", f"the service {name!r} {lack}")


def _find_lack(credential: object, settings: Settings, secrets: Callable[[str], str | None]) -> str | None:
    if isinstance(credential, Secret) and secrets(credential.name) is None:
        where = f"neither as a variable nor as a file in {settings.secrets_dir}"
        return f"needs the secret {credential.name}, which is not set, {where}"
    if isinstance(credential, UserToken) and credential.provider not in settings.providers:
        return f"takes a token of {credential.provider}, which SIDECALL_OAUTH lacks"
    return None


def _check_servers(settings: Settings, servers: Mapping[str, UpstreamEntry]) -> Iterator[Finding]:
    if settings.secrets_keys:
        return
    for name, entry in servers.items():
        for secret in entry.caller_headers.secrets:
            lack = "who can keep none, since there is no SIDECALL_SECRETS_KEY"
            yield Finding(_SERVERS, "warning", f"the server {name!r} needs the secret {secret} of its caller, {lack}")


# Deeper, and beyond so many, lies something else than tools.
_MOST_FILES = 500

_DEPTH = 4

_MAKES_TOOLS = re.compile(
    r"^\s*from\s+(?:sidecall|langchain(?:_core)?(?:\.tools)?|agents)\s+import\s+(?:\([^)]*?|[^\n(]*?)"
    r"\b(?:tool|BaseTool|StructuredTool|function_tool|BaseToolkit|Tool)\b"
    r"|^\s*@sidecall\.tool\b",
    re.MULTILINE,
)


def find_unread(places: Iterable[str]) -> list[Finding]:
    """List the files in these folders that import tool decorators or classes, and were not loaded."""
    folders = [path for place in places if (path := Path(resolve_place(place)).resolve()).is_dir()]
    found = {file: None for folder in folders for file in _list_below(folder) if _makes_tools(file)}
    if not found:  # As mostly, so that no module's file needs to be looked for.
        return []
    loaded = {os.path.realpath(file) for it in list(sys.modules.values()) if (file := getattr(it, "__file__", None))}
    return [_make_finding(file) for file in found if str(file) not in loaded]


def _make_finding(file: Path) -> Finding:
    shown = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
    text = f"is not looked at: of a folder, the files directly in it are. Name its folder, too: --tools {shown.parent}"
    return Finding(str(shown), "warning", text)


def _list_below(folder: Path) -> Iterator[Path]:
    """List public files in subfolders."""
    left = _MOST_FILES
    for name, folders, files in os.walk(folder):
        here = Path(name)
        depth = len(here.relative_to(folder).parts)
        folders[:] = sorted(it for it in folders if depth < _DEPTH and _is_public(it) and not _is_foreign(here / it))
        for file in sorted(files) if depth else ():
            left -= 1
            if left < 0:
                return
            if file.endswith(".py") and _is_public(file):
                yield here / file


def _is_public(name: str) -> bool:
    return not name.startswith((".", "_", "test_", "conftest")) and name not in ("tests", "node_modules")


def _is_foreign(folder: Path) -> bool:
    return folder.name in ("site-packages", "dist-packages") or (folder / "pyvenv.cfg").exists()


def _makes_tools(file: Path) -> bool:
    try:
        return _MAKES_TOOLS.search(file.read_text()) is not None
    except (OSError, ValueError):
        return False


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
    unmet = read_toolsets(settings.toolsets).find_unmet(tags)
    return [Finding("SIDECALL_TOOLSETS", "warning", text) for text in unmet]


def _check_programs(registry: Registry) -> Iterator[Finding]:
    for tool in registry:
        command = tool.options.command
        word = "" if command is None else command.words[0]
        if not word or word.startswith("./") or "{" in word:
            continue
        path = PATH
        if shutil.which(word, path=path) is None:
            yield Finding(tool.name, "warning", f"runs `{word}`, which is not here: its sandbox looks in {path}")


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
    changes = compare_with_lock(registry) if lock else []
    if lock:
        print_changes(changes, console)
    raise typer.Exit(1 if errors else find_exit_code(changes) if changes else 0)
