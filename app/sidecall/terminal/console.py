"""Print texts literally, with colors on terminals."""

import json
import sys
from typing import TYPE_CHECKING, Any

import typer
from pydantic_core import to_json
from rich.console import Console
from rich.highlighter import JSONHighlighter

if TYPE_CHECKING:
    import httpx


def print_json(data: Any, *, to_err: bool = False) -> None:
    """Print an indented JSON value, with colors on a terminal."""
    console = make_console(to_err=to_err)
    text = json.dumps(data, ensure_ascii=False, indent=2)
    console.print(JSONHighlighter()(escape(text) if console.is_terminal else text), soft_wrap=True)


def print_line(data: Any) -> None:
    """Print a JSON value in one line."""
    text = to_json(data)
    typer.echo(escape(text.decode()) if sys.stdout.isatty() else text)


def print_lines(response: "httpx.Response") -> None:
    """Print JSON Lines as they arrive."""
    if sys.stdout.isatty():
        for text in response.iter_text():
            sys.stdout.write(escape(text))
    else:
        for piece in response.iter_bytes():
            sys.stdout.buffer.write(piece)
    sys.stdout.flush()


def escape(text: str) -> str:
    """Escape invisible and misleading characters as JSON does, without changing the value."""
    return "\n".join(line if line.isprintable() else "".join(map(_escape_sign, line)) for line in text.split("\n"))


def _escape_sign(sign: str) -> str:
    return sign if sign.isprintable() else json.dumps(sign)[1:-1]


def make_console(*, to_err: bool = False, soft_wrap: bool = False) -> Console:
    """Make a console without markup: `[red]` and `:100:` are printed as they are; styles come from Text objects.

    Args:
        to_err: Whether it prints to standard error.
        soft_wrap: Whether long lines are left to the terminal to break, and whole where they go elsewhere.
    """
    return Console(stderr=to_err, soft_wrap=soft_wrap, markup=False, emoji=False, highlight=False)
