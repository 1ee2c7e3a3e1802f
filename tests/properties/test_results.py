"""What a tool returns is read as strict JSON, no matter what it is made of."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sidecall import tool
from tests.properties.conftest import Post
from tests.properties.json_values import any_json, texts
from tests.properties.results import Pair, mixtures
from tests.properties.runs import examples

_CALL = {"type": "tool_call", "name": "generated", "args": {}, "id": "call_1"}


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def _strictly(text: str | bytes) -> Any:
    return json.loads(text, parse_constant=_refuse)


def _answer(post: Post, returned: Any, **options: Any) -> dict[str, Any]:
    """Have a tool return this, and read the server's answer."""

    @tool(**options)
    async def generated() -> Any:
        """Return it."""
        return returned

    answer: dict[str, Any] = _strictly(post(generated, _CALL).content)
    return answer


def _read(content: Any) -> Any:
    """Read content as a program does: blocks as they are, all else as JSON text."""
    return content if isinstance(content, list) else _strictly(content)


def _exactly(value: Any) -> str:
    """Tell True from 1, which Python takes for equal."""
    return json.dumps(value, sort_keys=True)


@given(value=any_json.filter(lambda value: not isinstance(value, str)))
@examples(100)
def test_json_comes_back_equal(post: Post, value: Any) -> None:
    """The model reads what the tool returned."""
    answer = _answer(post, value)

    assert answer["status"] == "success"
    assert _exactly(_read(answer["content"])) == _exactly(value)


@given(text=texts(0, 200))
@examples(50)
def test_text_comes_back_as_it_is(post: Post, text: str) -> None:
    """No quotes are put around it, and nothing in it is taken for anything else."""
    assert _answer(post, text)["content"] == text


@given(text=st.text(st.characters()))
@examples(30)
def test_text_that_no_one_can_send_is_made_sendable(post: Post, text: str) -> None:
    """Lone surrogates become question marks, in text, in a list of parts and deep inside."""
    said = text.encode("utf-8", "replace").decode()
    answer = _answer(post, (text, {"deep": [text]}), response_format="content_and_artifact")

    assert (answer["content"], answer["artifact"]) == (said, {"deep": [said]})


@given(pair=mixtures)
@examples(200)
def test_any_mixture_is_said_in_json(post: Post, pair: Pair) -> None:
    """Models, dataclasses, dates, sets and the like are said as JSON has them, never as Python shows them."""
    returned, read = pair
    answer = _answer(post, returned)

    assert answer["status"] == "success", answer["content"]
    assert _exactly(read if answer["content"] == read else _read(answer["content"])) == _exactly(read)


@given(pair=mixtures)
@examples(100)
def test_an_artifact_may_be_any_mixture(post: Post, pair: Pair) -> None:
    """What the program keeps is strict JSON too."""
    returned, read = pair
    answer = _answer(post, ("said", returned), response_format="content_and_artifact")

    assert (answer["status"], answer["content"]) == ("success", "said")
    assert _exactly(answer["artifact"]) == _exactly(read)
