"""Results and events of tools at the bounds of answers."""

from trials.hostile.holding.case import STREAM, Case, ask_over_mcp, call, get, send, send_batch


def _write(dialect: str, name: str, args: object) -> object:
    if dialect == "anthropic":
        return {"type": "tool_use", "id": "call_1", "name": name, "input": args}
    if dialect == "gemini":
        return {"functionCall": {"id": "call_1", "name": name, "args": args}}
    return {"name": name, "args": args, "id": "call_1"}


CASES = [
    Case("progress without waiting", "10,000 times", call("report", {"times": 10_000}, **STREAM)),
    Case("progress of long texts", "100 of 1 MB", call("say", {"megabytes": 1, "times": 100}, **STREAM)),
    Case("parts without waiting", "10,000", call("count", {"parts": 10_000}, **STREAM)),
    Case("long parts", "16 of 1 MB", call("recite", {"megabytes": 1, "times": 16}, **STREAM)),
    Case(
        "long parts over MCP",
        "16 of 1 MB",
        ask_over_mcp("tools/call", name="recite", arguments={"megabytes": 1, "times": 16}),
    ),
    Case("a long answer, which is cut", "16 MB", call("fill", {"megabytes": 16})),
    Case("the same over MCP", "16 MB", ask_over_mcp("tools/call", name="fill", arguments={"megabytes": 16})),
    Case("the same as a plain result", "16 MB", send({"megabytes": 16}, "/tools/fill/call")),
    Case("the same, in other letters", "16 MB", call("fill_letters", {"megabytes": 16})),
    Case("many values from a process", "200,000", call("list_values", {"count": 200_000})),
    Case("many values", "200,000", call("list_here", {"count": 200_000})),
    Case("the same over MCP", "200,000", ask_over_mcp("tools/call", name="list_here", arguments={"count": 200_000})),
    Case("the same as a plain result", "200,000", send({"count": 200_000}, "/tools/list_here/call")),
    Case("the same in a batch", "128 of 20,000", send_batch([{"name": "list_here", "args": {"count": 20_000}}] * 128)),
    Case("numbers that are none", "200,000", call("list_nans", {"count": 200_000})),
    Case("values that do not fit the result's type", "200,000", call("list_wrongly", {"count": 200_000})),
    Case("blocks", "50,000", call("list_blocks", {"count": 50_000})),
    Case("the same for Anthropic", "50,000", send(_write("anthropic", "list_blocks", {"count": 50_000}))),
    Case("the same for Gemini", "50,000", send(_write("gemini", "list_blocks", {"count": 50_000}))),
    Case("an image", "12 MB", call("draw", {"megabytes": 12})),
    Case("an image for Anthropic", "12 MB", send(_write("anthropic", "draw", {"megabytes": 12}))),
    Case("an image over MCP", "12 MB", ask_over_mcp("tools/call", name="draw", arguments={"megabytes": 12})),
    Case("an artifact", "16 MB", call("enclose", {"megabytes": 16})),
    Case("an artifact of many values", "200,000", call("enclose_values", {"count": 200_000})),
    Case("a secret in a long answer", "16 MB", call("tell_secret", {"megabytes": 16})),
    Case("an error of a tool", "16 MB", call("refuse", {"megabytes": 16})),
    Case("a crash with a long message", "16 MB", call("break_down", {"megabytes": 16})),
    Case(
        "names of files in an answer",
        "90,000 names",
        call("name_files", {"count": 90_000}, **{"Sidecall-Conversation": "three"}),
    ),
    Case(
        "parts of a content by a word",
        "16 MB",
        lambda client: client.get(
            client.post("/tool_calls", json={"name": "fill", "args": {"megabytes": 16}, "id": "1"}).json()[
                "response_metadata"
            ]["artifact_url"]
            + "?grep=none"
        ),
    ),
    Case(
        "parts of a content by a path",
        "250,000 values",
        lambda client: client.get(
            client.post("/tool_calls", json={"name": "list_here", "args": {"count": 83_000}, "id": "1"}).json()[
                "response_metadata"
            ]["artifact_url"]
            + "?path=$..none"
        ),
    ),
    Case("GET /metrics", "after all that", get("/metrics")),
]
