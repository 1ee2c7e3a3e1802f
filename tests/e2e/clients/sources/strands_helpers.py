"""A module with a tool of Strands, which programs give to an agent as a module."""

from strands import tool


@tool
def count_words(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())
