"""Go beyond the bounds of programs that run in a sandbox."""

from sidecall.loading.discovery import discover
from sidecall.loading.toolkits import find_files
from tests.features.sandbox.command_tools import print_much, take
from tests.features.sandbox.machine import open_once
from tests.kit.clients import MakeClient
from tests.limits.by_request import Provoke, call, post


async def _print_much(make_client: MakeClient) -> str:
    open_once()
    tools = discover(find_files(["shell"]))
    client = await make_client(*tools, shell_allow=("seq",), shell_output_bytes=1024)
    answer = (await post(client, call("bash", command="seq 1000"))).json()
    is_cut = "cut: it has 3893 bytes; all of it is in" in answer["content"] and len(answer["content"]) < 1300
    return "cut; a file of the conversation has all of it" if is_cut else str(answer)


async def _answer_with_much(make_client: MakeClient) -> str:
    open_once()
    client = await make_client(print_much)
    answer = await post(client, call("print_much"))
    return f"{answer.status_code}, kind `{answer.json()['response_metadata']['error']['kind']}`"


async def _send_long_words(make_client: MakeClient) -> str:
    open_once()
    client = await make_client(take)
    # A tool's own word is `true`.
    sent = [["a" * 131_072], ["a" * 131_000] * 14 + ["a" * 65_997], ["a"] * 8_000]
    answers = [await post(client, call("take", words=words)) for words in sent]
    kinds = {f"{it.status_code}, kind `{it.json()['response_metadata']['error']['kind']}`" for it in answers}
    return ", ".join(kinds)


BY_SANDBOX: dict[str, Provoke] = {
    "bytes of a command's output that are shown": _print_much,
    "bytes that a tool with `command` prints": _answer_with_much,
    "bytes of an argument of a tool with `command`, and of all its words": _send_long_words,
}
