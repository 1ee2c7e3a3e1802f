"""Files of LangChain tools that are moved by their import lines answer every call as the original does."""

import base64
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.messages import ToolMessage as LangChainMessage
from langchain_core.tools import BaseTool as LangChainTool
from langchain_core.tools import ToolException as LangChainException
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolInvocationError
from langgraph.runtime import Runtime
from langgraph.store.memory import InMemoryStore
from pydantic import ValidationError

import sidecall
from sidecall.features.store.item_store import ItemStore
from sidecall.features.store.memory_store import MemoryItems

# LangChain's, for any runtime.
pytestmark = pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")

HERE = Path(__file__).parent / "moved"
_IMPORTS = re.compile(r"^from (?:langchain|langchain_core|langgraph)(?:\.\w+)* import", re.M)

MESSAGES = [HumanMessage("hi there"), AIMessage("hello"), HumanMessage("and now?")]
STATE = {"messages": MESSAGES, "user": "Ada", "visited": ["home"], "user_preferences": {"theme": "dark"}}
CONTEXT = {"user_id": "user123", "thread_id": "t1", "who": "softly"}

CALLS: list[tuple[str, str, Any]] = [
    ("docs_style", "search_database", {"query": "tea"}),
    ("docs_style", "search_database", {"query": "tea", "limit": "3", "other": 1}),
    ("docs_style", "search_database", {"limit": "many"}),
    ("docs_style", "calculator", {"expression": "sqrt(16) + 2 * 3"}),
    ("docs_style", "calculator", {"expression": "1/0"}),
    ("docs_style", "calculator", {"expression": "1/"}),
    ("docs_style", "get_weather", {"location": "Rome"}),
    ("docs_style", "get_weather", {"location": "Rome", "units": "fahrenheit", "include_forecast": "yes"}),
    ("docs_style", "get_weather", {"location": "Rome", "units": "kelvin"}),
    ("docs_style", "get_weather_by_schema", {"location": "Rome", "units": "c", "include_forecast": True}),
    ("docs_style", "summarize_conversation", {}),
    ("docs_style", "get_user_preference", {"pref_name": "theme"}),
    ("docs_style", "get_user_preference", {"pref_name": "size", "runtime": {"state": {}}}),
    ("docs_style", "clear_conversation", {}),
    ("docs_style", "update_user_name", {"new_name": "Bo"}),
    ("docs_style", "get_account_info", {}),
    ("docs_style", "save_user_info", {"user_id": "u", "user_info": {"name": "Foo", "age": 25}}),
    ("docs_style", "generate_random_ints", {"low": 0, "high": 3, "size": 4}),
    ("docs_style", "get_forecast", {"city": "foobar"}),
    ("class_style", "Calculator", {"a": 2, "b": "3"}),
    ("class_style", "Calculator", {"a": 2, "b": "x"}),
    ("class_style", "custom_search", {"query": "cats"}),
    ("class_style", "custom_search", {"query": " "}),
    ("class_style", "untyped", {"who": "nobody"}),
    ("class_style", "configured", {"key": "thread_id"}),
    ("class_style", "list_tables", {"tool_input": ""}),
    ("class_style", "list_tables", {}),
    ("class_style", "artful", {"n": 3}),
    ("class_style", "artful", {"n": -3}),
    ("class_style", "nothing", {}),
    ("class_style", "measure", {"length": "2.5"}),
    ("class_style", "shout", {"__arg1": "hey"}),
    ("class_style", "shout", {"a": "hey", "b": "you"}),
    ("class_style", "whisper", {"text": "HEY"}),
    ("class_style", "power", {"base": 3}),
    ("class_style", "by", {"base": 3}),
    ("class_style", "by", {"base": 3, "exponent": -1}),
    ("injected_style", "who", {"greeting": "Hi"}),
    ("injected_style", "who", {"state": {"user": "forged"}}),
    ("injected_style", "last_words", {"upper": True}),
    ("injected_style", "transfer", {"agent": "sales"}),
    ("injected_style", "transfer", {"agent": "nobody"}),
    ("injected_style", "fan_out", {"subjects": ["a", "b"]}),
    ("injected_style", "remember", {"key": "k", "value": [1, 2]}),
    ("injected_style", "thread", {}),
    ("injected_style", "optional_config", {"key": "k"}),
    ("injected_style", "plan", {"steps": 2}),
    ("injected_style", "plan", {"steps": 4}),
    ("injected_style", "paint", {"color": "red", "at": {"x": "1", "y": 2}, "on": "2026-03-01"}),
    ("injected_style", "paint", {"color": "green", "at": {}}),
    ("injected_style", "status", {"ok": True}),
    ("injected_style", "status", {"ok": False}),
    ("injected_style", "rows", {"count": 2}),
    ("injected_style", "rows", {"count": 4}),
    ("injected_style", "recent", {"items": [1, 2, 3]}),
    ("desk_style", "open_ticket", {"title": "  no light ", "labels": ["A", "b"], "due": "2026-03-01"}),
    ("desk_style", "open_ticket", {"title": "no light", "priority": "high", "due": "2026-03-01"}),
    ("desk_style", "open_ticket", {"title": "no light", "priority": "high"}),
    ("desk_style", "open_ticket", {"title": "no", "priority": "urgent", "labels": "x", "due": "soon"}),
    ("desk_style", "open_ticket", {"title": "no light", "assignee": "Bo"}),
    ("desk_style", "refund", {"order_id": "12345678-1234-5678-1234-567812345678", "amount": "9.50"}),
    ("desk_style", "refund", {"order_id": "12345678-1234-5678-1234-567812345678", "amount": 100.01}),
    ("desk_style", "refund", {"order_id": "12345678-1234-5678-1234-567812345678", "amount": 1.001, "reason": "x"}),
    ("desk_style", "refund", {"order_id": "1", "amount": -1}),
    ("desk_style", "find_customer", {"by": "email", "value": "a@b"}),
    ("desk_style", "find_customer", {"by": "phone", "value": "1", "fuzzy": True}),
    ("desk_style", "book", {"customer": "Bo", "day": "2026-03-01", "slots": [[9, 10], ["11", 12]]}),
    ("desk_style", "book", {"customer": "Bo", "day": "2026-03-01", "slots": [[9, 10]], "length": "PT1H"}),
    ("desk_style", "book", {"customer": "Bo", "day": "2026-03-01", "slots": [[9, 10]], "length": 90}),
    ("desk_style", "book", {"customer": "Bo", "day": "01.03.", "slots": [[9]]}),
    ("desk_style", "book", {"customer": "Bo", "day": "2026-03-01", "slots": []}),
    ("desk_style", "cart_total", {"items": ["a", "b"]}),
    ("desk_style", "cart_total", {"items": [1]}),
    ("desk_style", "note", {"text": "hi"}),
    ("desk_style", "note", {"text": "hi", "importance": 6}),
    ("desk_style", "hand_over", {"to": "sales", "why": "wants more"}),
    ("desk_style", "hand_over", {"to": "boss", "why": "angry"}),
    ("desk_style", "screenshot", {}),
    ("desk_style", "screenshot", {"page": 2}),
    ("desk_style", "screenshot", {"page": 0}),
    ("desk_style", "flaky", {"fails": 1}),
    ("desk_style", "flaky", {"fails": 5}),
    ("desk_style", "convert_time", {"when": "2026-03-01T10:00:00", "to": "+02:30"}),
    ("desk_style", "convert_time", {"when": "2026-03-01T10:00:00Z", "to": "2"}),
    ("desk_style", "double", {"n": "4"}),
    ("desk_style", "double", {"n": 4.5}),
    ("desk_style", "quadruple", {"numbers": [1, 2, "3"]}),
    ("desk_style", "quadruple", {"numbers": []}),
    ("weird_style", "api_get", {"path": "users"}),
    ("weird_style", "api_get", {"path": "secrets"}),
    ("weird_style", "loud_search", {"query": "tea"}),
    ("weird_style", "loud_search", {"query": "tea", "topK": 1}),
    ("weird_style", "loud_search", {"query": "tea", "topK": 0}),
    ("weird_style", "counting_add", {"a": 1}),
    ("weird_style", "counting_add", {"a": 1, "b": "2"}),
    ("weird_style", "counting_add", {"b": 1}),
    ("weird_style", "wrapped", {"text": "a", "times": 2}),
    ("weird_style", "wrapped", {"times": "many"}),
    ("weird_style", "summarize", {"style": "short"}),
    ("weird_style", "summarize", {"style": "medium"}),
    ("weird_style", "report", {"parts": ["a", "b"]}),
    ("weird_style", "report", {"parts": []}),
    ("weird_style", "query_rows", {"table": "users"}),
    ("weird_style", "query_rows", {"table": "users", "where": {"field": "a", "value": 1}, "order": {"a": "asc"}}),
    ("weird_style", "query_rows", {"table": "users", "where": [{"field": "a"}, {"field": "b", "op": "gt"}]}),
    ("weird_style", "query_rows", {"table": "Users"}),
    ("weird_style", "query_rows", {"table": "users", "order": {"a": "up"}}),
    ("weird_style", "lookup", {"__arg1": "abc"}),
    ("weird_style", "lookup", {"__arg1": "none"}),
    ("weird_style", "lookup", {"__arg1": "break"}),
    ("weird_style", "lookup", {}),
    ("weird_style", "price", {"item": "tea", "count": 2}),
    ("weird_style", "price", {"item": "gold"}),
    ("weird_style", "cheapest", {"of": ["cake", "tea"]}),
    ("weird_style", "cheapest", {"of": "tea"}),
    ("weird_style", "inner", {"n": 1}),
    ("weird_style", "renamed", {"n": "2"}),
    ("weird_style", "outer", {"numbers": [1, 2]}),
    ("weird_style", "outer", {"numbers": []}),
    ("nested_style", "loud_add", {"a": 1}),
    ("nested_style", "loud_add", {"a": "x"}),
    ("nested_style", "loud_thread", {"prefix": "in"}),
    ("nested_style", "loud_upper", {"__arg1": "hey"}),
    ("nested_style", "divide", {"a": 6, "b": 3}),
    ("nested_style", "divide", {"a": 6, "b": 0}),
    ("nested_style", "divide", {"a": 6, "b": -1}),
    ("nested_style", "ratio", {"a": 6, "b": 3}),
    ("nested_style", "ratio", {"a": 6, "b": 0}),
    ("nested_style", "ratio", {"a": 6, "b": -1}),
    ("nested_style", "aratio", {"a": 6, "b": 3}),
    ("nested_style", "aratio", {"a": 6, "b": 0}),
    ("nested_style", "aratio", {"a": 6, "b": -1}),
    ("nested_style", "find_user", {"name": "Bo"}),
    ("nested_style", "greet_user", {"name": "Bo"}),
    ("nested_style", "tenant", {"key": "k"}),
    ("nested_style", "look_up", {"key": "k"}),
    ("nested_style", "last_said", {}),
    ("nested_style", "count_people", {}),
    ("chain_style", "base", {"n": 0}),
    ("chain_style", "base", {"n": 1}),
    ("chain_style", "base", {"n": -1}),
    ("chain_style", "attributes", {"n": 0}),
    ("chain_style", "attributes", {"n": -1}),
    ("chain_style", "attributes", {"n": 2}),
    ("chain_style", "message", {"n": 2}),
    ("chain_style", "gather", {"n": 3}),
    ("chain_style", "refused", {"n": 3}),
    ("chain_style", "worded", {"n": 1}),
    ("chain_style", "worded", {"n": 4}),
    ("chain_style", "whose", {"k": "a"}),
    ("chain_style", "inherit", {"n": 1}),
    ("chain_style", "inherit_later", {"n": 1}),
    ("chain_style", "inherit_many", {"n": 2}),
    ("chain_style", "config_on", {"n": 2}),
    ("chain_style", "recurse", {"n": 3}),
    ("chain_style", "chained", {"n": 0}),
    ("chain_style", "threads", {"n": 3}),
    ("chain_style", "last_call", {"n": 3}),
    ("chain_style", "router", {"which": "base", "n": 2}),
    ("chain_style", "router", {"which": "base", "n": 0}),
    ("chain_style", "router", {"which": "handled", "n": 5}),
    ("chain_style", "router", {"which": "nothing", "n": 5}),
    ("chain_style", "handled", {"n": 5}),
    ("subclass_style", "loud", {"name": "Bo"}),
    ("subclass_style", "loud", {"name": "Bo", "greeting": "hi"}),
    ("subclass_style", "loud", {"greeting": "hi"}),
    ("subclass_style", "deep", {"name": "Bo"}),
    ("subclass_style", "loud_config", {"key": "k"}),
    ("subclass_style", "loud_settings", {"key": "k"}),
    ("subclass_style", "loud_callbacks", {"key": "k"}),
    ("subclass_style", "later", {"name": "Bo"}),
    ("subclass_style", "later_sync", {"name": "Bo"}),
    ("subclass_style", "both", {"name": "Bo"}),
    ("subclass_style", "both_later", {"name": "Bo"}),
    ("subclass_style", "elsewhere", {"key": "k"}),
    ("subclass_style", "elsewhere_too", {"key": "k"}),
    ("subclass_style", "audited", {"a": 3}),
    ("subclass_style", "audited", {"a": 3, "b": 0}),
    ("subclass_style", "audited", {"a": "x"}),
    ("subclass_style", "loud_text", {"__arg1": "hey"}),
    ("subclass_style", "plain", {"q": "this"}),
    ("state_style", "inner", {"n": 3}),
    ("state_style", "o_bad", {"n": 3}),
    ("state_style", "o_missing", {"n": 3}),
    ("state_style", "o_batch", {"n": 3}),
    ("state_style", "s_get", {"q": "x"}),
    ("state_style", "s_list", {"q": "x"}),
    ("state_style", "s_any", {"q": "x"}),
    ("state_style", "s_plain", {"q": "x"}),
    ("state_style", "s_opt", {"q": "x"}),
    ("state_style", "s_rt", {"q": "x"}),
    ("state_style", "s_pass", {"q": "x"}),
    ("state_style", "s_pass2", {"q": "x"}),
    ("state_style", "s_pass3", {"q": "x"}),
    ("state_style", "s_text", {"q": "x"}),
    ("state_style", "s_tid", {"q": "x"}),
    ("state_style", "s_sequence", {"q": "x"}),
    ("state_style", "s_old_list", {"q": "x"}),
    ("state_style", "inner", {"n": 0}),
    ("state_style", "inner", {"n": 1}),
    ("state_style", "inner", {"n": 2}),
]


