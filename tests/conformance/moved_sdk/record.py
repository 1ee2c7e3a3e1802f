"""Record what the OpenAI Agents SDK answers to these calls, in an environment that has it.

python -m venv sdk && sdk/bin/pip install openai-agents==0.24.0 && sdk/bin/python tests/conformance/moved_sdk/record.py
"""

import asyncio
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from agents import Agent, FunctionTool, Model, ModelResponse, RunHooks, Runner, Usage, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pydantic_core import to_jsonable_python

HERE = Path(__file__).parent
CONTEXTS = {
    "docs_style": {"name": "Ada", "uid": 7},
    "typed_style": {"tenant": "acme"},
    "odd_style": {"user": "Ada"},
    "desk_style": {"name": "Ada"},
    "weird_style": {"name": "Ada"},
}


class OneCall(Model):
    """Ask for one call, then say what has come back."""

    def __init__(self, name: str, args: Any) -> None:
        text = json.dumps(args)
        self.call = ResponseFunctionToolCall(type="function_call", name=name, call_id="call_1", arguments=text)
        self.came: Any = None

    async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **named: Any) -> ModelResponse:
        """Answer the first time with the call."""
        outputs = [item for item in input if not isinstance(item, str) and item.get("type") == "function_call_output"]
        if not outputs:
            return ModelResponse(output=[self.call], usage=Usage(), response_id=None)
        self.came = outputs[0]["output"]
        said = ResponseOutputText(type="output_text", text="done", annotations=[])
        message = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[said])
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *rest: Any, **named: Any) -> Any:
        """Never stream."""
        raise NotImplementedError


class Keep(RunHooks[Any]):
    """Keep what the function has returned."""

    value: Any = None

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        """Take it."""
        self.value = result


def load(path: Path) -> Any:
    """Run a file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def record(module: Any, name: str, args: Any, sent: dict[str, Any]) -> dict[str, Any]:
    """Run one call, as an agent does."""
    tools = [it for it in vars(module).values() if isinstance(it, FunctionTool)]
    model, hooks = OneCall(name, args), Keep()
    agent = Agent(name="a", tools=tools, model=model)
    try:
        result = await Runner.run(agent, "go", context=module.UserInfo(**sent), hooks=hooks)
    except Exception as error:
        return {"outcome": "raised", "error": type(error).__name__}
    if result.interruptions:
        return {
            "outcome": "approval",
            "tool": result.interruptions[0].name,
            "asked": json.loads(result.interruptions[0].arguments or ""),
        }
    return {"outcome": "answer", "output": model.came, "value": to_jsonable_python(hooks.value)}


async def main() -> None:
    """Record every call."""
    set_tracing_disabled(True)
    recorded: dict[str, Any] = {"tools": {}, "calls": {}}
    for stem, calls in json.loads((HERE / "calls.json").read_text()).items():
        module = load(HERE / f"{stem}.py")
        recorded["tools"][stem] = {
            it.name: {"description": it.description, "arguments": sorted(it.params_json_schema["properties"])}
            for it in vars(module).values()
            if isinstance(it, FunctionTool)
        }
        recorded["calls"][stem] = []
        for name, args, *context in calls:
            sent = context[0] if context else CONTEXTS[stem]
            answer = await record(module, name, args, sent)
            recorded["calls"][stem].append({"name": name, "args": args, "context": sent, **answer})
    (HERE / "expected.json").write_text(json.dumps(recorded, indent=1) + "\n")


asyncio.run(main())
