"""The calls whose costs are compared are what their names say."""

import json

from bench.loops.wrong_calls import RIGHT, SENT, ready
from bench.rows import call_of

MENDED = {
    RIGHT,
    "an argument in other letters",
    "an argument unlike any",
    "JSON text for a list",
    "everything in a wrapper",
    "text in single quotes",
}


async def test_each_call_is_answered_as_its_kind_is() -> None:
    """A right call that fails would make all others look cheap."""
    async with ready() as answer:
        bodies = {kind: json.dumps(call_of("order", args)).encode() for kind, args in SENT.items()}
        answers = {kind: json.loads(await answer(body)) for kind, body in bodies.items()}

    assert {kind for kind, message in answers.items() if message["status"] == "success"} == MENDED
    refused = {message["response_metadata"]["error"]["kind"] for kind, message in answers.items() if kind not in MENDED}
    assert refused == {"invalid_arguments", "malformed_arguments"}
