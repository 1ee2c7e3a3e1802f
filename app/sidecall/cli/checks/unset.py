"""Find the secrets and providers that tools and upstream services need and that are not set."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping

from sidecall.features.credentials.server_secrets import list_missing, list_unknown_providers, secrets_in
from sidecall.features.mcp_client.entries import InvalidMcpServers, UpstreamEntry, read_entries
from sidecall.features.openapi_import.services import InvalidServices, ServiceEntry, read_services
from sidecall.kernel.core.injection import Secret, UserToken
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.lint import Finding
from sidecall.settings import Settings

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
        services = read_services(settings.openapi_services, os.environ)
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
