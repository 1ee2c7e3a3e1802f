"""What listings of tools ask of a provider's form: declarations, searches, and what its models misread."""

from sidecall.features.provider_formats.declarations import declare
from sidecall.features.provider_formats.lint import lint_tool
from sidecall.features.provider_formats.searches import find_search, list_deferred, render_deferred, render_search

__all__ = ["declare", "find_search", "lint_tool", "list_deferred", "render_deferred", "render_search"]
