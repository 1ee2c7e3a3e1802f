"""Functions around a tool see why arguments were refused, and no secret that the call was given."""

import json
import traceback
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, model_validator
from pydantic.v1 import BaseModel as PydanticOne
from pydantic.v1 import root_validator

from sidecall import BaseCallbackHandler, Secret, tool

VALUE = "s3cr3t-value"


class After(BaseModel):
    """Say too much of what does not fit."""

    q: Annotated[int, Field(lt=100)]
    key: Annotated[str, Secret("BANK_KEY")]

    @model_validator(mode="after")
    def refuse(self) -> "After":
        """Refuse nine."""
        if self.q == 9:
            raise ValueError(f"no nine {self.key}")
        return self


class Before(BaseModel):
    """Say too much before anything is checked."""

    q: int
    inner: dict[str, int] = {}
    key: Annotated[str, Secret("BANK_KEY")]

    @model_validator(mode="before")
    @classmethod
    def refuse(cls, sent: Any) -> Any:
        """Refuse nine."""
        if sent.get("q") == 9:
            raise ValueError(f"no nine {json.dumps(sent)}")
        return sent


class One(PydanticOne):
    """Say too much, in pydantic 1."""

    q: int
    key: Annotated[str, Secret("BANK_KEY")]

    @root_validator(pre=True)
    def refuse(cls, sent: Any) -> Any:  # noqa: N805
        """Refuse nine."""
        if sent.get("q") == 9:
            raise ValueError(f"no nine {sent}")
        return sent


class Listener(BaseCallbackHandler):
    """Keep what is heard."""

    def __init__(self, heard: list[Any]) -> None:
        self.heard = heard

    def on_tool_error(self, error: BaseException, **_: Any) -> None:
        """Hear of a failure."""
        self.heard.append(error)


def tell_all(error: Any) -> str:
    """Write all that an error says, and what stands behind it."""
    errors = error.errors() if callable(getattr(error, "errors", None)) else getattr(error, "errors", None)
    rest = [str(error), repr(error), errors, error.args, getattr(error, "original", None), vars(error)]
    return repr(rest) + "".join(traceback.format_exception(error))


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BANK_KEY", VALUE)


@pytest.mark.parametrize("executor", ["inline", "thread"])
@pytest.mark.parametrize("option", ["handle_validation_error", "failure_error_function"])
@pytest.mark.parametrize("args", [{"q": 9}, {"q": "x"}, {}, {"q": 100, "inner": {"a": VALUE}}, {"q": 1, "no": VALUE}])
@pytest.mark.parametrize("schema", [After, Before, One])
async def test_no_function_sees_a_secret(schema: Any, args: Any, option: str, executor: Any) -> None:
    """No matter what is wrong, and where the message comes from."""
    seen: list[Any] = []
    options: Any = {option: lambda *given: seen.append(given[-1]) or "wrong"}

    @tool(args_schema=schema, callbacks=[Listener(seen)], executor=executor, unknown_args="forbid", **options)
    def pay(**given: Any) -> str:
        """Pay."""
        return f"paid {given['q']}"

    message = await pay.ainvoke({"type": "tool_call", "name": "pay", "args": args, "id": "1"})

    assert message.content in ("wrong", "paid 100")
    assert len(seen) == (2 if message.content == "wrong" else 0)
    assert [it for it in seen if VALUE in tell_all(it)] == []


async def test_a_program_that_calls_it_sees_none_either() -> None:
    """In the error that is raised."""

    @tool(args_schema=After)
    def pay(**given: Any) -> str:
        """Pay."""
        return str(given["q"])

    with pytest.raises(ValueError, match=r"no nine \[redacted\]") as caught:
        await pay.ainvoke({"q": 9})

    assert VALUE not in tell_all(caught.value)


def test_a_handler_reads_the_same_places_and_rules() -> None:
    """As of pydantic's own error."""
    seen: list[Any] = []

    @tool(args_schema=After, handle_validation_error=lambda error: seen.extend(error.errors()) or "wrong")
    def pay(**given: Any) -> str:
        """Pay."""
        return str(given["q"])

    for args in ({"q": 100}, {}, {"q": 9}):
        pay.invoke({"type": "tool_call", "name": "pay", "args": args, "id": "1"})

    assert [(it["type"], it["loc"], it["input"], it.get("ctx")) for it in seen] == [
        ("less_than", ("q",), 100, {"lt": 100}),
        ("missing", ("q",), {}, None),
        ("value_error", (), {"q": 9}, None),
    ]
