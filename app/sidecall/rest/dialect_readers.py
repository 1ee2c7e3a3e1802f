"""Parse calls in each provider's form."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from sidecall.kernel.core.errors import NotAToolCall, cut_name
from sidecall.kernel.core.messages import ToolCall, make_unchecked
from sidecall.kernel.core.native_results import CUT_OFF, PART, STEP, UNNAMED
from sidecall.kernel.core.options import NAMES
from sidecall.kernel.json_data.text import name_json_type
from sidecall.kernel.registry import Registry
from sidecall.kernel.suggest.fuzzy_match import find_misspelt
from sidecall.kernel.suggest.misplaced import differ, find_arguments, find_loose, find_misplaced, is_filled
from sidecall.rest.dialect_models import (
    AnthropicToolUse,
    GeminiFunctionCallPart,
    LangChainToolCall,
    OpenAIToolCall,
    ResponsesFunctionCall,
)
from sidecall.rest.dialect_writers import FUNCTION_MESSAGE
from sidecall.rest.examples import EXAMPLES
from sidecall.rest.message_calls import find_said_calls, is_function_message, refuse_message
from sidecall.rest.native_calls.answer_models import SentCall
from sidecall.rest.native_calls.find_tool import resolve_target
from sidecall.rest.native_calls.reading import ITEM_EXAMPLES, read_item_call
from sidecall.rest.parsed_call import DialectName, ReceivedCall, choose_call_id, explain_unfit

# One key that only this dialect's calls have, and its value of `type`, if it has any.
_SIGNS: Mapping[DialectName, tuple[str, str | None]] = {
    "langchain": ("args", "tool_call"),
    "openai": ("function", "function"),
    "openai-responses": ("arguments", "function_call"),
    "anthropic": ("input", "tool_use"),
    "gemini": ("functionCall", None),
}
# As Google's library writes it.
_IN_PYTHON = "function_call"
# The types of those calls that nothing but their type tells from one of LangChain's.
_TYPED = {"arguments": "function_call", "input": "tool_use"}
_MODELS: Mapping[DialectName, type[SentCall]] = {
    "langchain": LangChainToolCall,
    "openai": OpenAIToolCall,
    "openai-responses": ResponsesFunctionCall,
    "anthropic": AnthropicToolUse,
    "gemini": GeminiFunctionCallPart,
}


@dataclass(frozen=True, slots=True)
class Shared:
    """Members of a batch that apply to all its calls."""

    state: Any = None
    context: Mapping[str, Any] = field(default_factory=dict)
    callback_url: str | None = None

    def complete(self, sent: ReceivedCall) -> ReceivedCall:
        """Add shared members to a call that does not set them."""
        sent.state = self.state if sent.state is None else sent.state
        sent.context = {**self.context, **sent.context} if self.context else sent.context
        sent.callback_url = sent.callback_url or self.callback_url
        return sent


def read_call(body: Any, registry: Registry) -> ReceivedCall:
    """Parse a request body as one call, in any dialect.

    Raises:
        NotAToolCall: It is none, or mixes two dialects; the error says what was expected and shows a right one.
    """
    if not isinstance(body, dict):
        raise NotAToolCall(_not_an_object(body), example=EXAMPLES["langchain"])
    if (said := find_said_calls(body)) is not None:
        raise refuse_message(said, EXAMPLES[said.dialect])
    sent = read_item_call(body) or _read_function_call(body, registry)
    resolve_target(sent, registry)
    return sent


def read_batched(item: Any, registry: Registry) -> ReceivedCall:
    """Parse one element of a batch, which may also be in the older form of Chat Completions.

    Raises:
        NotAToolCall: It is no call.
    """
    if not is_function_message(item):
        return read_call(item, registry)
    sent = read_call({"function": item["function_call"], "status": item.get("status")}, registry)
    sent.call = make_unchecked(
        ToolCall, {**sent.call.__dict__, "item": {**(sent.call.item or {}), "type": FUNCTION_MESSAGE}}
    )
    return sent


def _read_function_call(body: dict[str, Any], registry: Registry) -> ReceivedCall:
    dialect = _recognize(body)
    refuse_misplaced(body, dialect, EXAMPLES[dialect])
    try:
        sent = _MODELS[dialect].model_validate(body)
    except ValidationError as error:
        raise explain_unfit(dialect, error, EXAMPLES[dialect]) from None
    name, args, call_id = _READERS[dialect](sent)
    if not is_filled(args):
        refuse_loose(body, dialect, _list_parameters(name, registry), EXAMPLES[dialect])
    item = _ITEMS[dialect](sent) if dialect in _ITEMS else None
    if sent.is_cut_off or (dialect == "gemini" and goes_on(find_function(body))):
        item = {"type": _TYPES[dialect], **(item or {}), CUT_OFF: True}
    call = ToolCall(name=name, args={} if args is None else args, id=choose_call_id(call_id), item=item)
    is_async = isinstance(sent, ResponsesFunctionCall) and sent.is_async is True
    return ReceivedCall(call, dialect, sent.state, sent.context or {}, sent.callback_url, is_async, sent.hash)


def _list_parameters(name: str, registry: Registry) -> Collection[str]:
    """List the parameters of a tool that every caller may see; other tools are not disclosed."""
    tool = registry.get(name)
    return tool.args_schema.flat.get("properties", ()) if tool is not None and tool.options.is_for_all else ()


def _not_an_object(body: Any) -> str:
    if isinstance(body, list):
        return "One call is a JSON object; send arrays of calls to POST /tool_calls/batch."
    return f"A call is a JSON object, not {name_json_type(body)}."


def _recognize(body: dict[str, Any]) -> DialectName:
    by_key = [
        name for name, (key, _) in _SIGNS.items() if key in body or (key == "functionCall" and _IN_PYTHON in body)
    ]
    by_type = [name for name, (_, kind) in _SIGNS.items() if kind is not None and kind == body.get("type")]
    found = list(dict.fromkeys((*by_type, *by_key)))
    if not by_type and found in ([], ["openai-responses"], ["anthropic"]):
        refuse_typeless(body, _TYPED, EXAMPLES["langchain"])
    if len(found) == 1 and (by_type or body.get("type") is None):
        return found[0]
    example = EXAMPLES[found[0] if found else "langchain"]
    if len(found) > 1:
        # What has a member for its function, or says its type, is of that dialect.
        meant = next((name for name in ("openai", "gemini") if name in by_key), found[0])
        refuse_misplaced(body, meant, EXAMPLES[meant])
        raise NotAToolCall(f"The call mixes the forms of {' and '.join(found)}; send one of them.", example=example)
    raise NotAToolCall(_list_types(body.get("type")), example=example)


def _list_types(sent: Any) -> str:
    """List the types of calls, for a body that is none."""
    kinds = {kind: f'"{kind}" with `{key}`' for key, kind in _SIGNS.values() if kind is not None}
    items = [kind for kind in ITEM_EXAMPLES if kind != STEP]
    nearest = find_misspelt(sent, [*kinds, *items]) if isinstance(sent, str) and sent not in kinds else None
    meant = f' Did you mean "{nearest}"?' if nearest else ""
    return (
        f"The body is not a call.{meant} A call has one of these types: {', '.join(kinds.values())}; or it is Gemini's "
        f"`functionCall`; or what a model emits for a built-in tool: {', '.join(items)}."
    )


_Read = tuple[str, "dict[str, Any] | str | None", "str | int | None"]
_READERS: Mapping[DialectName, Callable[[Any], _Read]] = {
    "langchain": lambda sent: (sent.name, sent.args, sent.id),
    "openai": lambda sent: (sent.function.name, sent.function.arguments, sent.id),
    "openai-responses": lambda sent: (sent.name, sent.arguments, sent.call_id),
    "anthropic": lambda sent: (sent.name, sent.input, sent.id),
    "gemini": lambda sent: (sent.function_call.name, sent.function_call.args, sent.function_call.id),
}


def _read_function(sent: ResponsesFunctionCall) -> dict[str, Any] | None:
    said = {"caller": sent.caller, "namespace": sent.namespace}
    kept = {key: value for key, value in said.items() if value is not None}
    return {"type": "function_call", **kept} if kept else None


def _read_tool_use(sent: AnthropicToolUse) -> dict[str, Any] | None:
    if sent.toolset_name is not None:
        return {"type": "tool_use", "toolset_name": sent.toolset_name}
    return {"type": "tool_use"} if sent.name in _NATIVE_NAMES else None


def _read_part(sent: GeminiFunctionCallPart) -> dict[str, Any] | None:
    return {"type": PART, UNNAMED: True} if sent.function_call.id is None else None


_NATIVE_NAMES = frozenset(NAMES.values())
# What the answers of these repeat of a call beside its id.
_ITEMS: Mapping[DialectName, Callable[[Any], dict[str, Any] | None]] = {
    "openai-responses": _read_function,
    "anthropic": _read_tool_use,
    "gemini": _read_part,
}
# Of the items of these calls.
_TYPES: Mapping[DialectName, str] = {name: kind or PART for name, (_, kind) in _SIGNS.items()}


# In which member a call of each dialect has its function, if it has one for it, and what its arguments are called.
_PLACES: Mapping[DialectName, tuple[str | None, str]] = {
    "langchain": (None, "args"),
    "openai": ("function", "arguments"),
    "openai-responses": (None, "arguments"),
    "anthropic": (None, "input"),
    "gemini": ("functionCall", "args"),
}

# What dialects call the arguments of a call.
_ARGUMENTS = frozenset(name for _, name in _PLACES.values())
# Members that providers and their libraries have inside a call's function, and next to it.
_IN_FUNCTION = frozenset(
    "name id type index args arguments partialArgs partial_args willContinue will_continue description strict"
    " parameters parsed_arguments output thoughtSignature thought_signature provider_specific_fields"
    " extra_content".split()
)
_BESIDE = _IN_FUNCTION | frozenset(
    "input call_id caller namespace async async_ toolset_name text thought functionCall function_call function state"
    " context hash callback_url status role content cache_control extras metadata".split()
)


def refuse_misplaced(body: Mapping[str, Any], dialect: DialectName, example: Any) -> None:
    """Refuse a call whose arguments are under another name than its dialect's, while that one is missing.

    Raises:
        NotAToolCall: It is one; the error names the right place.
    """
    holder, name = _PLACES[dialect]
    if holder is None:
        place, found = name, find_misplaced(body, name)
    else:
        inner = find_function(body) if dialect == "gemini" else _read_member(body, holder)
        if goes_on(inner):
            return
        if is_filled(inner.get(name)):
            _refuse_second(inner, holder, name, example)
            return
        place, within = f"{holder}.{name}", find_misplaced(inner, name)
        found = find_arguments(body) if within is None else f"{holder}.{within}"
    if found is not None:
        text = f"The arguments of a call in the form of {dialect} stand in `{place}`, not in `{found}`."
        raise NotAToolCall(text, example=example)


def _refuse_second(inner: Mapping[str, Any], holder: str, name: str, example: Any) -> None:
    """Refuse a call with different arguments under another dialect's name as well, since it is ambiguous."""
    others = (it for it in sorted(_ARGUMENTS - {name}) if is_filled(inner.get(it)))
    other = next((it for it in others if differ(inner[it], inner[name])), None)
    if other is not None:
        text = f"The arguments stand in `{holder}.{name}` and in `{holder}.{other}`, and differ; send one of them."
        raise NotAToolCall(text, example=example)


