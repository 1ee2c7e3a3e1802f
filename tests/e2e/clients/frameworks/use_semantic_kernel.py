"""Run agents of Semantic Kernel whose tools a server has, by a scripted model; print what came of each."""

import asyncio
import json
import logging
import os
from typing import Any, ClassVar
from uuid import uuid4

from deciding import await_person
from pydantic import Field
from recipes import conclude_recipe
from semantic_kernel import Kernel
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.connectors.ai.function_calling_utils import kernel_function_metadata_to_function_call_format
from semantic_kernel.contents import ChatMessageContent, FunctionCallContent, FunctionResultContent
from semantic_kernel.filters import FilterTypes

from sidecall.client.semantic_kernel import aload_tools, load_tools

URL = os.environ["SIDECALL_URL"]


class ScriptedModel(ChatCompletionClientBase):
    """A model that asks for tools, turn by turn, and is done then."""

    SUPPORTS_FUNCTION_CALLING: ClassVar[bool] = True
    turns: list[dict[str, Any]]
    offered: list[Any] = Field(default_factory=list)
    read: list[str] = Field(default_factory=list)

    async def _inner_get_chat_message_contents(self, chat_history: Any, settings: Any) -> list[ChatMessageContent]:
        self.read += [json.dumps(it.to_dict()) for it in chat_history.messages if it.role == "tool"]
        if not self.turns:
            return [ChatMessageContent(role="assistant", content="Done.")]
        calls = [
            FunctionCallContent(id=f"{name}_{uuid4().hex}", name=f"sidecall-{name}", arguments=json.dumps(args))
            for name, args in self.turns.pop(0).items()
        ]
        return [ChatMessageContent(role="assistant", items=calls)]

    def _update_function_choice_settings_callback(self) -> Any:
        return lambda configuration, _settings, _kind: self.offered.append(
            [kernel_function_metadata_to_function_call_format(it) for it in configuration.available_functions]
        )

    def _reset_function_choice_settings(self, settings: Any) -> None:
        pass

    def _verify_function_choice_settings(self, settings: Any) -> None:
        pass


async def work(plugin: Any, *turns: dict[str, Any]) -> dict[str, Any]:
    """Let an agent work, and say what came of it."""
    model, failures = ScriptedModel(ai_model_id="scripted", turns=[*turns]), []
    kernel = Kernel()

    async def watch(context: Any, next: Any) -> None:
        try:
            await next(context)
        except Exception as error:
            failures.append([type(error).__name__, type(error.__cause__).__name__, str(error)])
            raise

    kernel.add_filter(FilterTypes.FUNCTION_INVOCATION, watch)
    agent = ChatCompletionAgent(service=model, kernel=kernel, name="assistant", plugins=[plugin])
    messages: list[Any] = []

    async def keep(message: Any) -> None:
        messages.append(message)

    said = [str(it) async for it in agent.invoke("Please.", on_intermediate_message=keep)]
    results = [it for message in messages for it in message.items if isinstance(it, FunctionResultContent)]
    ids = [it.id for message in messages for it in message.items if isinstance(it, FunctionCallContent)]
    return {"results": results, "ids": ids, "failures": failures, "model": model, "said": said[-1]}


def show(result: Any) -> list[Any]:
    """Return what a function has answered: what the model reads, and the artifact."""
    return [result.result, result.metadata.get("artifact")]


async def decide(answer: Any) -> list[str]:
    """Let an agent work whose program answers approvals so."""
    done = await work(load_tools(URL, ask=lambda _: answer), {"refund": {"order": 7}})
    return [it.result for it in done["results"]]


async def refund(plugin: Any, order: int) -> list[str]:
    """Let an agent pay for an order, and return what its model reads."""
    return [it.result for it in (await work(plugin, {"refund": {"order": order}}))["results"]]


async def describe(plugin: Any) -> dict[str, Any]:
    """Return what a model is offered, and what calls come to that are made as they should be."""
    found = await work(plugin, {"find": {"query": "tea"}}, {"recall": {"key": "user"}}, {"draw": {}})
    offered = {it["function"]["name"]: it["function"]["parameters"] for it in found["model"].offered[0]}
    nested = offered["sidecall-order"]["properties"]["lines"]["items"]["properties"]["parts"]["items"]
    return {
        "listed": [len(offered), offered["sidecall-repeat_number"]],
        "nested": nested,
        "called": [*map(show, found["results"]), found["said"]],
        "own ids": [it.metadata["tool_call_id"] for it in found["results"]] == found["ids"],
        "artifact": any("rows" in text for text in found["model"].read),
    }


async def main() -> dict[str, Any]:
    """Try all, and return what came of it."""
    logging.disable(logging.CRITICAL)
    plugin = load_tools(URL, state=lambda run: {"user": run.arguments.get("user", "Ada")}, context={"user": "Ada"})
    told = await describe(plugin)
    lines = [{"article": "tea", "parts": [{"article": "A"}]}]
    mended = await work(
        plugin,
        {"double": {"number": "four"}},
        {"double": {"number": 2**70}},
        {"order": {"lines": lines}},
        {"order": {"lines": [{"article": "tea"}], "kind": None}},
    )
    told["mended"] = [it.result for it in mended["results"]]
    failed = await work(plugin, {"fail": {}}, {"double": {"number": -1}})
    told["failed"] = [[it.result for it in failed["results"]], failed["failures"]]
    waits = await work(await aload_tools(URL), {"refund": {"order": 7}})
    told["waits"] = [[it.result, it.metadata["approval"]["status"]] for it in waits["results"]]
    told["approved"], told["rejected"] = await decide(True), await decide({"decision": "reject", "reason": "Too much."})
    waiting = load_tools(URL, approvals="wait")
    told["waited"] = await await_person(lambda order: refund(waiting, order))
    parts: list[Any] = []
    await work(load_tools(URL, on_progress=parts.append), {"write": {"text": "two words"}})
    told["progress"] = [str(getattr(it, "message", None) or it.content) for it in parts]
    return told


TOLD = asyncio.run(main())
print(
    json.dumps(
        {**TOLD, "recipe": conclude_recipe(ScriptedModel(ai_model_id="scripted", turns=[{"double": {"number": 4}}]))}
    )
)
