"""sidecall new: write a tool and its test to start from."""

import keyword
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from sidecall.core.errors import InvalidToolName
from sidecall.core.tool import NAME

_TOOL = '''"""{title}."""

from sidecall import ToolException, tool


@tool{option}
def {function}(text: str, times: int = 1) -> str:
    """Repeat a text. Say here what the tool does and when a model should choose it.

    Args:
        text: What to repeat.
        times: How often, at least once.
    """
    if times < 1:
        raise ToolException("times must be at least 1")
    return " ".join([text] * times)
'''

_TEST = '''"""{title}: what its callers rely on."""

from {module} import {function}


def test_repeats_the_text() -> None:
    """The text comes back as often as asked."""
    call = {{
        "name": "{title}",
        "args": {{"text": "hello", "times": 2}},
        "id": "call_1",
        "type": "tool_call",
    }}
    message = {function}.invoke(call)

    assert message.status == "success"
    assert message.content == "hello hello"


def test_tells_the_model_what_to_repair() -> None:
    """A wrong argument is answered with an error that names it."""
    call = {{
        "name": "{title}",
        "args": {{"text": "hello", "times": 0}},
        "id": "call_1",
        "type": "tool_call",
    }}
    message = {function}.invoke(call)

    assert message.status == "error"
    assert message.content == "times must be at least 1"
'''


def new(
    name: Annotated[str, typer.Argument(help="The tool's name, for instance get_weather.")],
    folder: Annotated[Path, typer.Option("--folder", help="Where the tool's file goes.")] = Path("tools"),
) -> None:
    """Write a tool file with its test."""
    if not NAME.fullmatch(name):
        raise InvalidToolName(f"{name!r}: {InvalidToolName.__doc__}")
    stem = _make_identifier(name)
    is_package = (folder / "__init__.py").is_file()
    tests = Path("tests") / folder.name if is_package and Path("tests").is_dir() else folder
    module = f"{folder.name}.{stem}" if is_package else stem
    fields = {"title": name, "function": stem, "module": module, "option": "" if stem == name else f'("{name}")'}
    test = tests / f"test_{stem}.py"
    _write({folder / f"{stem}.py": _TOOL.format(**fields), test: _TEST.format(**fields)})
    typer.echo(f"Try it: sidecall call {name} text=hello times=2 --tools {folder}")
    typer.echo(f"Test it, with pytest installed: python -m pytest {test}")


def _make_identifier(name: str) -> str:
    """Name the file and the function: what discovery would leave alone, or Python take for another, gets a prefix."""
    stem = name.replace("-", "_")
    is_taken = keyword.iskeyword(stem) or stem in sys.stdlib_module_names
    is_left_alone = stem.startswith(("_", "test_", "conftest")) or stem == "tests"
    return f"tool_{stem}" if is_taken or is_left_alone or not stem.isidentifier() else stem


def _write(files: Mapping[Path, str]) -> None:
    for path in files:
        if path.exists():
            raise typer.BadParameter(f"{path} exists already", param_hint="NAME")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        typer.echo(f"wrote {path}")
