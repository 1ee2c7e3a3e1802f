"""Run agents of Microsoft's Agent Framework whose tools a server has, by a scripted model; print what came of each."""

import asyncio
import json
import logging
import os
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationContext,
    FunctionInvocationLayer,
    Message,
    MiddlewareFailure,
    ResponseStream,
    function_middleware,
)
from deciding import await_person
from recipes import run_recipe

from sidecall.client import Sidecall
from sidecall.client.agent_framework import CallFailed, aload_tools, load_tools

URL = os.environ["SIDECALL_URL"]


class ScriptedModel(FunctionInvocationLayer, BaseChatClient):
    """A model that asks for tools, turn by turn, and is done then."""

    def __init__(self, *turns: dict[str, Any]) -> None:
        super().__init__()
        self.turns = list(turns)
        self.offered: dict[str, Any] = {}
        self.read: list[str] = []

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
        specs = [tool.to_json_schema_spec()["function"] for tool in options.get("tools") or []]
        self.offered = {it["name"]: it["parameters"] for it in specs}
        # As its clients for models do.
        results = [it for message in messages for it in message.contents if it.type == "function_result"]
        self.read = [it.result for it in results]
        contents = [Content.from_text("Done.")]
        if self.turns:
            contents = [
                Content.from_function_call(f"{name}.{uuid4().hex}", name, arguments=json.dumps(args))
                for name, args in self.turns.pop(0).items()
            ]

        async def answer() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", contents)])

        async def updates() -> AsyncIterator[ChatResponseUpdate]:
            yield ChatResponseUpdate(role="assistant", contents=contents)

        return ResponseStream(updates(), finalizer=ChatResponse.from_updates) if stream else answer()


@function_middleware
async def pass_on(_: FunctionInvocationContext, call_next: Any) -> None:
    """Do nothing, but be there."""
    await call_next()


def results(response: Any) -> list[Any]:
    """Return what the model has read, and whether it was a failure."""
    contents = [it for message in response.messages for it in message.contents if it.type == "function_result"]
    return [[it.call_id.partition(".")[0], it.result, it.exception] for it in contents]


def items(response: Any) -> list[Any]:
    """Return the parts of results."""
    contents = [it for message in response.messages for it in message.contents if it.type == "function_result"]
    return [part for it in contents for part in it.items]


async def decide(tools: Any, is_right: bool, **options: Any) -> list[Any]:
    """Stop for a person, keep the session as text, decide, and go on."""
    model = ScriptedModel({"refund": {"order": 7}})
    agent = Agent(model, tools=tools, **options)
    session = agent.create_session()
    (asked,) = (await agent.run("Please.", session=session)).user_input_requests
    kept = AgentSession.from_dict(json.loads(json.dumps(session.to_dict())))
    said = Message("user", [asked.to_function_approval_response(is_right)])
    run = await agent.run(said, session=kept)
    return [asked.function_call.name, asked.function_call.parse_arguments(), model.read, run.text]


async def refund(tools: Any, order: int) -> list[Any]:
    """Let an agent pay for an order, and return what its model reads."""
    return results(await Agent(ScriptedModel({"refund": {"order": order}}), tools=tools).run("Please."))


async def fail_directly(tools: Any) -> Any:
    """Call a tool without an agent."""
    (double,) = [it for it in tools if it.name == "double"]
    (found,) = await double.invoke(arguments={"number": 4})
    try:
        await double.invoke(arguments={"number": -1})
    except CallFailed as error:
        return [found.text, str(error), error.answer.failure.kind]


async def refuse() -> str:
    """Let the server refuse what the program has to mend."""
    tools = load_tools(Sidecall(URL), timeout=0)
    try:
        await Agent(ScriptedModel({"double": {"number": 1}}), tools=tools).run("Please.")
    except MiddlewareFailure as error:
        return type(error.__cause__).__name__
    return "not seen"


async def work_much() -> dict[str, Any]:
    """Let the model call one tool after the other, and mend what was refused."""
    tools = await aload_tools(URL, state=lambda context: {"key": context.kwargs["user"]})
    model = ScriptedModel(*TURNS)
    run = await Agent(model, tools=tools).run("Please.", function_invocation_kwargs={"user": "ada"})
    return {
        "listed": {name: model.offered[name] for name in ("double", "jot", "order")},
        "called": results(run),
        "parts": [[it.type, it.media_type] for it in items(run) if it.type != "text"],
        "artifact": [it.additional_properties.get("artifact") for it in items(run)],
        "read": [word in "".join(model.read) for word in ("rows", "half")],
    }


async def stream() -> list[Any]:
    """Stream a run with middleware, and hear what tools report."""
    heard: list[Any] = []
    tools = load_tools(URL, on_progress=lambda it: heard.append(getattr(it, "message", None) or it.content))
    agent = Agent(ScriptedModel({"write": {"text": "a word"}, "fail": {}}), tools=tools, middleware=[pass_on])
    return [results(await agent.run("Please.", stream=True).get_final_response()), heard]


async def main() -> dict[str, Any]:
    """Return what came of all."""
    plain, model = load_tools(URL), ScriptedModel({"refund": {"order": 7}, "pay_out": {"amount": 5}})
    texts = Agent(model, tools=load_tools(URL, approvals="text"))
    return {
        **await work_much(),
        "streamed": await stream(),
        "approved": [await decide(plain, True), await decide(plain, True, middleware=[pass_on])],
        "rejected": await decide(plain, False),
        "text": results(await texts.run("Please.")),
        "waited": await await_person(lambda order: refund(load_tools(URL, approvals="wait"), order)),
        "directly": await fail_directly(plain),
        "refused": await refuse(),
    }


CLASHING = {"runtime": "r", "config": {}, "tool_call_id": "none", "store": 1, "state": "s", "callbacks": "null"}
TURNS = (
    {"double": {"number": "many"}, "fail": {}},
    {"double": {"number": 4}, "find": {"query": "tea"}, "draw": {}, "repeat_number": {"number": 2**60 + 1}},
    {"recall": {"key": "key"}, "jot": {"text": "True"}, "repeat_any": {"value": None}, "configure": CLASHING},
    {"order": {"lines": [{"article": "tea", "parts": [{"article": "leaf"}]}], "gift": True}},
)

if __name__ == "__main__":
    logging.disable()
    told = asyncio.run(main())
    print(json.dumps({**told, "recipe": run_recipe(model=ScriptedModel({"calculator": {"expression": "6 * 7"}}))}))