def load(name: str, text: str, file: str) -> dict[str, Any]:
    """Run a file's text as a module of this name, and list its tools."""
    module = sys.modules[name] = ModuleType(name)
    exec(compile(text, file, "exec"), vars(module))
    kinds = (LangChainTool, sidecall.BaseTool)
    return {it.name: it for it in vars(module).values() if isinstance(it, kinds)}


@pytest.fixture(scope="module")
def tools() -> Iterator[dict[tuple[str, str], dict[str, Any]]]:
    """The tools of each file, as it is written and with its import lines changed."""
    loaded = {}
    for path in sorted(HERE.glob("*.py")):
        text = path.read_text()
        moved = _IMPORTS.sub("from sidecall import", text)
        assert "langchain" not in moved.split('"""', 2)[2].split("class ")[0].split("@tool")[0]
        loaded[path.stem, "original"] = load(f"original_{path.stem}", text, str(path))
        loaded[path.stem, "moved"] = load(f"moved_{path.stem}", moved, str(path))
    yield loaded
    for stem, which in loaded:
        del sys.modules[f"{which}_{stem}"]


def as_json(value: Any) -> Any:
    """Write a value as a program would send it on."""
    if isinstance(value, BaseMessage):
        return {"type": value.type, "id": value.id}
    if type(value).__name__ == "Send":
        return {"node": value.node, "arg": value.arg}
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return json.loads(json.dumps(value, default=as_json))


