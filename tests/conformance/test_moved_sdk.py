"""Files of the OpenAI Agents SDK's tools that are moved by their import lines answer as recorded with the SDK."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sidecall import FunctionTool, Registry
from sidecall.kernel.core.errors import GuardrailTripped, ToolCallFailed
from sidecall.kernel.executors.table import EXECUTORS, ExecutorSettings
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from sidecall.loading.collect import TOOLS_OF
from sidecall.rest.dialect_writers import write_responses
from tests.kit.calls import write_request
from tests.kit.pipelines import make_pipeline

HERE = Path(__file__).parent / "moved_sdk"
RECORDED = json.loads((HERE / "expected.json").read_text())
_IMPORTS = re.compile(r"^from agents(?:\.\w+)* import", re.M)
# What the SDK says of every failure that its author has no words for.
FAILED = "An error occurred while running the tool. Please try again."
# What comes to another end here, and to which.
DIFFERENT = [
    # Understood here, and refused there.
    ("paint", {"color": "RED", "times": 3}, "success"),
    ("lookup", {"key": "k", "scope": "none"}, "success"),
    # Checked here before a person is asked.
    ("spend-credits", {"amount": 0}, "invalid_arguments"),
    # A tool that is made by hand, and fails, ends the run there.
    ("search", {"q": "crash", "mode": "fast"}, "execution_error"),
    ("search", {"q": "tea", "mode": "slow"}, "invalid_arguments"),
]
# What is said at more length: which argument is wrong.
LONGER = [("transfer", {"amount": 0, "to": "Bo"})]
# What is listed differently on purpose: the names that `**kwargs` takes stand beside the others.
DECLARED = {
    "free": {"description": "Take more.", "arguments": ["a"]},
    "opening": {"description": "", "arguments": ["day"]},  # A text that is explicitly empty stays so.
}
CALLS = [(file, call) for file, calls in RECORDED["calls"].items() for call in calls]


def load(file: str) -> list[FunctionTool]:
    """Run a file with its import lines changed as a module, and list its tools."""
    moved = _IMPORTS.sub("from sidecall import", (HERE / f"{file}.py").read_text())
    module = sys.modules[f"moved_{file}"] = ModuleType(f"moved_{file}")
    exec(compile(moved, f"{file}.py", "exec"), vars(module))
    return [it for it in vars(module).values() if isinstance(it, FunctionTool)]


@pytest.fixture(scope="module")
def tools() -> Iterator[dict[str, list[FunctionTool]]]:
    """The tools of each file."""
    yield {file: load(file) for file in RECORDED["tools"]}
    for file in RECORDED["tools"]:
        del sys.modules[f"moved_{file}"]


async def ask(registry: Registry, call: dict[str, Any]) -> Any:
    """Run a call as it comes over HTTP, and say what the Responses API would be told of it."""
    executors = {name: EXECUTORS[name](ExecutorSettings(tools_of=TOOLS_OF)) for name in ("inline", "thread")}
    for executor in executors.values():
        await executor.start(list(registry))
    request = write_request(call["name"], json.dumps(call["args"]), context=call["context"])
    try:
        message = await make_pipeline(registry, executors).run(request)
    except ApprovalRequired as waits:
        return "approval", waits.approval.tool_call.args
    except (ToolCallFailed, GuardrailTripped) as failed:
        return "raised", str(failed)
    finally:
        for executor in executors.values():
            await executor.close()
    error = message.response_metadata.get("error")
    return error["kind"] if error else "success", write_responses(message)["output"]


@pytest.mark.parametrize(
    ("file", "call"), CALLS, ids=[f"{file} {call['name']} {json.dumps(call['args'])}" for file, call in CALLS]
)
async def test_a_moved_tool_answers_as_the_original(tools: Any, file: str, call: dict[str, Any]) -> None:
    """The same output for the model, the same failures, the same question for a person."""
    kind, output = await ask(Registry(tools[file]), call)

    different = [end for name, args, end in DIFFERENT if (name, args) == (call["name"], call["args"])]
    if different:
        assert [kind] == different
    elif call["outcome"] == "approval":
        assert (kind, output) == ("approval", call["asked"])
    elif call["outcome"] == "raised":  # It ends the run there; also where the agent has no such tool.
        assert kind in ("unknown_tool", "raised")
    else:
        check_answer(call, kind, output)


def check_answer(call: dict[str, Any], kind: str, output: Any) -> None:
    """Compare what the model reads."""
    if (call["name"], call["args"]) in LONGER:
        assert (kind, output[: len(call["output"])]) == ("invalid_arguments", call["output"])
    elif call["output"] == FAILED and output != FAILED:
        assert kind in ("invalid_arguments", "execution_error")
    elif "timed out after" in call["output"]:
        assert kind == "timeout"
    elif isinstance(call["output"], list) or isinstance(call["value"], str) or kind == "denied":
        assert output == call["output"]
    else:  # The SDK says Python's str() of it.
        assert call["value"] == (None if call["output"] == "None" else json.loads(output))


def test_a_moved_file_offers_the_same_tools(tools: Any) -> None:
    """Twelve each, with their names, descriptions and what a model may send."""
    assert {file: len(offered) for file, offered in tools.items()} == dict.fromkeys(tools, 12)
    for file, recorded in RECORDED["tools"].items():
        assert {call["name"] for call in RECORDED["calls"][file]} == recorded.keys()
        ours = {
            it.name: {"description": it.description, "arguments": sorted(it.params_json_schema["properties"])}
            for it in tools[file]
        }
        assert ours == {**recorded, **{name: it for name, it in DECLARED.items() if name in recorded}}
