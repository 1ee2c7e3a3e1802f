"""Models of calls of native tools, for the OpenAPI document: `shell_call` and the like, and no function calls."""

from typing import Annotated, Any, Literal, get_args

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, StrictBool

from sidecall.rest.native_calls.answer_models import (
    Arguments,
    CharacterCount,
    JsonObject,
    SentCall,
    SentId,
    SentObject,
    WholeNumber,
)


class OpenAICustomInput(BaseModel, defer_build=True):
    """Name a custom tool and the text for it."""

    name: str
    input: str


class OpenAICustomCall(SentCall):
    """A call of a custom tool in the Chat Completions API; answered with a message of role `tool`."""

    id: SentId = Field(default=None, description="Echoed as `tool_call_id`; minted when absent.")
    type: Literal["custom"]
    custom: OpenAICustomInput


class _Item(SentCall):
    call_id: SentId = Field(default=None, description="Echoed; minted when absent.")


class _CalledItem(_Item):
    caller: JsonObject | None = Field(default=None, description="Echoed: the program to which the answer goes.")


class CustomToolCall(_CalledItem):
    """A call of a custom tool in the Responses API; answered with a `custom_tool_call_output` item."""

    type: Literal["custom_tool_call"]
    name: str
    input: str = Field(description="The text that the tool gets.")
    is_async: StrictBool | None = Field(
        default=None,
        validation_alias=AliasChoices("async", "async_"),
        description="Whether the model goes on without the answer; the call is then remembered, and answered with 202.",
    )


class ShellAction(BaseModel, defer_build=True):
    """What a shell is to run."""

    commands: list[str]
    timeout_ms: WholeNumber | None = None
    max_output_length: CharacterCount | None = Field(
        default=None, description="Echoed; holds for each and for all of them."
    )


class LocalEnvironment(BaseModel, defer_build=True):
    """The place where a shell of ours runs; a container of the provider's is refused."""

    type: Literal["local"] = "local"


class ShellCall(_CalledItem):
    """Commands for a local shell; answered with a `shell_call_output` item."""

    type: Literal["shell_call"]
    action: ShellAction
    environment: LocalEnvironment | None = None


def _refuse_user(user: Any) -> None:
    if user is not None:
        raise ValueError("Commands are run as the user of the shell; leave `user` out")


class LocalShellAction(BaseModel, defer_build=True):
    """One command for a shell, as a list of words."""

    type: Literal["exec"] = "exec"
    command: list[str] = Field(min_length=1)
    env: dict[str, str] = Field(default_factory=dict)
    timeout_ms: WholeNumber | None = None
    working_directory: str | None = None
    user: Annotated[None, BeforeValidator(_refuse_user)] = Field(
        default=None, description="Refused: commands run as the shell's own user."
    )


class LocalShellCall(_Item):
    """One command for a local shell, in the older form; answered with a `local_shell_call_output` item."""

    type: Literal["local_shell_call"]
    id: str | None = Field(default=None, description="Echoed, with `call_id`.")
    action: LocalShellAction


class PatchedFile(BaseModel, defer_build=True):
    """What is to be done to a file."""

    type: Literal["create_file", "update_file", "delete_file"]
    path: str
    diff: str | None = None


class ApplyPatchCall(_CalledItem):
    """A change of a file; answered with an `apply_patch_call_output` item."""

    type: Literal["apply_patch_call"]
    operation: PatchedFile


class ComputerCall(_Item):
    """Actions at a computer; answered with a `computer_call_output` item, which is a screenshot."""

    type: Literal["computer_call"]
    actions: list[JsonObject] | None = Field(default=None, description="Without any it is a screenshot.")
    action: JsonObject | None = Field(default=None, description="One action, in the older form.")
    pending_safety_checks: list[JsonObject] = Field(
        default_factory=list, description="Where there are some, a person has to approve the call; echoed then."
    )


class ToolSearchCall(_Item):
    """A search for tools of the Responses API that the program runs; answered with a `tool_search_output` item."""

    type: Literal["tool_search_call"]
    execution: Literal["client"] | None = "client"
    arguments: Arguments = Field(description='`{"query": …}` or `{"pattern": …}`, with `limit`.')


class MCPApprovalRequest(SentCall):
    """A question whether a tool may run that the provider calls; answered with an `mcp_approval_response` item."""

    type: Literal["mcp_approval_request"]
    id: str = Field(description="Echoed as `approval_request_id`.")
    name: str
    arguments: Any = None
    server_label: str


class GeminiFunctionCallStep(SentCall):
    """A step of Gemini's Interactions API that calls a function; answered with a `function_result` step."""

    type: Literal["function_call"]
    id: str = Field(description="Echoed as `call_id`.")
    name: str
    arguments: SentObject


# All but functions.
ItemCall = (
    OpenAICustomCall
    | CustomToolCall
    | ShellCall
    | LocalShellCall
    | ApplyPatchCall
    | ComputerCall
    | ToolSearchCall
    | MCPApprovalRequest
    | GeminiFunctionCallStep
)
ITEM_CALLS: tuple[type[BaseModel], ...] = get_args(ItemCall)
