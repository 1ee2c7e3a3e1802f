"""Find the secrets and providers that tools need and that are not set."""

from collections.abc import Iterable, Iterator

from sidecall.core.tool import CompiledTool
from sidecall.schema.lint import Finding
from sidecall.secrets import list_missing, list_unknown_providers, secrets_in
from sidecall.settings import Settings


def find_unset(settings: Settings, tools: Iterable[CompiledTool]) -> Iterator[Finding]:
    """Name the secrets that are not set, and the providers that SIDECALL_OAUTH lacks."""
    secrets = secrets_in(settings.secrets_dir)
    where = f"neither as a variable nor as a file in {settings.secrets_dir}"
    for tool in tools:
        for name in list_missing(tool, secrets, required=True):
            yield Finding(tool.name, "warning", f"needs the secret {name}, which is not set, {where}")
        for name in list_missing(tool, secrets, required=False):
            yield Finding(tool.name, "note", f"takes the secret {name}, which is not set, {where}")
        for provider in list_unknown_providers(tool, settings.providers):
            yield Finding(tool.name, "warning", f"takes a token of {provider}, which SIDECALL_OAUTH lacks")
