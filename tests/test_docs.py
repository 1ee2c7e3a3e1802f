"""The documents say what is true: settings, links, commands."""

import json
import re
from pathlib import Path

import pytest

import sidecall
from sidecall.authoring.base_tool import BaseTool
from sidecall.cli.commands import list_commands
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import ErrorKind
from sidecall.server import refusals

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
FOLDERS = [ROOT / name for name in (".", "docs", "docs/decisions", "examples", "bench/results")]
DOCUMENTS = [path for folder in FOLDERS for path in sorted(folder.glob("*.md"))]


# What clients, Compose and tests read; they are no settings of the server.
OTHER_VARIABLES = {"SIDECALL_URL", "SIDECALL_API_KEY"}
ENTRANCE = [
    ROOT / "README.md",
    *(ROOT / "docs" / name for name in ("index.md", "tutorial.md", "first-agent.md", "commands.md")),
]


@pytest.mark.parametrize("document", ENTRANCE, ids=lambda path: path.name)
def test_settings_that_a_new_user_reads_of_are_there(document: Path) -> None:
    """Each has its row on the page of settings."""
    named = set(re.findall(r"\bSIDECALL_[A-Z_]+", document.read_text())) - OTHER_VARIABLES
    page = (ROOT / "docs/settings.md").read_text()

    assert [name for name in sorted(named) if f"| `{name}` |" not in page] == []


def test_the_readme_is_read_once() -> None:
    """It is short, and its tool and call stand on the first screen."""
    lines = README.splitlines()

    assert len(lines) <= 140
    assert lines.index("```bash") < 20


PAGES = sorted(path.name for path in (ROOT / "docs").glob("*.md") if path.name != "index.md")


@pytest.mark.parametrize("page", PAGES)
def test_every_page_stands_in_the_index_once(page: str) -> None:
    """In one of its four parts."""
    parts = (ROOT / "docs/index.md").read_text().partition("\n## ")[2]

    assert parts.count(f"]({page}) |") == 1


@pytest.mark.parametrize("page", ["README.md", "docs/deploy.md"])
@pytest.mark.parametrize(
    "protection",
    [
        "--publish 127.0.0.1:8000:8000",
        "--read-only",
        "--cap-drop ALL",
        "--security-opt no-new-privileges",
        "--memory 512m",
        "--cpus 1",
        "--pids-limit 256",
    ],
)
def test_the_image_is_run_with_all_that_protects_it(page: str, protection: str) -> None:
    """The command starts a server that is no more open than Compose's."""
    command = (ROOT / page).read_text().partition("\ndocker run ")[2].partition("\n```")[0]

    assert protection in command


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    """A relative link names a file of this repository."""
    links = re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text())

    assert [link for link in links if not (document.parent / link).exists()] == []


def _anchors(document: Path) -> set[str]:
    """Name the headings as GitHub does."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_headings(document: Path) -> None:
    """What follows the `#` of a link is a heading of the page it leads to."""
    links = re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", document.read_text())
    pages = [(document.parent / file if file else document, anchor) for file, anchor in links]

    assert [(page.name, anchor) for page, anchor in pages if anchor not in _anchors(page)] == []


NAMED = sorted(set(re.findall(r"`([a-z0-9_/]+\.py)`", (ROOT / "docs/architecture.md").read_text())))


@pytest.mark.parametrize("file", NAMED)
def test_every_file_on_the_map_is_there(file: str) -> None:
    """Files are named as seen from the package, or from the top."""
    assert any((folder / file).is_file() for folder in (ROOT / "app/sidecall", ROOT / "app", ROOT))


@pytest.mark.parametrize("command", list_commands())
def test_every_command_is_explained(command: str) -> None:
    """In the table of commands."""
    assert re.search(rf"^\| `sidecall {command}[` ]", (ROOT / "docs/commands.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("kind", ErrorKind.__args__)
def test_every_kind_of_failure_is_explained(kind: str) -> None:
    """In the contract's table of errors."""
    assert f"| `{kind}` |" in (ROOT / "docs/http.md").read_text()


# The status and the last word of the type, of what an application refuses and of what its server does.
PROBLEMS = {
    *re.findall(r'\((\d{3}), "([a-z-]+)"\)', (ROOT / "app/sidecall/http/problems.py").read_text()),
    *((str(it.status), it.slug) for it in vars(refusals).values() if isinstance(it, refusals.Refusal)),
}


@pytest.mark.parametrize(("status", "slug"), sorted(PROBLEMS))
def test_every_problem_is_explained(status: str, slug: str) -> None:
    """With its status, in the contract's table of problems."""
    assert f"| {status} | `urn:sidecall:problem:{slug}` |" in (ROOT / "docs/http.md").read_text()


# What is ours, not the tool's, is left out.
MEMBERS = [name for name in dir(ToolContext) if not name.startswith("_") and name not in {"signals", "contents"}]


@pytest.mark.parametrize("member", MEMBERS)
def test_everything_that_a_tool_may_ask_is_explained(member: str) -> None:
    """In the table of the ToolContext."""
    table = (ROOT / "docs/tools.md").read_text().partition("## The ToolContext")[2].partition("```")[0]

    assert re.search(rf"`(await )?{member}[`(]", table)


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


@pytest.mark.parametrize("reason", json.loads((ROOT / "tests/conformance/mcp_suite/left_out.json").read_text()))
def test_what_is_left_out_of_mcp_is_told(reason: str) -> None:
    """Beside the suite that tries the rest."""
    assert f"| {reason} |" in (ROOT / "docs/mcp.md").read_text()


def test_every_name_that_is_promised_to_a_moved_file_is_there() -> None:
    """In the table of names, which lists what no other page explains."""
    page = (ROOT / "docs/coming-from-langchain.md").read_text()
    table = page.partition("## Names")[2].partition("Markers and types")[0]
    names = re.findall(r"`(\w+)`", table.partition("|---|---|")[2])

    assert len(names) > 30
    assert [name for name in names if name not in sidecall.__all__] == []


@pytest.mark.parametrize("option", [*BaseTool.model_fields, "infer_schema"])
def test_every_option_of_a_tool_is_explained(option: str) -> None:
    """In the table of options."""
    assert re.search(rf"^\|[^|]*`{option}`", (ROOT / "docs/tools.md").read_text(), re.MULTILINE)
