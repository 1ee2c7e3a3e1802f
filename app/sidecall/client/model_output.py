"""The answer of any provider's model: its calls, and the messages that return their results."""

import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from sidecall.client.accumulator import OF_GEMINI, gather, is_of_ollama, make_plain, write_answers
from sidecall.client.failures import ApprovalNeeded, UnknownAnswer
from sidecall.client.operations import Operations
from sidecall.client.options import OF_TURNS, CallOptions, require_options
from sidecall.client.steps import Steps

# Where an answer, or a message alone, has its calls.
_PLACES: Mapping[str, tuple[tuple[str | int, ...], ...]] = {
    "openai": (("choices", 0, "message", "tool_calls"), ("tool_calls",)),
    "openai-responses": (("output",),),
    "anthropic": (("content",),),
}


def make_call_id() -> str:
    """Return a new call id."""
    return f"call_{uuid.uuid4().hex}"


def give_ids(calls: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """Set unique ids under this key in calls without one; return the original values by new id."""
    known: set[Any] = set()
    made: dict[str, Any] = {}
    for call in calls:
        sent = call.get(name)
        if not isinstance(sent, str | int) or sent == "" or sent in known:
            call[name] = call_id = make_call_id()
            made[call_id] = sent
        known.add(call[name])
    return made


def write_ids(response: Any, form: str, said: Sequence[Mapping[str, Any]], name: str, made: Collection[str]) -> None:
    """Write new ids into the answer itself, for programs that append its message instead of the returned one.

    Args:
        response: The answer, an object of an SDK or a dict; what cannot be changed stays as it is.
        form: Whose it is.
        said: The items in which the calls stand, as they were read.
        name: Under which name they have their ids.
        made: Those that were made.
    """
    if not made:
        return
    found = next((items for place in _PLACES[form] if (items := _follow(response, place)) is not None), ())
    for item, read in zip(found, said, strict=False):
        if read.get(name) in made:
            with suppress(Exception):  # A library may refuse it for any reason.
                if isinstance(item, dict):
                    item[name] = read[name]
                else:
                    setattr(item, name, read[name])


def _follow(value: Any, place: tuple[str | int, ...]) -> Any:
    for step in place:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(step, int):
            value = value[step] if isinstance(value, list) and value else None
        else:
            value = getattr(value, step, None)
    return value


# What the SDKs' own parsers add to what the model said, and the providers do not take back.
_PARSED = frozenset(("parsed", "parsed_arguments", "parsed_output"))

_NESTING = frozenset(("content", "tool_calls", "function"))


@dataclass
class Turn:
    """A model's answer: `said` is returned before the results.

    `answers` and `approvals` are parallel to `calls`: the result of each, and the approval it waits for. `made_ids`
    maps generated ids to the model's original values.
    """

    form: Literal[
        "openai", "openai-responses", "anthropic", "gemini", "gemini-steps", "gemini-outputs", "langchain", "ollama"
    ]
    said: list[Any]
    calls: list[dict[str, Any]]
    answers: list[Any] = field(default_factory=list)
    approvals: list[str] = field(default_factory=list)
    made_ids: Mapping[str, Any] = field(default_factory=dict)

    @property
    def dialect(self) -> str:
        """The dialect of the answers."""
        return "gemini" if self.form.startswith("gemini") else "openai" if self.form == "ollama" else self.form

    @property
    def messages(self) -> list[Any]:
        """The messages to append to the conversation; none if the model calls no tool."""
        if not self.calls:
            return []
        return [*self.said, *self.replies]

    @property
    def replies(self) -> list[Any]:
        """The answers in the provider's form; for Anthropic and Gemini they are one message."""
        if self.form in ("anthropic", "gemini-outputs"):
            return [{"role": "user", "content": self.answers}]
        if self.form == "gemini":
            return [{"role": "user", "parts": [_put_back(part, self.made_ids) for part in self.answers]}]
        if self.form == "ollama":
            return write_answers(self.answers, self.calls, self.made_ids)
        return self.answers


def _put_back(part: dict[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """Restore the original value of a generated id; remove it if there was none."""
    answer = part["functionResponse"]
    if answer.get("id") not in made:
        return part
    said = made[answer["id"]]
    kept = {key: value for key, value in answer.items() if key != "id"}
    return {**part, "functionResponse": kept if said is None else {"id": said, **kept}}


def run_turn(turn: Turn, operations: Operations, options: CallOptions) -> Steps[Turn]:
    """Run the calls of a turn, or continue one whose calls waited for a person.

    Raises:
        ApprovalNeeded: Some are not decided; the others have their answers.
    """
    require_options(options, OF_TURNS, "a turn or a batch")
    if turn.calls and not turn.answers:
        form = "langchain" if turn.form == "langchain" else None
        turn.answers, turn.approvals = yield from operations.batch(turn.calls, form, options)
    needed: list[Any] = []
    for index, approval_id in enumerate(turn.approvals):
        if approval_id:
            try:
                turn.answers[index] = yield from operations.decide_waiting(approval_id, turn.dialect, options)
                turn.approvals[index] = ""
            except ApprovalNeeded as waiting:
                needed += waiting.approvals
    if needed:
        raise ApprovalNeeded(needed, turn)
    return turn


# What the SDKs' streams call what they have come to.
_FINALS = ("get_final_completion", "get_final_response", "get_final_message")


def find_final(response: Any) -> Any:
    """Return the method of an SDK's stream that returns the whole answer, even after iteration."""
    return next(filter(callable, (getattr(response, name, None) for name in _FINALS)), None)


def read_turn(response: Any) -> Turn:
    """Read an answer of OpenAI (both APIs), Anthropic, Gemini or Ollama, whole or as its chunks or stream.

    One of Gemini's Interactions API is read whole only. Ids made for calls without one are written into the answer, and
    so appear in the message and its results.

    Raises:
        UnknownAnswer: It is none of these.
    """
    if isinstance(response, Turn):
        return response
    if (final := find_final(response)) is not None:
        response = final()
    plain = make_plain(response)
    if not isinstance(plain, Mapping):
        if isinstance(plain, str) or not isinstance(plain, Iterable):
            raise UnknownAnswer(f"{type(response).__name__} is no answer of a model that is known here")
        return read_turn(gather(list(plain)))
    read = next((read for key, read in _READERS.items() if key in plain), None)
    return _read_message(plain, response) if read is None else read(plain, response)


def _read_choices(plain: Mapping[str, Any], response: Any) -> Turn:
    if not plain["choices"]:
        return Turn("openai", [], [])
    choice = plain["choices"][0]
    cut_off = is_cut_off(choice, "finish_reason")
    if "tool_calls" not in choice["message"]:
        return _read_message(choice["message"], response, cut_off=cut_off)
    return _read_chat(choice["message"], response, cut_off=cut_off)


def _read_message(message: Mapping[str, Any], response: Any, *, cut_off: bool = False) -> Turn:
    if message.get("role") == "assistant" and isinstance(message.get("content"), list) and "tool_calls" not in message:
        return _read_blocks(message, response, cut_off=cut_off or is_cut_off(message, "stop_reason"))
    if message.get("role") == "assistant":
        if is_of_ollama(message.get("tool_calls")):
            return _read_ollama_message(message, cut_off=cut_off)
        return _read_chat(message, response, cut_off=cut_off)
    if "parts" in message:
        return _read_parts(message, response, cut_off=False)
    raise UnknownAnswer(f"this is no answer of a model that is known here: {dict(message)!r:.200}")


def _read_chat(message: Mapping[str, Any], response: Any, *, cut_off: bool) -> Turn:
    message = _tidy(_drop_parsed(message))
    said = message.get("tool_calls") or []
    write_ids(response, "openai", said, "id", give_ids(said, "id"))
    return Turn("openai", [message], choose_calls(said, _is_of_chat, cut_off=cut_off))


def _read_ollama(plain: Mapping[str, Any], response: Any) -> Turn:
    message = plain["message"]
    if "done" not in plain or not isinstance(message, Mapping):
        return _read_message(plain, response)
    return _read_ollama_message(message, cut_off=is_cut_off(plain, "done") or is_cut_off(plain, "done_reason"))


def _read_ollama_message(message: Mapping[str, Any], *, cut_off: bool) -> Turn:
    """Read a message of Ollama's own API, which is returned without the generated ids."""
    said = message.get("tool_calls") or []
    calls = [{"type": "function", **call} for call in said]
    made = give_ids(calls, "id")
    return Turn("ollama", [_tidy(dict(message))], choose_calls(calls, _is_of_chat, cut_off=cut_off), made_ids=made)


def _tidy(message: dict[str, Any]) -> dict[str, Any]:
    """Remove what the SDK's stream adds: empty members and the calls' indexes."""
    kept = {key: value for key, value in message.items() if value is not None or key == "content"}
    calls = [{key: value for key, value in call.items() if key != "index"} for call in kept.get("tool_calls", ())]
    return {**kept, "tool_calls": calls} if "tool_calls" in kept else kept


def _read_graph_output(plain: Mapping[str, Any], response: Any) -> Turn:
    items = [_drop_parsed(item) for item in plain["output"]]
    made = give_ids([item for item in items if item.get("type") in _WITH_CALL_ID], "call_id")
    write_ids(response, "openai-responses", items, "call_id", made)
    return Turn("openai-responses", items, choose_calls(items, _is_ours, cut_off=is_cut_off(plain, "status")))


def _is_of_chat(call: Mapping[str, Any]) -> bool:
    return call.get("type", "function") in ("function", "custom")


def _is_ours(item: Mapping[str, Any]) -> bool:
    """Return whether the server should answer an item; the provider may have run some elsewhere."""
    kind = item.get("type")
    if kind == "tool_search_call":
        return item.get("execution") == "client"
    if kind == "shell_call":
        return bool((item.get("environment") or {}).get("type", "local") == "local")
    return kind in _ITEMS


_ITEMS = frozenset(
    "function_call custom_tool_call local_shell_call apply_patch_call computer_call mcp_approval_request".split()
)
# Where `id` is that of the item.
_WITH_CALL_ID = frozenset("function_call custom_tool_call apply_patch_call computer_call shell_call".split())


def _read_blocks(message: Mapping[str, Any], response: Any, *, cut_off: bool) -> Turn:
    blocks = [_drop_parsed(block) for block in message["content"]]
    write_ids(response, "anthropic", blocks, "id", give_ids([block for block in blocks if _is_use(block)], "id"))
    calls = choose_calls(blocks, _is_use, cut_off=cut_off)
    # Arguments that were cut off reach the server, which tells the model; the provider takes back objects only.
    said = [{**it, "input": {}} if _is_use(it) and not isinstance(it.get("input"), Mapping) else it for it in blocks]
    return Turn("anthropic", [{"role": "assistant", "content": said}], calls)


def _is_use(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "tool_use"


def _read_candidates(plain: Mapping[str, Any], response: Any) -> Turn:
    candidate = (plain.get("candidates") or [{}])[0]
    content = candidate.get("content")
    if not content:
        return Turn("gemini", [], [])
    said = response if isinstance(response, Mapping) else response.candidates[0].content
    names = [name for name in ("finishReason", "finish_reason") if name in candidate]
    end = {"finishReason": candidate[names[0]]} if names else {}
    return _read_parts(content, said, cut_off=is_cut_off(end, "finishReason"))


def _read_parts(content: Mapping[str, Any], said: Any, *, cut_off: bool) -> Turn:
    """Read Gemini's parts; the original object is returned, since its bytes would not survive JSON."""
    found = [part.get("functionCall") or part.get("function_call") for part in content.get("parts") or ()]
    plain = [_drop_nulls(call) for call in found if call]
    made = give_ids(plain, "id")
    calls = [{"functionCall": call} for call in plain]
    # An empty part with a signature may stand behind it.
    if cut_off and calls:
        calls[-1] = mark_half(calls[-1])
    return Turn("gemini", [content if isinstance(said, Mapping) else said], calls, made_ids=made)


def _read_steps(plain: Mapping[str, Any], _response: Any) -> Turn:
    return Turn("gemini-steps", list(plain["steps"]), _find_open(plain, plain["steps"]))


def _read_outputs(plain: Mapping[str, Any], _response: Any) -> Turn:
    said = [{"role": "model", "content": plain["outputs"]}]
    return Turn("gemini-outputs", said, _find_open(plain, plain["outputs"]))


def _find_open(interaction: Mapping[str, Any], steps: list[Any]) -> list[dict[str, Any]]:
    """Return the calls of an interaction without a result."""
    done = {step.get("call_id") for step in steps if step.get("type") == "function_result"}
    cut_off = is_cut_off(interaction, "status")
    return choose_calls(steps, lambda it: it.get("type") == "function_call" and it["id"] not in done, cut_off=cut_off)


_READERS: Mapping[str, Callable[[Mapping[str, Any], Any], Turn]] = {
    "choices": _read_choices,
    **dict.fromkeys(OF_GEMINI, _read_candidates),
    "output": _read_graph_output,
    "message": _read_ollama,
    "steps": _read_steps,
    "outputs": _read_outputs,
}


def _drop_nulls(call: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in call.items() if value is not None}


def _drop_parsed(value: Any) -> Any:
    """Remove what parsers have added, but nothing inside a model's arguments."""
    if isinstance(value, list):
        return [_drop_parsed(inner) for inner in value]
    if not isinstance(value, Mapping):
        return value
    kept = {key: inner for key, inner in value.items() if key not in _PARSED}
    return {key: _drop_parsed(inner) if key in _NESTING else inner for key, inner in kept.items()}


# What providers say of such an end, by its name; null is what a stream leaves that broke off.
_CUT_OFF: Mapping[str, frozenset[str | bool | None]] = {
    "finish_reason": frozenset(("length", "model_length", "content_filter", "error", None)),
    "stop_reason": frozenset(("max_tokens", "model_context_window_exceeded", "refusal", None)),
    "finishReason": frozenset(("MAX_TOKENS", None)),
    "done_reason": frozenset(("length",)),
    "done": frozenset((False,)),
    "status": frozenset(("incomplete", "failed", "cancelled", "in_progress", "budget_exceeded")),
}


def is_cut_off(answer: Mapping[str, Any], name: str) -> bool:
    """Return whether an answer reports under this name that it was truncated."""
    return name in answer and answer[name] in _CUT_OFF[name]


def choose_calls(
    said: Sequence[dict[str, Any]], is_call: Callable[[dict[str, Any]], bool], *, cut_off: bool
) -> list[dict[str, Any]]:
    """Return the calls in a model's answer; a truncated last one is marked for the server."""
    calls = [it for it in said if is_call(it)]
    if cut_off and calls and calls[-1] is said[-1]:
        calls[-1] = mark_half(calls[-1])
    return calls


def mark_half(call: Mapping[str, Any]) -> dict[str, Any]:
    """Mark a call as incomplete."""
    return {**call, "status": "incomplete"}
