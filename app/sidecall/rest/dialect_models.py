"""The wire forms of calls and answers, by provider."""

from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, SkipValidation, StrictBool

from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.ports.approvals.approval import Approval
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.rest.native_calls.answer_models import (
    AnswerBody,
    Arguments,
    CallBody,
    ItemAnswer,
    JsonObject,
    SentCall,
    SentId,
)
from sidecall.rest.native_calls.call_models import ItemCall


class LangChainToolCall(SentCall):
    """LangChain's ToolCall; answered with a ToolMessage."""

    name: str = Field(description="The tool to run.")
    args: Arguments = Field(description="Its arguments; some models write them as JSON text.")
    id: SentId = Field(default=None, description="Echoed as `tool_call_id`; minted when absent.")
    type: Literal["tool_call"] | None = "tool_call"


class OpenAIFunction(BaseModel, defer_build=True):
    """Name a function and its arguments as OpenAI's models write them."""

    name: str
    arguments: Arguments = Field(description="A JSON object, as text or as it is.")


class OpenAIToolCall(SentCall):
    """A tool call of the Chat Completions API; answered with a message of role `tool`."""

    id: SentId = Field(default=None, description="Echoed as `tool_call_id`; minted when absent.")
    type: Literal["function"] | None = "function"
    function: OpenAIFunction


class ResponsesFunctionCall(SentCall):
    """A function call of the Responses API; answered with a `function_call_output` item."""

    type: Literal["function_call"]
    call_id: SentId = Field(default=None, description="Echoed; minted when absent.")
    name: str
    arguments: Arguments = Field(description="A JSON object, as text or as it is.")
    namespace: str | None = Field(default=None, description="Echoed.")
    caller: JsonObject | None = Field(default=None, description="Echoed: the program to which the answer goes.")
    # The second is what OpenAI's library writes where it is not asked for aliases.
    is_async: StrictBool | None = Field(
        default=None,
        validation_alias=AliasChoices("async", "async_"),
        description="Whether the model goes on without the answer; the call is then remembered, and answered with 202.",
    )


class AnthropicToolUse(SentCall):
    """A tool_use block of the Messages API; answered with a tool_result block."""

    type: Literal["tool_use"]
    id: SentId = Field(default=None, description="Echoed as `tool_use_id`; minted when absent.")
    name: str
    input: Arguments = Field(description="The arguments; some models write them as JSON text.")
    toolset_name: str | None = Field(default=None, description="Of a member of a toolset; echoed.")


class GeminiFunctionCall(BaseModel, defer_build=True):
    """Name a function and its arguments as Gemini writes them."""

    name: str
    args: Arguments = Field(default=None, description="The arguments; some models write them as JSON text.")
    id: SentId = Field(default=None, description="Echoed, where it is there.")
    will_continue: bool | None = Field(
        default=None,
        strict=True,
        validation_alias=AliasChoices("willContinue", "will_continue"),
        description="Whether it is a piece of a call: nothing runs then, and the answer tells the model.",
    )


class GeminiFunctionCallPart(SentCall):
    """A part of Gemini's API that holds a function call; answered with a part that holds its response."""

    function_call: GeminiFunctionCall = Field(validation_alias=AliasChoices("functionCall", "function_call"))


Call = LangChainToolCall | OpenAIToolCall | ResponsesFunctionCall | AnthropicToolUse | GeminiFunctionCallPart | ItemCall


def _hide_callback(schema: dict[str, Any]) -> None:
    # It is read to be refused with a word of why.
    del schema["properties"]["callback_url"]


class Batch(CallBody):
    """Calls of one turn, and what they all get of the program; what stands beside a call goes before that."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_hide_callback)

    # Each is read by itself, so that the answer says what is wrong with it.
    calls: list[SkipValidation[Call]]


class SaidCall(BaseModel, defer_build=True):
    """A call in a message of Chat Completions; nothing of the program's stands beside it."""

    id: SentId = Field(default=None, description="Echoed as `tool_call_id`; minted when absent.")
    type: Literal["function"] | None = "function"
    function: OpenAIFunction


