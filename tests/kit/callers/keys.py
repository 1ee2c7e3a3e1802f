"""Callers with keys: a file of theirs, and the headers that each sends."""

from collections.abc import Mapping
from pathlib import Path

from sidecall.features.access.api_keys import KeyFile, mint_key


def write_keys(
    path: Path, callers: Mapping[str, tuple[str, ...]], tenant: str = "default"
) -> dict[str, dict[str, str]]:
    """Add keys for callers with these scopes to a file, and return the headers of each."""
    headers = {}
    for subject, scopes in callers.items():
        text, kept = mint_key(subject, tenant, scopes)
        KeyFile(path).change(lambda present, kept=kept: [*present, kept])  # type: ignore[misc]
        headers[subject] = {"Authorization": f"Bearer {text}"}
    return headers