async def ask_original(tool: Any, args: Any) -> Any:
    """Run a call as LangGraph does, and say what came of it."""
    try:
        answer = await run_original(tool, args)
    except (ToolInvocationError, ValidationError) as error:
        source = error.source if isinstance(error, ToolInvocationError) else error
        return "invalid", sorted(str(it["loc"]) for it in source.errors())
    except LangChainException as error:
        said = error.args[0] if error.args else "Tool execution error"
        return "error", said if isinstance(said, str) else json.dumps(said), None, None
    except Exception:
        return ("crash",)
    first = answer["messages"][0] if isinstance(answer, dict) else answer[0]
    if isinstance(first, dict):  # What a list of messages and Commands becomes.
        [first], command = first["messages"], answer[1]
        return first.status, first.content, as_json(first.artifact), (as_json(command.update), None, None)
    if isinstance(first, LangChainMessage):
        return first.status, first.content, as_json(first.artifact), None
    update = dict(first.update)
    messages = list(update.pop("messages", []))
    [said] = [it for it in messages if isinstance(it, LangChainMessage)] or [None]
    others = [as_json(it) for it in messages if it is not said]
    update = {**update, **({"messages": others} if others else {})}
    asks = (as_json(update), as_json(first.goto) or None, first.graph)
    return (said.status, said.content, None, asks) if said else ("success", "null", None, asks)


