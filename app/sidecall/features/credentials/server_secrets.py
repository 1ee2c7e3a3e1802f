"""Look up the server's secrets in the environment and in mounted files."""

import logging
import os
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from sidecall.kernel.core.tool import CompiledTool

logger = logging.getLogger("sidecall")


def secrets_in(folder: Path) -> Callable[[str], str | None]:
    """Return a function that finds a secret by name: an environment variable, else a file of this folder.

    Looked up at each call, since mounted files change when a secret is rotated. A trailing newline is not part of it.
    """

    def look_up(name: str) -> str | None:
        # Orchestrators set empty variables for missing values.
        if os.environ.get(name):
            return os.environ[name]
        try:
            return (folder / name).read_text(encoding="utf-8").rstrip("\r\n") or None
        except (OSError, ValueError):
            return None

    return look_up


def warn_of_missing(tools: Iterable[CompiledTool], secrets: Callable[[str], str | None]) -> None:
    """Log the tools that lack a secret."""
    for tool in tools:
        for name in list_missing(tool, secrets, required=True):
            logger.warning("tool %s needs the secret %s, which is not set", tool.name, name)


def list_missing(tool: CompiledTool, secrets: Callable[[str], str | None], *, required: bool) -> list[str]:
    """List the server's secrets that are not set: those that a tool needs, or the optional ones."""
    taken = (it for it in tool.injections if it.source == "secret" and it.of != "caller" and it.required is required)
    return list(dict.fromkeys(it.field for it in taken if it.field and secrets(it.field) is None))


def warn_of_unknown_providers(tools: Iterable[CompiledTool], providers: Collection[str]) -> None:
    """Log which tools need a provider that is not configured."""
    for tool in tools:
        for provider in list_unknown_providers(tool, providers):
            logger.warning("tool %s takes a token of %s, which SIDECALL_OAUTH lacks", tool.name, provider)


def list_unknown_providers(tool: CompiledTool, providers: Collection[str]) -> list[str]:
    """List the providers that a tool needs and that are not configured."""
    taken = (it.field or "" for it in tool.injections if it.source == "user_token")
    return [provider for provider in dict.fromkeys(taken) if provider not in providers]
