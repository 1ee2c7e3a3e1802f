"""What the program prints says what is so: `:100:` is no emoji, and `[red]` no color."""

import ast
from pathlib import Path

import pytest

import sidecall
from tests.cli.conftest import SidecallHere

# A file may be called so, and lines of errors look so without being meant.
FILE = "x:100:[red].py"
ODD = "x:100:[bold]:smile:[/] done"
GOOD = f'''
from sidecall import tool


@tool(tags=["{ODD}"])
def odd(a: int) -> int:
    """Say {ODD}."""
    return a
'''
WRONG = "\n" * 99 + "raise ValueError(':100: [red]no[/red]')\n"
SERVERS = '{"accepted": {"x:100:": {}}, "waiting": {}}'


@pytest.fixture(autouse=True)
def _wide(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    (here / FILE).write_text(GOOD)
    (here / "wrong.py").write_text(WRONG)
    (here / "keys.json").write_text('{"keys": []}')


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["check", "--tools", FILE], "warning odd parameter `a` has no description"),
        (["check", "--tools", "wrong.py"], "wrong.py:100 cannot be loaded: ValueError: :100: [red]no[/red]"),
        (["tools", "--tools", f"nowhere/{FILE}"], f"There is no file or folder {f'nowhere/{FILE}'!r}"),
        (["tools", "--tools", FILE], f"Say {ODD}."),
        (["tools", "--tools", FILE], f"{FILE}:5"),
        (
            ["tools", "--tools", FILE, "--format", "openai"],
            f'"description": "Say {ODD}."',
        ),
        (["call", ":100:", "--tools", FILE], ":100: is not a valid tool"),
        (["check", "--tools", FILE, "--toolkit", ":100:"], "':100:'"),
        (["keys", "revoke", ":100:", "--file", ":smile:.json"], "There is no key ':100:' in :smile:.json."),
        (["mcp-servers", "accept", ":100:"], "No tool of :100: waits"),
        (["tools", "--strange", ":100:"], "--strange"),
        (["new", "fine", "--folder", ":100:[red]"], "wrote :100:[red]/fine.py"),
    ],
    ids=lambda it: " ".join(it[:1]) if isinstance(it, list) else "",
)
def test_texts_are_printed_as_they_are(sidecall_here: SidecallHere, command: list[str], said: str) -> None:
    """In errors, findings, tables and JSON: names of files, what authors wrote and what was typed."""
    result = sidecall_here(*command)

    assert said in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("command", "file", "content", "said"),
    [
        (["mcp-servers", "list", "--file", "pins.json"], "pins.json", SERVERS, "x:100:"),
        (["new", "a:100:"], "unused", "", "'a:100:': The name of a tool must match"),
        (["new", "odd", "--folder", ":100:"], ":100:/odd.py", "", ":100:/odd.py exists already"),
    ],
)
def test_files_and_names_are_printed_as_they_are(
    sidecall_here: SidecallHere, here: Path, command: list[str], file: str, content: str, said: str
) -> None:
    """A table's cells, and what is said of a command that was mistyped."""
    (here / file).parent.mkdir(exist_ok=True)
    (here / file).write_text(content)

    result = sidecall_here(*command)

    assert said in result.stdout + result.stderr


def test_one_place_makes_consoles() -> None:
    """What prints another way would have to say the same again."""
    package = Path(sidecall.__file__).parent
    makers = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if (isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Console"))
        or (isinstance(node, ast.ImportFrom) and node.module in ("rich", "rich.markup"))
    }

    assert makers == {"terminal/console.py"}