async def run_original(tool: Any, args: Any) -> Any:
    """Run a call in a graph's node; by itself where the program supplies arguments, which no graph does."""
    asked = {"type": "tool_call", "name": tool.name, "args": args, "id": "call_1"}
    hidden = tool.get_input_schema().model_fields.keys() - tool.args.keys()
    supplied = {name: CONTEXT[name] for name in hidden & CONTEXT.keys()}
    if supplied:
        return [tool.invoke({**asked, "args": {**args, **supplied}})]
    runtime = Runtime(context=None, store=InMemoryStore())
    runtime = runtime.override(context=type("Context", (), CONTEXT)())
    state = {**STATE, "messages": [*MESSAGES, AIMessage("", tool_calls=[asked])]}
    config = {"configurable": {**CONTEXT, "__pregel_runtime": runtime}}
    node = ToolNode([tool], handle_tool_errors=False)
    is_async = getattr(tool, "coroutine", None) and not tool.func
    return await node.ainvoke(state, config) if is_async else node.invoke(state, config)


async def ask_moved(tool: sidecall.BaseTool, args: Any) -> Any:
    """Run the same call here, with the state as JSON, as it comes over HTTP."""
    asked = {"type": "tool_call", "name": tool.name, "args": args, "id": "call_1"}
    messages = [*MESSAGES, AIMessage("", tool_calls=[asked])]
    state = {**STATE, "messages": [json.loads(message.model_dump_json()) for message in messages]}
    message = await tool.ainvoke(asked, state=state, context=CONTEXT, store=ItemStore(MemoryItems()))
    error = message.response_metadata.get("error")
    if error is not None and error["kind"] == "invalid_arguments" and not tool.handle_validation_error:
        return "invalid", sorted(str(tuple(it["loc"])) for it in error["errors"])
    if error is not None and error["kind"] == "execution_error":
        return ("crash",)
    told = message.response_metadata
    asks = None
    if "state_update" in told:
        update = dict(told["state_update"])
        if "messages" in update:
            update["messages"] = [{"type": it["type"], "id": it["id"]} for it in update["messages"]]
        asks = (update, told.get("goto"), told.get("graph"))
    return message.status, message.content, message.artifact, asks


