"""`sidecall check` names lines of files that were written for other libraries, and what to use in their place."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sidecall.cli.commands import cli
from sidecall.kernel.core.errors import DefinitionError

GOOD = '''
from sidecall import tool


@tool
def add(a: int) -> int:
    """Add one.

    Args:
        a: The number.
    """
    return a + 1
'''

pytestmark = pytest.mark.usefixtures("here")

MOVED = '''
from langchain_core.tools import tool as langchain_tool
from langgraph.config import get_stream_writer as writer
from langgraph.types import interrupt

from sidecall import BaseTool, tool


@tool
def ask(question: str) -> str:
    """Ask a person.

    Args:
        question: What.
    """
    writer()("asking")
    return interrupt(question)


@langchain_tool(parse_docstring=True)
def shout(text: str) -> str:
    """Shout.

    Args:
        text: What.
    """
    return text.upper()


class Ask(BaseTool):
    """Ask, too."""

    name: str = "ask_too"

    def _run(self) -> str:
        return interrupt("?")


ask_too = Ask()
'''


def test_what_a_moved_file_cannot_have_is_named_with_its_line(here: Path) -> None:
    """And with what to use instead; tools of LangChain itself are fine."""
    (here / "moved_tools.py").write_text(MOVED)

    result = CliRunner().invoke(cli, ["check", "--tools", "moved_tools.py"])

    stream = "take a parameter `runtime: ToolRuntime` and call runtime.stream_writer"
    approve = "there is no graph to stop; let a person decide: raise ApprovalRequired('what')"
    assert [line for line in result.stdout.splitlines() if "moved_tools" in line] == [
        f"warning moved_tools.py:16 uses get_stream_writer, which is not here: {stream}",
        f"warning moved_tools.py:17 uses interrupt, which is not here: {approve}",
        f"warning moved_tools.py:36 uses interrupt, which is not here: {approve}",
    ]
    assert [line for line in result.stdout.splitlines() if "shout" in line] == ["tokens  shout about 43"]


def test_an_import_that_cannot_be_had_is_named_with_its_line(here: Path) -> None:
    """When its line has been changed already."""
    (here / "imports.py").write_text("from sidecall import tool\nfrom sidecall import interrupt\n")

    with pytest.raises(DefinitionError, match=r"imports.py:2 cannot be loaded: ImportError: interrupt is not in sid"):
        CliRunner().invoke(cli, ["check", "--tools", "imports.py"], catch_exceptions=False)


FROM_AGENTS = """
try:
    from agents import Runner
except ImportError:
    Runner = None

from sidecall import function_tool


@function_tool(custom_data_extractor=lambda _: {})
def look(what: str) -> str:
    \"\"\"Look.

    Args:
        what: What.
    \"\"\"
    return str(Runner)
"""


def test_what_a_file_from_the_openai_agents_sdk_asks_in_vain_is_named_with_its_line(here: Path) -> None:
    """What it imports, and what it wants of a tool."""
    (here / "from_agents.py").write_text(FROM_AGENTS)

    result = CliRunner().invoke(cli, ["check", "--tools", "from_agents.py"])

    lost = "custom_data_extractor is not called; return (content, artifact) with response_format='content_and_artifact'"
    instead = "an agent runs models, which is the program's part; go on importing it from agents"
    assert [line for line in result.stdout.splitlines() if line.startswith("warning")] == [
        f"warning look asks in from_agents.py:10 for what is not here: {lost}",
        f"warning from_agents.py:17 uses Runner, which is not here: {instead}",
    ]


SDK = """
from dataclasses import dataclass
from typing import Any


@dataclass
class ShellTool:
    executor: Any = None
    environment: Any = None


@dataclass
class ApplyPatchTool:
    editor: Any = None
"""
LOCAL = """
from agents import ApplyPatchTool, ShellTool

hosted = ShellTool(environment={"type": "container_auto"})
shell = ShellTool(executor=print)
patch = ApplyPatchTool()
tools = [
    ShellTool(executor=print),
]
"""


def test_local_tools_of_the_openai_agents_sdk_have_one_text_with_their_line(
    here: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It names the toolkit; `sidecall tools` says the same, and `sidecall check` says it once."""
    (here / "agents").mkdir()
    (here / "agents/__init__.py").write_text(SDK)
    (here / "local_tools.py").write_text(GOOD + LOCAL)
    monkeypatch.syspath_prepend(here)

    checked = CliRunner().invoke(cli, ["check", "--tools", "local_tools.py"])

    shell = "`--toolkit shell` runs such calls in a sandbox; for a shell of your own, @tool(native='shell')"
    patch = "`--toolkit files` runs such calls; for an editor of your own, @tool(native='apply_patch')"
    texts = [
        ("local_tools.py:17", f"shell, of the class ShellTool, is not offered: {shell}"),
        ("local_tools.py:18", f"patch, of the class ApplyPatchTool, is not offered: {patch}"),
    ]
    assert [line for line in checked.stdout.splitlines() if line.startswith("warning")] == [
        *(f"warning {place} {text}" for place, text in texts),
        f"warning local_tools.py:20 uses ShellTool, which is not here: {shell}",
    ]
    assert caplog.messages == []

    CliRunner().invoke(cli, ["tools", "--tools", "local_tools.py"])

    assert caplog.messages == [f"{place}: {text}" for place, text in texts]


RUNNABLE = """
import warnings

from langchain_core.runnables import RunnableLambda

with warnings.catch_warnings(action="ignore"):
    run = RunnableLambda(lambda it: it["x"]).as_tool(name="run", description="Run it.", arg_types={"x": int})
"""


