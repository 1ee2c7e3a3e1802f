"""Fields that every call may have, and types that calls share."""

from typing import Annotated, Any

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