# What is said otherwise on purpose: dates in the form of JSON.
DECLARED: dict[tuple[str, str], Any] = {
    ("report", "[]"): "[]",
    ("convert_time", "2026-03-01 12:30:00"): "2026-03-01T12:30:00",
    # A list of texts is content as it is, as in LangChain; only LangGraph makes a text of it.
    ("loud_search", '["TEA", "TEAM"]'): ["TEA", "TEAM"],
    ("loud_search", '["TEA"]'): ["TEA"],
}


@pytest.mark.parametrize(("file", "name", "args"), CALLS, ids=lambda it: it if isinstance(it, str) else None)
async def test_a_moved_tool_answers_as_the_original(tools: Any, file: str, name: str, args: Any) -> None:
    """The same content, artifact and status, the same wrong fields, the same wishes for the graph."""
    theirs = await ask_original(tools[file, "original"][name], args)
    ours = await ask_moved(tools[file, "moved"][name], args)

    declared = DECLARED.get((name, str(theirs[1]) if theirs[1:] else ""))
    assert ours == (theirs if declared is None else (theirs[0], declared, *theirs[2:]))


@pytest.mark.parametrize("file", [path.stem for path in sorted(HERE.glob("*.py"))])
def test_a_moved_file_offers_the_same_tools(tools: Any, file: str) -> None:
    """Twelve and more, with their names, descriptions and what a model may send."""
    original, moved = tools[file, "original"], tools[file, "moved"]

    assert len(original) >= 12
    assert moved.keys() == original.keys()
    assert {name for name, *_ in [(it[1],) for it in CALLS if it[0] == file]} == original.keys()
    for name, it in moved.items():
        # LangChain leaves the docstring's sections in the text, and shows a class's config to the model.
        assert original[name].description.startswith(it.description)
        assert it.args.keys() == original[name].args.keys() - {"config"}
