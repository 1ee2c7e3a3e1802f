"""sidecall new: write a tool and its test to start from."""

import importlib.util
import keyword
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from sidecall.kernel.core.errors import InvalidToolName, ToolException
from sidecall.kernel.core.tool import NAME

# Where installed packages lie.
_INSTALLED = frozenset(("site-packages", "dist-packages"))

# What the files below use themselves.
_TAKEN = frozenset((ToolException.__name__, "ToolTester", "answer"))

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

{imports}

def test_repeats_the_text() -> None:
    """The text comes back as often as asked."""
    answer = ToolTester({function}).call(text="hello", times=2)

    assert answer.status == "success"
    assert answer.content == "hello hello"


def test_tells_the_model_what_to_repair() -> None:
    """A wrong argument is answered with an error that names it."""
    answer = ToolTester({function}).call(text="hello", times=0)

    assert answer.status == "error"
    assert answer.content == "times must be at least 1"
'''
_TESTER = "from sidecall.testing import ToolTester\n"


def new(
    name: Annotated[str, typer.Argument(help="The tool's name, for instance get_weather.")],
    folder: Annotated[Path, typer.Option("--folder", help="Where the tool's file goes.")] = Path("tools"),
) -> None:
    """Write a tool file with its test."""
    if not NAME.fullmatch(name):
        raise InvalidToolName(f"{name!r}: {InvalidToolName.__doc__}")
    is_package = (folder / "__init__.py").is_file()
    stem, function = _name_file(name, is_package=is_package), _name_function(name)
    tests = Path("tests") / folder.name if is_package and Path("tests").is_dir() else folder
    module = f"{folder.name}.{stem}" if is_package else stem
    option = "" if function == name else f'("{name}")'
    own = f"from {module} import {function}\n"
    # In the order of linters, to which a module without a package is one that is installed.
    imports = f"{_TESTER}\n{own}" if is_package else "".join(sorted((own, _TESTER)))
    fields = {"title": name, "function": function, "imports": imports, "option": option}
    test = tests / f"test_{stem}.py"
    _write({folder / f"{stem}.py": _TOOL.format(**fields), test: _TEST.format(**fields)})
    typer.echo(f"Try it: sidecall call {name} text=hello times=2 --tools {folder}")
    typer.echo(f"Test it, with pytest installed: python -m pytest {test}")
    typer.echo(f"Serve it: sidecall serve --tools {folder}")


def _name_file(name: str, *, is_package: bool) -> str:
    """Name the file after the tool, with a prefix if it would be skipped or shadow another module."""
    stem = name.replace("-", "_")
    is_left_alone = _is_left_alone(stem) or stem.startswith("conftest")
    is_plain = _is_import_name(stem) and not is_left_alone and (is_package or not _is_module(stem))
    return stem if is_plain else f"tool_{stem}"


def _name_function(name: str) -> str:
    """Name the function after the tool, with a prefix if Python, discovery or pytest would not accept it."""
    function = name.replace("-", "_")
    is_plain = _is_import_name(function) and not _is_left_alone(function) and function not in _TAKEN
    return function if is_plain else f"tool_{function}"


def _is_import_name(name: str) -> bool:
    """Return whether a name is importable."""
    return name.isidentifier() and not keyword.iskeyword(name)


def _is_left_alone(name: str) -> bool:
    return name.startswith(("_", "test_")) or name == "tests"


def _is_module(name: str) -> bool:
    """Return whether a module of this name exists outside the project."""
    if name in sys.stdlib_module_names or name == __name__.partition(".")[0]:
        return True
    spec = importlib.util.find_spec(name)
    return spec is not None and not _INSTALLED.isdisjoint(Path(spec.origin or "").parts)


def _write(files: Mapping[Path, str]) -> None:
    for path in files:
        if path.exists():
            raise typer.BadParameter(f"{path} exists already", param_hint="NAME")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        typer.echo(f"wrote {path}")
