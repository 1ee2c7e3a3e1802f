"""Answer HEAD as GET, without a body, wherever GET is answered."""

from starlette.types import Message, Scope, Send


def as_get(scope: Scope, send: Send) -> tuple[Scope, Send]:
    """Make a GET of a HEAD, whose answer's body is left out."""

    async def send_without_body(message: Message) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return {**scope, "method": "GET"}, send_without_body
