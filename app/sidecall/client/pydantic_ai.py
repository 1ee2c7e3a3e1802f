"""A server's tools as a Pydantic AI toolset: `Agent(model, toolsets=[ServerToolset(server)])`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import ModelRetry, RunContext, ToolReturn
from pydantic_ai.exceptions import ApprovalRequired, ToolFailed
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema, to_jsonable_python

from sidecall.client.answers import PersonVerdict, ToolAnswer
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.failures import ApprovalNeeded, Conflicting, RequestUnfit, answer_reused
from sidecall.client.options import CallOptions, ToolFilters
from sidecall.client.runs import SEEN, PersonWord

# In the metadata of the model's response, which no model reads and which is kept with the messages.
_SHOWN = "sidecall/shown"


@dataclass(frozen=True)
class Shown:
    """The arguments of a call as sent, its approval as shown, and its conversation.

    `approval` is None if none was pending.
    """

    args: dict[str, Any]
    approval: Mapping[str, Any] | None
    conversation: str | None


def note_shown(ctx: RunContext[Any], shown: Shown) -> None:
    """Store what is shown of a call, replacing the previous state."""
    response, _ = _find_call(ctx)
    if response is not None:
        seen = None if shown.approval is None else {name: shown.approval.get(name) for name in SEEN}
        said = {"args": shown.args, "approval": seen, "conversation": shown.conversation}
        metadata = response.metadata or {}
        noted = {**metadata.get(_SHOWN, {}), ctx.tool_call_id: said}
        response.metadata = {**metadata, _SHOWN: noted}


def recall_shown(ctx: RunContext[Any], args: dict[str, Any]) -> Shown:
    """Return what was shown, from the messages, or the metadata of the results.

    Without either, the model's arguments were sent in the conversation of this run, and no approval was pending.
    """
    response, call = _find_call(ctx)
    metadata = {} if response is None else response.metadata or {}
    noted = metadata.get(_SHOWN, {}).get(ctx.tool_call_id) or {}
    brought = ctx.tool_call_metadata if isinstance(ctx.tool_call_metadata, Mapping) else {}
    sent = args if call is None else call.args_as_dict()
    conversation = noted.get("conversation") or brought.get("conversation") or ctx.conversation_id
    return Shown(noted.get("args", sent), noted.get("approval") or brought.get("approval"), conversation)


def _find_call(ctx: RunContext[Any]) -> tuple[ModelResponse | None, ToolCallPart | None]:
    for message in reversed(ctx.messages):
        if isinstance(message, ModelResponse):
            for part in message.parts:
                if isinstance(part, ToolCallPart) and part.tool_call_id == ctx.tool_call_id:
                    return message, part
    return None, None


# The server checks the arguments, and words what is wrong for the model.
_ANY_ARGUMENTS = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))
# What the model can mend itself.
_MENDABLE = frozenset(("malformed_arguments", "invalid_arguments"))


@dataclass
class ServerToolset(AbstractToolset[Any]):
    """The tools of a server, listed again at each step of a run.

    `state` and `context` are functions of the run's context that return what tools get besides their arguments. Invalid
    arguments go back to the model up to `retries` times; a call that needs approval is deferred, and runs when the run
    continues with its approval, which takes credentials with the scope to decide. A call whose person has to sign in
    first is deferred too, with the `url` in `metadata["sign_in"]`.
    """

    server: AsyncSidecall
    state: Callable[[RunContext[Any]], Any] | None = None
    context: Callable[[RunContext[Any]], Mapping[str, Any]] | None = None
    filters: ToolFilters = field(default_factory=lambda: ToolFilters())
    retries: int = 2
    toolset_id: str | None = None

    @property
    def id(self) -> str | None:
        """The name for durable runs."""
        return self.toolset_id

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """List the server's tools."""
        filters = self.filters if self.context is None else {**self.filters, "context": self.context(ctx)}
        listed = await self.server.tools("mcp", **filters)
        return {it["name"]: self._make_tool(it) for it in listed}

    def _make_tool(self, listed: Mapping[str, Any]) -> ToolsetTool[Any]:
        metadata = {key: listed[key] for key in ("annotations", "_meta") if key in listed}
        definition = ToolDefinition(
            name=listed["name"],
            parameters_json_schema=listed["inputSchema"],
            description=listed.get("description"),
            metadata=metadata or None,
        )
        return ToolsetTool(toolset=self, tool_def=definition, max_retries=self.retries, args_validator=_ANY_ARGUMENTS)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Run a call on the server; artifact and other data are in the return's metadata.

        Raises:
            ApprovalRequired: A person has to decide, or to sign in.
            ModelRetry: The model wrote arguments that do not fit.
            ToolFailed: The call failed otherwise; the model reads why.
        """
        call = {"type": "tool_call", "name": name, "args": tool_args, "id": ctx.tool_call_id}
        options = self._supply(ctx)
        if ctx.tool_call_approved:
            return await self._go_on(call, options, ctx)
        if "_meta" in (tool.tool_def.metadata or {}):
            # Asked first, so that nothing is left waiting in the server for a decision that is made here.
            planned = await self.server.preview(call, **options)
            if planned["requires_approval"]:
                shown = Shown(tool_args, planned.get("approval"), ctx.conversation_id)
                raise _defer(ctx, shown, args=planned["args"], preview=planned["preview"])
        try:
            return _read(await self._call(call, options))
        except ApprovalNeeded as needed:
            raise _defer(ctx, Shown(tool_args, needed.approvals[0].document, ctx.conversation_id)) from None

    async def _go_on(self, call: dict[str, Any], options: CallOptions, ctx: RunContext[Any]) -> Any:
        """Run a call that a person has approved, possibly with other arguments.

        Raises:
            ApprovalRequired: Something else is asked than what they were shown, or the server refuses their arguments.
        """
        shown = recall_shown(ctx, call["args"])
        if shown.conversation is not None:
            options["conversation"] = shown.conversation
        edited = None
        if shown.args != call["args"] and await self._is_decided(call | {"args": shown.args}, options):
            edited, call = call["args"], call | {"args": shown.args}
        word = PersonWord(call["name"], shown.approval, PersonVerdict("approve", edited))
        why: str | None = None
        while True:
            try:
                return _read(await self._call(call, {**options, "ask": word.decide}))
            except ApprovalNeeded as needed:
                refusal = {} if why is None else {"refused": why}
                waiting = Shown(call["args"], needed.approvals[0].document, shown.conversation)
                raise _defer(ctx, waiting, **refusal) from None
            except (RequestUnfit, Conflicting) as refused:
                if not word.is_used or why is not None:
                    raise
                # Sent again for how the call stands.
                why = refused.detail

    async def _call(self, call: dict[str, Any], options: CallOptions) -> ToolAnswer:
        try:
            return await self.server.call(call, **options)
        except RequestUnfit as refused:
            reused = answer_reused(refused, call["name"], call["id"])
            if reused is None:
                raise
            return reused

    async def _is_decided(self, call: dict[str, Any], options: CallOptions) -> bool:
        """Return whether a person decides about a call, or has; otherwise it would run without their arguments."""
        planned = await self.server.preview(call, **options)
        return bool(planned["requires_approval"] or planned["message"])

    def _supply(self, ctx: RunContext[Any]) -> CallOptions:
        # The ids of calls come again in other conversations, of models that only count them.
        options: CallOptions = {} if ctx.conversation_id is None else {"conversation": ctx.conversation_id}
        if self.state is not None:
            options["state"] = to_jsonable_python(self.state(ctx), fallback=str)
        if self.context is not None:
            options["context"] = to_jsonable_python(self.context(ctx), fallback=str)
        return options


def _defer(ctx: RunContext[Any], shown: Shown, **planned: Any) -> ApprovalRequired:
    """Store what is shown of a call, and build the exception that defers it."""
    note_shown(ctx, shown)
    document = shown.approval
    waiting = {} if document is None else {"approval": document, "sign_in": document.get("sign_in")}
    return ApprovalRequired(metadata={**planned, **waiting, "conversation": shown.conversation})


def _read(answer: ToolAnswer) -> ToolReturn[Any]:
    failure = answer.failure
    if failure is None:
        metadata = {"artifact": answer.artifact, **answer.response_metadata}
        return ToolReturn(return_value=answer.content, metadata=metadata)
    if failure.kind in _MENDABLE:
        raise ModelRetry(str(answer.content))
    raise ToolFailed(str(answer.content))
