"""The shapes of a call that models emit, one per provider, and of the answers each expects."""

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, SkipValidation, StrictBool, StrictInt
from pydantic_core import PydanticCustomError

from sidecall.core.approval import Approval
from sidecall.core.calls.entry import CallEntry
from sidecall.core.messages import ToolMessage

JsonObject = dict[str, Any]


def _be_whole(number: Any) -> Any:
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _be_arguments(sent: Any) -> Any:
    if sent is None or isinstance(sent, str | dict):
        return sent
    raise PydanticCustomError("arguments_type", "Input should be a JSON object or the text of one")


Arguments = Annotated[str | JsonObject | None, BeforeValidator(_be_arguments)]

# JSON has one kind of number: 3.0 is an integer, too.
_CallId = Annotated[str | StrictInt | None, BeforeValidator(_be_whole)]


class CallBody(BaseModel):
    """What the calling program, never the model, may send beside a call."""

    model_config = ConfigDict(extra="ignore")

    state: Any = Field(default=None, description="What parameters marked InjectedState get.")
    context: dict[str, Any] | None = Field(default=None, description="What other injected parameters get, by name.")
    hash: str | None = Field(
        default=None,
        max_length=128,
        description="What `GET /tools/{name}` says is the tool's `hash`; where it is another one by now, nothing runs.",
    )
    callback_url: str | None = Field(
        default=None,
        max_length=2048,
        description="Where to tell that the call has ended; it is then remembered, and answered with 202.",
    )


class LangChainToolCall(CallBody):
    """LangChain's ToolCall; answered with a ToolMessage."""

    name: str = Field(description="The tool to run.")
    args: Arguments = Field(description="Its arguments; some models write them as JSON text.")
    id: _CallId = Field(default=None, description="Echoed as `tool_call_id`; minted when absent.")
    type: Literal["tool_call"] | None = "tool_call"


class OpenAIFunction(BaseModel):
    """Name a function and its arguments as OpenAI's models write them."""

    name: str
    arguments: Arguments = Field(description="A JSON object, as text or as it is.")


class OpenAIToolCall(CallBody):
    """A tool call of the Chat Completions API; answered with a message of role `tool`."""

    id: _CallId = Field(default=None, description="Echoed as `tool_call_id`; minted when absent.")
    type: Literal["function"] | None = "function"
    function: OpenAIFunction


class ResponsesFunctionCall(CallBody):
    """A function call of the Responses API; answered with a `function_call_output` item."""

    type: Literal["function_call"]
    call_id: _CallId = Field(default=None, description="Echoed; minted when absent.")
    name: str
    arguments: Arguments = Field(description="A JSON object, as text or as it is.")
    # The second is what OpenAI's library writes where it is not asked for aliases.
    is_async: StrictBool | None = Field(
        default=None,
        validation_alias=AliasChoices("async", "async_"),
        description="Whether the model goes on without the answer; the call is then remembered, and answered with 202.",
    )


class AnthropicToolUse(CallBody):
    """A tool_use block of the Messages API; answered with a tool_result block."""

    type: Literal["tool_use"]
    id: _CallId = Field(default=None, description="Echoed as `tool_use_id`; minted when absent.")
    name: str
    input: Arguments = Field(description="The arguments; some models write them as JSON text.")


class GeminiFunctionCall(BaseModel):
    """Name a function and its arguments as Gemini writes them."""

    name: str
    args: Arguments = Field(default=None, description="The arguments; some models write them as JSON text.")
    id: _CallId = Field(default=None, description="Echoed; minted when absent.")


class GeminiFunctionCallPart(CallBody):
    """A part of Gemini's API that holds a function call; answered with a part that holds its response."""

    function_call: GeminiFunctionCall = Field(validation_alias=AliasChoices("functionCall", "function_call"))


class ToolSearchCall(CallBody):
    """A search for tools of the Responses API that the program runs; answered with a `tool_search_output` item."""

    type: Literal["tool_search_call"]
    call_id: _CallId = Field(default=None, description="Echoed; minted when absent.")
    execution: Literal["client"] | None = "client"
    arguments: Arguments = Field(description='`{"query": …}` or `{"pattern": …}`, with `limit`.')


Call = (
    LangChainToolCall
    | OpenAIToolCall
    | ResponsesFunctionCall
    | ToolSearchCall
    | AnthropicToolUse
    | GeminiFunctionCallPart
)


def _hide_callback(schema: dict[str, Any]) -> None:
    # It is read to be refused with a word of why.
    del schema["properties"]["callback_url"]


class Batch(CallBody):
    """Calls of one turn, and what they all get of the program; what stands beside a call goes before that."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_hide_callback)

    # Each is read by itself, so that the answer says what is wrong with it.
    calls: list[SkipValidation[Call]]


class DryRun(BaseModel):
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


class AnswerBody(BaseModel):
    """An answer, of which every key is there."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class OpenAIToolMessage(AnswerBody):
    """The message that answers a tool call of the Chat Completions API."""

    role: Literal["tool"] = "tool"
    tool_call_id: str
    content: str | list[Any]


class ResponsesFunctionCallOutput(AnswerBody):
    """The item that answers a function call of the Responses API."""

    type: Literal["function_call_output"] = "function_call_output"
    call_id: str
    output: str | list[Any]


class ToolSearchOutput(AnswerBody):
    """The item that answers a search for tools of the Responses API."""

    type: Literal["tool_search_output"] = "tool_search_output"
    call_id: str
    execution: Literal["client"] = "client"
    status: Literal["completed"] = "completed"
    tools: list[JsonObject] = Field(description="The definitions of what was found; none where the search failed.")


class AnthropicToolResult(AnswerBody):
    """The block that answers a tool_use block."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: str
    content: str | list[Any]
    is_error: bool = False


class GeminiFunctionResponse(BaseModel):
    """What a function has answered; images and files stand in `parts`."""

    id: str
    name: str
    response: JsonObject = Field(description="The answer under `output`, or what went wrong under `error`.")
    parts: list[JsonObject] | None = None


class GeminiFunctionResponsePart(BaseModel):
    """The part that answers a function call of Gemini's API."""

    functionResponse: GeminiFunctionResponse  # noqa: N815  Gemini's name


# What a call is answered with, in the dialect that was asked for.
Answer = (
    ToolMessage
    | OpenAIToolMessage
    | ResponsesFunctionCallOutput
    | ToolSearchOutput
    | AnthropicToolResult
    | GeminiFunctionResponsePart
)


class AnsweredCall(CallEntry):
    """What is known of one call, with its answer in the dialect that was asked for."""

    message: Answer | None = Field(  # type: ignore[assignment]  # only documented
        default=None, description="Its answer, once there is one and where it is kept; absent in lists."
    )
