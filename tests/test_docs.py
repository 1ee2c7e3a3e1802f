"""The documents say what is true: settings, links, commands."""

import json
import re
from pathlib import Path

import pytest
from pydantic.fields import FieldInfo

from app.authoring.tool import BaseTool
from app.cli.main import cli
from app.core.errors import ErrorKind
from app.settings import Settings

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
DOCUMENTS = [path for folder in (ROOT, ROOT / "docs", ROOT / "docs/decisions") for path in sorted(folder.glob("*.md"))]


def _shown(field: FieldInfo) -> str:
    default = field.default
    if isinstance(default, tuple):
        return ",".join(default)
    return str(default).lower() if isinstance(default, bool) else str(default)


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_stands_in_the_readme(name: str) -> None:
    """With its default and its meaning, in one table."""
    field = Settings.model_fields[name]

    assert f"| `SIDECALL_{name.upper()}` | `{_shown(field)}` | {field.description} |" in README


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    """A relative link names a file of this repository."""
    links = re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text())

    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("command", [command.callback.__name__ for command in cli.registered_commands])
def test_every_command_stands_in_the_readme(command: str) -> None:
    """In the table of commands."""
    assert f"| `sidecall {command}" in README


@pytest.mark.parametrize("kind", ErrorKind.__args__)
def test_every_kind_of_failure_is_explained(kind: str) -> None:
    """In the contract's table of errors."""
    assert f"| `{kind}` |" in (ROOT / "docs/http.md").read_text()


def _reasons(file: str) -> list[str]:
    deviations = json.loads((ROOT / "tests/conformance" / file).read_text())
    return sorted({sentence for entry in deviations.values() for sentence in re.split(r"(?<=\.) ", entry["why"])})


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        *(("coming-from-langchain.md", reason) for reason in _reasons("langchain_deviations.json")),
        *(("coming-from-openai-agents.md", reason) for reason in _reasons("oai_deviations.json")),
    ],
)
def test_every_deliberate_difference_is_told_to_those_who_come(page: str, reason: str) -> None:
    """On the page for people who know the other library."""
    assert reason in (ROOT / "docs" / page).read_text()


@pytest.mark.parametrize("option", [*BaseTool.model_fields, "infer_schema"])
def test_every_option_of_a_tool_is_explained(option: str) -> None:
    """In the table of options."""
    assert re.search(rf"^\|[^|]*`{option}`", (ROOT / "docs/tools.md").read_text(), re.MULTILINE)
