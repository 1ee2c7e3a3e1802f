"""The shapes of a call that models emit, one per provider, and of the answers each expects."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt

JsonObject = dict[str, Any]


class CallBody(BaseModel):
    """What the calling program, never the model, may send beside a call."""

    model_config = ConfigDict(extra="ignore")

    state: Any = Field(default=None, description="What parameters marked InjectedState get.")
    context: dict[str, Any] | None = Field(default=None, description="What other injected parameters get, by name.")


class LangChainToolCall(CallBody):
    """LangChain's ToolCall; answered with a ToolMessage."""

    name: str = Field(description="The tool to run.")
    args: JsonObject | None = Field(description="Its arguments.")
    id: str | StrictInt | None = Field(default=None, description="Echoed as `tool_call_id`; minted when absent.")
    type: Literal["tool_call"] | None = "tool_call"


class OpenAIFunction(BaseModel):
    """Name a function and its arguments as OpenAI's models write them."""

    name: str
    arguments: str | JsonObject | None = Field(description="A JSON object, as text or as it is.")


class OpenAIToolCall(CallBody):
    """A tool call of the Chat Completions API; answered with a message of role `tool`."""

    id: str | StrictInt | None = Field(default=None, description="Echoed as `tool_call_id`; minted when absent.")
    type: Literal["function"] | None = "function"
    function: OpenAIFunction


class ResponsesFunctionCall(CallBody):
    """A function call of the Responses API; answered with a `function_call_output` item."""

    type: Literal["function_call"]
    call_id: str | StrictInt | None = Field(default=None, description="Echoed; minted when absent.")
    name: str
    arguments: str | JsonObject | None = Field(description="A JSON object, as text or as it is.")


class AnthropicToolUse(CallBody):
    """A tool_use block of the Messages API; answered with a tool_result block."""

    type: Literal["tool_use"]
    id: str | StrictInt | None = Field(default=None, description="Echoed as `tool_use_id`; minted when absent.")
    name: str
    input: JsonObject | None = Field(description="The arguments.")


class OpenAIToolMessage(BaseModel):
    """The message that answers a tool call of the Chat Completions API."""

    role: Literal["tool"] = "tool"
    tool_call_id: str
    content: str | list[Any]


class ResponsesFunctionCallOutput(BaseModel):
    """The item that answers a function call of the Responses API."""

    type: Literal["function_call_output"] = "function_call_output"
    call_id: str
    output: str | list[Any]


class AnthropicToolResult(BaseModel):
    """The block that answers a tool_use block."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: str
    content: str | list[Any]
    is_error: bool = False
