"""Models of answers to calls of native tools, for the OpenAPI document: `shell_call_output` and the like."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt
from pydantic_core import PydanticCustomError

from sidecall.kernel.json_data.text import read_object

JsonObject = dict[str, Any]


def _to_integer(number: Any) -> Any:
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _to_arguments(sent: Any) -> Any:
    sent = read_object(sent)
    if sent is None or isinstance(sent, str | dict):
        return sent
    raise PydanticCustomError("arguments_type", "Input should be a JSON object or the text of one")


Arguments = Annotated[str | JsonObject | None, BeforeValidator(_to_arguments)]
# An empty array, as PHP or Lua may write an object.
SentObject = Annotated[JsonObject, BeforeValidator(read_object)]

# JSON has one kind of number: 3.0 is an integer too.
WholeNumber = Annotated[StrictInt, BeforeValidator(_to_integer)]

CharacterCount = Annotated[StrictInt, Field(ge=0), BeforeValidator(_to_integer)]

SentId = Annotated[str | StrictInt | None, BeforeValidator(_to_integer)]


class CallBody(BaseModel, defer_build=True):
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


class SentCall(CallBody, defer_build=True):
    """One call, and whether its model has written it to its end."""

    status: str | None = Field(
        default=None,
        description="`incomplete` or `in_progress` where its model was cut off writing it: nothing runs then, and the"
        " answer tells the model.",
    )

    @property
    def is_cut_off(self) -> bool:
        """Whether the call is incomplete, since the model's output was truncated."""
        return self.status in ("incomplete", "in_progress")


class AnswerBody(BaseModel, defer_build=True):
    """An answer, of which every key is there."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class _CalledAnswer(BaseModel, defer_build=True):
    call_id: str
    caller: JsonObject = Field(default_factory=dict, description="That of the call, where it has one.")


class CustomToolCallOutput(_CalledAnswer):
    """The item that answers a call of a custom tool."""

    type: Literal["custom_tool_call_output"]
    output: str | list[Any]


class ShellOutcome(BaseModel, defer_build=True):
    """How a command ended."""

    type: Literal["exit", "timeout"]
    exit_code: int = Field(default=0, description="Not there after a timeout.")


class ShellOutput(BaseModel, defer_build=True):
    """The output of one command."""

    stdout: str
    stderr: str
    outcome: ShellOutcome


class ShellCallOutput(_CalledAnswer):
    """The item that answers commands for a shell; a refused one is an output, too, whose `stderr` says why."""

    type: Literal["shell_call_output"]
    output: list[ShellOutput]
    status: Literal["completed"]
    max_output_length: int = Field(default=0, description="That of the call, where it has one.")


class LocalShellCallOutput(BaseModel, defer_build=True):
    """The item that answers a command for a shell in the older form."""

    type: Literal["local_shell_call_output"]
    id: str
    call_id: str
    output: str = Field(description="JSON text with `stdout`, `stderr` and `outcome`.")
    status: Literal["completed", "incomplete"]


class ApplyPatchCallOutput(_CalledAnswer):
    """The item that answers a change of a file."""

    type: Literal["apply_patch_call_output"]
    status: Literal["completed", "failed"]
    output: str


class ComputerScreenshot(BaseModel, defer_build=True):
    """What the screen shows: by its URL, mostly a `data:` URL, or by the id under which the provider has it."""

    type: Literal["computer_screenshot"]
    image_url: str = ""
    file_id: str = ""


class ComputerCallOutput(BaseModel, defer_build=True):
    """The item that answers what was to be done at a computer; `Sidecall-Error` says what went wrong."""

    type: Literal["computer_call_output"]
    call_id: str
    output: ComputerScreenshot
    status: Literal["completed", "incomplete"]
    acknowledged_safety_checks: list[JsonObject] = Field(
        default_factory=list, description="Those of the call, where a person has approved it."
    )


class ToolSearchOutput(AnswerBody):
    """The item that answers a search for tools of the Responses API."""

    type: Literal["tool_search_output"] = "tool_search_output"
    call_id: str
    execution: Literal["client"] = "client"
    status: Literal["completed"] = "completed"
    tools: list[JsonObject] = Field(description="The definitions of what was found; none where the search failed.")


class MCPApprovalResponse(BaseModel, defer_build=True):
    """The item that answers a question whether the provider may call a tool."""

    type: Literal["mcp_approval_response"]
    approval_request_id: str
    approve: bool
    reason: str = Field(default="", description="Why not.")


class GeminiFunctionResultStep(BaseModel, defer_build=True):
    """The step that answers a call of a function."""

    type: Literal["function_result"]
    call_id: str
    name: str
    result: str | list[JsonObject]
    is_error: bool


# All but functions'.
ItemAnswer = (
    CustomToolCallOutput
    | ShellCallOutput
    | LocalShellCallOutput
    | ApplyPatchCallOutput
    | ComputerCallOutput
    | ToolSearchOutput
    | MCPApprovalResponse
    | GeminiFunctionResultStep
)
