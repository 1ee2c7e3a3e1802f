"""A whole server in this process, as the settings have it."""

from collections.abc import Iterable
from typing import Any

from sidecall import BaseTool, Registry
from sidecall.http.application import Application
from sidecall.main import create_app
from sidecall.settings import Settings


def make_app(tools: Iterable[BaseTool], /, **settings: Any) -> Application:
    """Build an application of these tools and settings."""
    return create_app(Settings(**settings), Registry(tools))