def _tell_messages(schema: dict[str, Any]) -> None:
    """Describe the members by which a message is recognized."""
    _hide_callback(schema)
    by_role = {"properties": {"role": {"const": "assistant"}}, "required": ["role"]}
    schema["anyOf"] = [by_role, {"required": ["tool_calls"]}]


class SaidMessage(CallBody):
    """What a model has said, as Chat Completions or Anthropic answer with it: the calls in it are run.

    So are those of messages of LangChain (`tool_calls`), Ollama (`tool_calls`) and Gemini (`parts`), and of an answer
    of the Responses API (`output`).
    """

    model_config = ConfigDict(extra="allow", json_schema_extra=_tell_messages)

    role: Literal["assistant"] | None = Field(default=None, description="A message without it has `tool_calls`.")
    content: Any = Field(
        default=None, description="A text; Anthropic's blocks, of which those of `tool_use` are calls."
    )
    tool_calls: list[SaidCall] | None = Field(default=None, description="The calls of Chat Completions.")


class DryRun(BaseModel, defer_build=True):
    """What a call would do: either run with `args`, or be answered with `message`."""

    would_run: bool = Field(description="Whether the tool would be run, once it is approved where that is required.")
    name: str
    tool_call_id: str
    args: JsonObject | None = Field(description="The arguments as the tool would get them, without what is injected.")
    requires_approval: bool = Field(description="Whether a person would have to approve the call.")
    repaired: list[str] = Field(description="What would be mended in the arguments.")
    ignored_args: list[str] = Field(description="Arguments that no parameter takes.")
    preview: Any = Field(description="What the call would do, where its tool can say so; any JSON.")
    preview_error: str | None = Field(description="Why there is no preview, where one was to be made.")
    message: Any = Field(
        description="What the call would be answered with, in the dialect, where it would not be run: what is wrong"
        " with it, or the answer that the same call got when a person had decided about it."
    )
    approval: Approval | None = Field(
        description="The approval that the same call has, as long as it waits for a person or, approved, still runs."
    )
    sign_in: str | None = Field(description="The provider at which the call's person would have to sign in first.")


class OpenAIToolMessage(AnswerBody):
    """The message that answers a tool call of the Chat Completions API."""

    role: Literal["tool"] = "tool"
    tool_call_id: str
    content: str | list[Any]


class ResponsesFunctionCallOutput(BaseModel, defer_build=True):
    """The item that answers a function call of the Responses API."""

    type: Literal["function_call_output"]
    call_id: str
    output: str | list[Any]
    caller: JsonObject = Field(default_factory=dict, description="That of the call, where it has one.")
    namespace: str = Field(default="", description="That of the call, where it has one.")


class AnthropicToolResult(BaseModel, defer_build=True):
    """The block that answers a tool_use block."""

    type: Literal["tool_result"]
    tool_use_id: str
    content: str | list[Any]
    is_error: bool
    toolset_name: str = Field(default="", description="That of the call, where it has one.")


class GeminiFunctionResponse(BaseModel, defer_build=True):
    """What a function has answered; images and files stand in `parts`."""

    id: str = Field(default="", description="That of the call, where it has one.")
    name: str
    response: JsonObject = Field(description="The answer under `output`, or what went wrong under `error`.")
    parts: list[JsonObject] | None = None


class GeminiFunctionResponsePart(BaseModel, defer_build=True):
    """The part that answers a function call of Gemini's API."""

    functionResponse: GeminiFunctionResponse  # noqa: N815  Gemini's name


# What a call is answered with, in the dialect that was asked for.
Answer = (
    ToolMessage
    | OpenAIToolMessage
    | ResponsesFunctionCallOutput
    | AnthropicToolResult
    | GeminiFunctionResponsePart
    | ItemAnswer
)


class AnsweredCall(CallEntry):
    """What is known of one call, with its answer in the dialect that was asked for."""

    message: Answer | None = Field(  # type: ignore[assignment]  # only documented
        default=None, description="Its answer, once there is one and where it is kept; absent in lists."
    )