def test_files_of_installed_packages_are_not_accused(here: Path) -> None:
    """LangChain's own file uses what there is only inside of it; and what runs here as well is not named either."""
    (here / "mine.py").write_text(GOOD + RUNNABLE)

    result = CliRunner().invoke(cli, ["check", "--tools", "mine.py"])

    assert [line for line in result.stdout.splitlines() if line.startswith("warning")] == [
        "warning run parameter `x` has no description; add it to the docstring's Args"
    ]


AS_IS = '''
from langchain_core.callbacks import dispatch_custom_event
from langchain_core.tools import BaseTool, tool
from langgraph.config import get_config, get_store, get_stream_writer
from langgraph.prebuilt import ToolNode
from langgraph.runtime import get_runtime
from langgraph.types import interrupt


@tool(parse_docstring=True)
def ask(question: str) -> str:
    """Ask a person.

    Args:
        question: What.
    """
    get_stream_writer()(question)
    dispatch_custom_event("asks", get_config()["configurable"])
    return interrupt(f"{question} {get_store()} {get_runtime()}")


class Ask(BaseTool):
    """Ask, too."""

    name: str = "ask_too"
    description: str = "Ask, too."

    def _run(self) -> str:
        return interrupt("?")


ask_too = Ask()
node = ToolNode([ask, ask_too])
'''
WITH_OURS = f"""
import sidecall
from sidecall import tool as offer
{AS_IS.replace("node = ToolNode([ask, ask_too])", "")}

@offer
def ours() -> str:
    \"\"\"Do it ourselves.\"\"\"
    return interrupt("?")
"""
BY_A_TASK = '''
from langchain_core.tools import tool
from langgraph.func import task


@task
def add(a: int) -> int:
    return a + 1


@tool(parse_docstring=True)
def sum_up(a: int) -> int:
    """Sum up.

    Args:
        a: A number.
    """
    return add(a).result()
'''
BY_A_CLASS = """
from langchain_core.tools import BaseTool
from langgraph.func import entrypoint, task


@task
def add(a: int) -> int:
    return a + 1


@entrypoint()
def flow(a: int) -> int:
    return add(a).result()


def _help(a: int) -> int:
    return [add(n).result() for n in range(a)][0]


class SumUp(BaseTool):
    name: str = "sum_up"
    description: str = "Sum up."

    def _run(self) -> int:
        return self._go()

    def _go(self) -> int:
        return _help(1)


class Flow(BaseTool):
    name: str = "run_flow"
    description: str = "Run it."

    def _run(self) -> int:
        return flow.invoke(1)


sum_up, run_flow = SumUp(), Flow()
"""
RUNS_AGENTS = """
from agents import Agent, Runner, handoff, ApplyPatchTool

helper = Agent(handoff(Runner))
print(ApplyPatchTool())
"""
APPROVE = (
    "uses interrupt, which is not here: there is no graph to stop; let a person decide: raise ApprovalRequired('what')"
)
PATCH = (
    "uses ApplyPatchTool, which is not here: `--toolkit files` runs such calls; for an editor of your own,"
    " @tool(native='apply_patch')"
)


@pytest.mark.parametrize(
    ("text", "warnings"),
    [
        pytest.param(AS_IS, [], id="as it is"),
        pytest.param(WITH_OURS, [f"warning it.py:42 {APPROVE}"], id="beside ours"),
        pytest.param(
            BY_A_TASK,
            [
                "warning sum_up asks in it.py:11 for what is not here: "
                "add, a task, runs only in an entrypoint of LangGraph; call a plain function"
            ],
            id="a task",
        ),
        pytest.param(
            BY_A_CLASS,
            [
                "warning sum_up asks in it.SumUp for what is not here: "
                "add, a task, runs only in an entrypoint of LangGraph; call a plain function"
            ],
            id="a task, by a method",
        ),
        pytest.param(GOOD.replace("sidecall", "agents.ours") + RUNS_AGENTS, [f"warning it.py:17 {PATCH}"], id="agents"),
    ],
)
def test_what_works_in_a_file_that_is_served_as_it_is_is_not_named(
    here: Path, monkeypatch: pytest.MonkeyPatch, text: str, warnings: list[str]
) -> None:
    """Its own library runs it; what it cannot is named as ever."""
    (here / "agents").mkdir()
    (here / "agents/__init__.py").write_text("Agent = Runner = handoff = lambda _: None\nclass ApplyPatchTool: pass\n")
    (here / "agents/ours.py").write_text("from sidecall import tool\n")
    monkeypatch.syspath_prepend(here)
    (here / "it.py").write_text(text)

    result = CliRunner().invoke(cli, ["check", "--tools", "it.py"])

    assert [line for line in result.stdout.splitlines() if line.startswith("warning")] == warnings


@pytest.mark.parametrize(
    ("imported", "asked"),
    [
        ("import langgraph.types", 'langgraph.types.interrupt("?")'),
        ("import langgraph.types as its", 'its.interrupt("?")'),
        ("from langgraph import types", 'types.interrupt("?")'),
        ("from langgraph import types as its", 'str(its.interrupt("?"))'),
        ("import sidecall", 'sidecall.interrupt("?")'),
        ("import sidecall as ours", 'ours.interrupt("?")'),
    ],
)
def test_what_is_reached_through_a_module_is_named_as_well(here: Path, imported: str, asked: str) -> None:
    """However the module was imported; a method of that name is the author's."""
    text = GOOD.replace("return a + 1", f"{asked}\n    return box.interrupt(a)").replace("a: int", "a: int, box: str")
    (here / "it.py").write_text(f"{imported}\n{text}".replace("a: The number.", "a: The number.\n        box: What."))

    result = CliRunner().invoke(cli, ["check", "--tools", "it.py"])

    assert [line for line in result.stdout.splitlines() if line.startswith("warning")] == [
        f"warning it.py:14 {APPROVE}"
    ]
