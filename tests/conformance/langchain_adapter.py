"""Let the recorded LangChain cases run on Sidecall; it only translates."""

import asyncio
import json
from typing import Any

from langchain_cases import (
    Case,
    Injected,
    InjectedCallId,
    InjectedState,
    InjectedStore,
    RunConfig,
    Runtime,
    rebind,
    rebind_model,
)
from pydantic import ValidationError

import sidecall
from sidecall import StructuredTool, ToolException, ToolMessage, tool
from sidecall.features.store.item_store import ItemStore
from sidecall.features.store.memory_store import MemoryItems
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.schema.forms.definitions import render_definitions

NAMES = {
    "StateUpdate": sidecall.Command,
    "ToolFailure": ToolException,
    "ToolResult": lambda content, **fields: ToolMessage(content=content, **fields),
}
MARKERS = {
    Injected: sidecall.InjectedToolArg,
    InjectedCallId: sidecall.InjectedToolCallId,
    InjectedStore: sidecall.InjectedStore,
    Runtime: sidecall.ToolRuntime,
    RunConfig: sidecall.RunnableConfig,
}


def marker(neutral: Any) -> Any:
    """Translate one neutral marker, class or instance."""
    if neutral is InjectedState or isinstance(neutral, InjectedState):
        return sidecall.InjectedState(getattr(neutral, "field", None))
    kind = neutral if isinstance(neutral, type) else type(neutral)
    return MARKERS.get(kind, neutral)


class Adapter:
    """Build, describe and call tools as langchain_compare.py asks."""

    def build(self, case: Case) -> StructuredTool:
        """Make the tool of a case; raise where the definition is refused."""
        options = dict(case.options)
        if "args_schema" in options:
            options["args_schema"] = rebind_model(options["args_schema"], marker)
        name = options.pop("name", None)
        function = rebind(case.fn, NAMES, marker)
        if case.how == "both":
            options["coroutine"] = rebind(options["coroutine"], NAMES, marker)
        if case.how in ("from_function", "both"):
            made = StructuredTool.from_function(function, name=name, **options)
        else:
            made = tool(name, **options)(function)
        assert made.compiled
        return made

    def schema(self, made: StructuredTool) -> dict[str, Any]:
        """Give the OpenAI definition."""
        definition: dict[str, Any] = render_definitions([made.compiled], "openai")[0]
        return definition

    def call(self, made: StructuredTool, case: Case) -> dict[str, Any]:
        """Run the case's call and say what came of it in the comparer's words."""
        try:
            message = asyncio.run(self._run(made, case))
        except ValidationError as error:
            return {"kind": "raise", "type": "ValidationError", "errors": error.errors(include_url=False)}
        except RequestError as error:
            return {"kind": "raise", "type": type(error).__name__}
        if not isinstance(message, ToolMessage):
            return {"kind": "value", "json": message}
        error = message.response_metadata.get("error")
        if error is not None and error["kind"] == "invalid_arguments" and not self._is_handled(case):
            return {"kind": "raise", "type": "ValidationError", "errors": error["errors"]}
        artifact = None if message.artifact is None else {"json": message.artifact}
        shown = message.model_dump(include={"content", "status", "tool_call_id", "name"})
        return {"kind": "message", "message": {**shown, "artifact": artifact}}

    async def _run(self, made: StructuredTool, case: Case) -> Any:
        store = None
        if case.store is not None:
            store = ItemStore(MemoryItems())
            for namespace, key, value in case.store:
                store.put(namespace, key, value)
        call = json.loads(json.dumps(case.input, default=str))
        return await made.ainvoke(call, state=case.state, store=store)

    @staticmethod
    def _is_handled(case: Case) -> bool:
        return bool(case.options.get("handle_validation_error")) or case.state is not None
