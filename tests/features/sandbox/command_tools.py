"""Tools that are command lines."""

# mypy: disable-error-code="empty-body"

from typing import Annotated, Any

from sidecall import Secret, Workspace, tool


@tool(command=["wc", "-w", "<{text}"])
def count_words(text: str) -> int:
    """Count the words of a text."""


@tool(command=["python3", "-c", "import json, sys; print(json.dumps([sys.argv[1:], json.load(sys.stdin)]))", "{words}",
    "--key={key}", "{{{flag}}}", "--{left_out}"])  # fmt: skip
def show(
    words: list[str], key: int, flag: bool, rest: dict[str, int], more: str = "m", left_out: str | None = None
) -> Any:
    """Show what the command is given."""


@tool(command=["cat", "--", "{path}"])
def read_file(path: str, workspace: Workspace) -> str:
    """Read a file of the conversation."""


SEARCH = 'grep --line-number --max-count="$1" -- "$2" "$3" || [ $? -eq 1 ]'


@tool(command=["sh", "-c", SEARCH, "search", "{most}", "{pattern}", "{path}"])
def search_file(pattern: str, path: str, workspace: Workspace, most: int = 20) -> str:
    """Search a file of the conversation, as docs/sandbox.md has it."""


@tool(command=["echo", "{text}"])
def echo_any(text: str) -> Any:
    """Print a text, which may be anything."""


@tool(command=["echo", "{text}"])
def echo_number(text: str) -> int:
    """Print a text, which should be a number."""


@tool(command=["./say.sh", "{word}", "{key}"])
def say(word: str, key: Annotated[str, Secret("SAY_KEY")]) -> str:
    """Run a script that lies beside this file."""


@tool(command=["sleep", "60"], timeout=0.5)
def sleep() -> str:
    """Sleep."""


@tool(command=["yes"], timeout=10)
def print_much() -> str:
    """Print without end."""


@tool(command=["true", "{words}"])
def take(words: list[str]) -> str:
    """Take words, and say nothing."""
