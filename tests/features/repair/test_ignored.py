"""Arguments that no parameter takes are reported, with a refusal too."""

from sidecall import tool
from tests.compiler.test_argument_models_adopted import greet
from tests.compiler.test_json_args_schema import call
from tests.kernel.pipeline.test_validate import CANARY, order
from tests.kernel.schema.test_model_args_schema import Aliased
from tests.kit.calls import run
from tests.kit.clients import MakeClient
from tests.kit.tools import add


async def test_unknown_and_forged_arguments_are_reported_together() -> None:
    """The forged ones first."""
    message = await run(order, {"zz": 1, "dish": "soup", "count": "2", "key": CANARY})

    assert message.content == "soup 2 False k"
    assert message.response_metadata["ignored_args"] == ["key", "zz"]


async def test_ignored_arguments_are_reported_with_a_refusal_too() -> None:
    """They may be why another is wrong."""
    message = await run(order, {"dish": "soup", "count": "two", "zz": 2})

    assert message.content == "count: Input should be an integer"
    assert message.response_metadata["ignored_args"] == ["zz"]


async def test_unknown_arguments_are_ignored_and_reported(make_client: MakeClient) -> None:
    """As in LangChain; the program can see it."""
    client = await make_client(add)

    message = (await client.post("/tool_calls", json={"name": "add", "args": {"a": 1, "c": "x", "d": [3]}})).json()

    assert message["content"] == "2"
    assert message["response_metadata"]["ignored_args"] == ["c", "d"]


async def test_an_argument_that_the_function_does_not_take_is_reported() -> None:
    """An open schema lets it pass; the function could not."""
    message = await call(query="tea", zz=True)

    assert message.status == "success"
    assert message.response_metadata["ignored_args"] == ["zz"]


async def test_one_at_a_depth_is_dropped_where_its_model_is_open() -> None:
    """Though the tool itself refuses what it does not know."""
    message = await run(greet, {"name": "Ada", "friends": [{"name": "Bo", "zz": 1}]})

    assert message.content == "Ada [Person(name='Bo', friends=[])]"


async def test_one_beside_aliases_is_reported() -> None:
    """Every name that a field goes by is known."""

    @tool(args_schema=Aliased)
    async def take(a: int, b: int, c: int) -> str:
        """Take."""
        return f"{a} {b} {c}"

    message = await run(take, {"other": "x"})

    assert (message.content, message.response_metadata["ignored_args"]) == ("0 0 0", ["other"])