def refuse_loose(body: Mapping[str, Any], dialect: DialectName, parameters: Collection[str], example: Any) -> None:
    """Refuse a call without arguments whose members are at the top level: it would run without any.

    Args:
        body: What was sent.
        dialect: In which form.
        parameters: Those of the called tool, if it exists.
        example: A right one.

    Raises:
        NotAToolCall: It has a member that is one of the tool's parameters, or that its form does not have in the place
            of arguments.
    """
    holder, name = _PLACES[dialect]
    place = name if holder is None else f"{holder}.{name}"
    found = find_loose(body, parameters, _BESIDE)
    if holder is not None:
        inner = find_function(body) if dialect == "gemini" else _read_member(body, holder)
        if goes_on(inner):
            return
        loose = [it for it in inner if it not in _IN_FUNCTION and inner[it] is not None]
        within = next((it for it in loose if it in parameters or name not in inner), None)
        found = found if within is None else f"{holder}.{within}"
    if found is not None:
        text = f"The arguments of a call in the form of {dialect} stand in `{place}`, not in `{cut_name(found)}`."
        raise NotAToolCall(text, example=example)


def refuse_typeless(body: Mapping[str, Any], types: Mapping[str, str], example: Any) -> None:
    """Refuse a call without a type whose arguments are where only typed calls have them.

    Args:
        body: What was sent.
        types: The type of a call, by what its arguments are called.
        example: A right one.

    Raises:
        NotAToolCall: It is one; the error names the right place.
    """
    found = find_misplaced(body, "args")
    if body.get("type") is not None or "name" not in body or found is None:
        return
    typed = f' With `{found}` its `type` is "{types[found]}".' if found in types else ""
    raise NotAToolCall(
        f"The arguments of a call without a `type` stand in `args`, not in `{found}`.{typed}", example=example
    )


def goes_on(call: Mapping[str, Any]) -> bool:
    """Return whether a function call of Gemini's is partial, with more chunks to follow."""
    pieces = call.get("partialArgs") or call.get("partial_args")
    said = [call, *(it for it in (pieces if isinstance(pieces, list) else ()) if isinstance(it, dict))]
    return any(it.get("willContinue") is True or it.get("will_continue") is True for it in said)


def find_function(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the function call in a part of Gemini's, in the form of its API or its library."""
    return _read_member(part, "functionCall") or _read_member(part, "function_call")


def _read_member(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = body.get(name)
    return inner if isinstance(inner, dict) else {}
