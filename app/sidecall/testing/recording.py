"""What is recorded of a run: requests and their answers, as JSON that people can read, without secrets."""

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import httpx

from sidecall.features.telemetry.redact import REDACTED, Redaction
from sidecall.kernel.core.secret_mask import SecretMask

FORMAT = "sidecall-recording-1"
# What of a request tells apart what it asks for; credentials, keys and ids of a run are not among it.
_ASKING = ("accept", "prefer", "if-none-match", "range", "x-sidecall-context")
_CREDENTIALS = ("authorization", "x-api-key", "proxy-authorization", "cookie")
# What of an answer its client reads.
_TELLING = re.compile(
    r"content-(type|range|disposition)|location|etag|link|retry-after|preference-applied|idempotency-replayed"
    r"|deprecation|x-sidecall-.*"
)
_EVENTS = "text/event-stream"
# Members in which calls and answers have the id of a call, in the forms of all providers.
_IDS = frozenset(("id", "call_id", "tool_call_id", "tool_use_id", "approval_request_id"))
# Members below which stand arguments and other values, whose `id` is no call's; in answers, results too.
_VALUES = frozenset(("args", "arguments", "input", "state", "context"))
_OF_TOOLS = _VALUES | {"artifact", "content"}
_CALLS = ("/tool_calls", "/tool_calls/batch")
# Characters of keys: those without a digit, and those with one.
_LONG, _SHORT = 16, 6
# Routes whose bodies are secrets themselves.
_SECRETS = re.compile(r"/(secrets|keys)(/|$)")


class UnfitRecording(ValueError):
    """The file is no recording of a run."""


class NotRecorded(AssertionError):
    """A request has no answer in the recording."""


@dataclass(frozen=True)
class Exchange:
    """One request and its answer.

    A body is a dict of one member that says in which form it is: `json`, `text`, `events` or `base64`; or empty.
    """

    method: str
    path: str
    status: int
    query: dict[str, Any] = field(default_factory=dict)
    asking: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    answer: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the members to write, without empty ones."""
        asked = {"method": self.method, "path": self.path, "query": self.query, "headers": self.asking, **self.body}
        told = {"status": self.status, "headers": self.headers, **self.answer}
        return {"request": _drop_empty(asked), "response": _drop_empty(told)}

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Self:
        """Read one.

        Raises:
            UnfitRecording: It is none.
        """
        try:
            (body, request), (answer, response) = _split(written["request"]), _split(written["response"])
            return cls(
                request["method"],
                request["path"],
                response["status"],
                query=request.get("query", {}),
                asking=request.get("headers", {}),
                body=body,
                headers=response.get("headers", {}),
                answer=answer,
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise UnfitRecording(f"This is no recorded exchange ({error!r}): {written!r:.200}") from None


_FORMS = ("json", "text", "events", "base64")


def _drop_empty(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name in _FORMS or value not in ({}, [])}


def _split(members: Mapping[str, Any]) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """Split the body off."""
    return {name: members[name] for name in _FORMS if name in members}, members


class Redactor:
    """Takes secrets out of what is recorded: members with telling names, known values, and both wherever they recur."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        self._fields = Redaction()
        self._mask = SecretMask()
        for secret in secrets:
            self._mask.add(secret)

    def learn(self, request: httpx.Request) -> None:
        """Learn the credentials of a request, wherever they may appear in an answer."""
        for name in _CREDENTIALS:
            value = request.headers.get(name, "")
            if name == "cookie":
                secrets = [part.partition("=")[2].strip() for part in value.split(";")]
            else:
                secrets = [value.rpartition(" ")[2], *_read_basic(value)]
            for secret in secrets:
                self._mask.add(secret)

    def clean(self, value: Any) -> Any:
        """Copy a JSON value without secrets."""
        return self._mask.hide(self._clean_fields(value))

    def clean_text(self, text: str) -> str:
        """Return a text without known secrets."""
        return self._mask.hide_in_text(text)

    def _clean_fields(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: self._clean_member(key, inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._clean_fields(inner) for inner in value]
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            return self._clean_written(value)
        return value

    def _clean_member(self, key: str, value: Any) -> Any:
        # Not below it: in a schema, the member `password` describes one.
        if self._fields.is_secret(key):
            if isinstance(value, str):
                if _looks_random(value):
                    self._mask.add(value)
                return REDACTED
            if isinstance(value, list):
                return [REDACTED if isinstance(inner, str) else self._clean_fields(inner) for inner in value]
        return self._clean_fields(value)

    def _clean_written(self, text: str) -> str:
        """Clean JSON that is written as a text, such as arguments; what holds no secret stays as it is."""
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            return text
        cleaned = self._clean_fields(parsed)
        return text if cleaned == parsed else json.dumps(cleaned, ensure_ascii=False)


def _looks_random(value: str) -> bool:
    """Return whether a text is a key rather than a word, which may stand anywhere else."""
    return len(value) >= _LONG or (len(value) >= _SHORT and any(map(str.isdigit, value)))


def _read_basic(credentials: str) -> list[str]:
    """Return the password of HTTP's basic authentication, if there is one."""
    kind, _, code = credentials.partition(" ")
    if kind.lower() != "basic":
        return []
    with suppress(ValueError):
        return [base64.b64decode(code).decode().partition(":")[2]]
    return []


def describe_request(request: httpx.Request, redactor: Redactor) -> Exchange:
    """Describe a request whose body was read, without its answer."""
    params = request.url.params
    named = {name: params.get_list(name) for name in params}
    query = {name: values[0] if len(values) == 1 else values for name, values in named.items()}
    body = _read_body(request.content, request.headers.get("content-type", ""))
    if body and _SECRETS.search(request.url.path):
        body = {"text": REDACTED}
    asking = {name: request.headers[name] for name in _ASKING if name in request.headers}
    if _EVENTS not in asking.get("accept", ""):
        asking.pop("accept", None)
    said: dict[str, Any] = redactor.clean({"query": query, "asking": asking, "body": body})
    return Exchange(request.method, redactor.clean_text(request.url.path), 0, **said)


def _read_body(body: bytes, kind: str) -> dict[str, Any]:
    if not body:
        return {}
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}
    if kind.startswith(_EVENTS):
        return {"events": list(_read_events(text))}
    return _read_text(text) if "json" in kind else {"text": text}


def _read_text(text: str) -> dict[str, Any]:
    try:
        return {"json": json.loads(text)}
    except ValueError:
        return {"text": text}


def _read_events(text: str) -> Iterator[dict[str, Any]]:
    for block in re.split(r"\r?\n\r?\n", text):
        event: dict[str, Any] = {}
        for line in block.splitlines():
            name, _, value = line.partition(":")
            if name:
                value = value.removeprefix(" ")
                event[name] = f"{event[name]}\n{value}" if name in event else value
        if event:
            if "data" in event:
                event["data"] = _read_text(event["data"]).get("json", event["data"])
            yield event


def describe_answer(response: httpx.Response, redactor: Redactor) -> dict[str, Any]:
    """Describe an answer whose body was read."""
    told = {name: value for name, value in response.headers.items() if _TELLING.fullmatch(name)}
    body = _read_body(response.content, told.get("content-type", ""))
    said: dict[str, Any] = redactor.clean({"headers": told, "answer": body})
    return {"status": response.status_code, **said}


def write_answer(exchange: Exchange, ids: Mapping[str, str]) -> httpx.Response:
    """Make the answer again, with the ids of calls as they are named now."""
    told = {name: _rename_in_header(value, ids) for name, value in exchange.headers.items()}
    return httpx.Response(exchange.status, headers=told, content=_write_body(rename_ids(exchange.answer, ids)))


def _write_body(body: Mapping[str, Any]) -> bytes:
    form, value = next(iter(body.items()), ("text", ""))
    if form == "json":
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    if form == "base64":
        return base64.b64decode(value)
    text: str = "".join(map(_write_event, value)) if form == "events" else value
    return text.encode()


def _write_event(event: Mapping[str, Any]) -> str:
    lines = []
    for name, value in event.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines += [f"{name}: {line}" for line in text.split("\n")]
    return "\n".join([*lines, "", ""])


def rename_ids(value: Any, ids: Mapping[str, str]) -> Any:
    """Copy a JSON value with other ids of calls."""
    if isinstance(value, Mapping):
        return {key: _rename_member(key, inner, ids) for key, inner in value.items()}
    return [rename_ids(inner, ids) for inner in value] if isinstance(value, list) else value


def _rename_member(key: str, value: Any, ids: Mapping[str, str]) -> Any:
    if key in _IDS and isinstance(value, str):
        return ids.get(value, value)
    return value if key in _OF_TOOLS else rename_ids(value, ids)


def _rename_in_header(text: str, ids: Mapping[str, str]) -> str:
    """Rename the ids in `X-Sidecall-Approvals`, where each stands before a sign of equality."""
    for old, new in ids.items():
        text = re.sub(rf"(?<![^\s,]){re.escape(_quote(old))}=", f"{_quote(new)}=", text)
    return text


def _quote(text: str) -> str:
    return str(httpx.QueryParams({"": text}))[1:].replace("+", "%20")


def compare(recorded: Exchange, sent: Exchange) -> dict[str, str] | None:
    """Compare a request with a recorded one: return the recorded ids of its calls and what they are now, or None.

    Ids of calls may differ, since each run has its own; where a secret was taken out, any text fits.
    """
    recorded, sent = _settle(recorded), _settle(sent)
    if any(not _fits(getattr(recorded, name), getattr(sent, name)) for name in ("method", "path", "query", "asking")):
        return None
    ids: dict[str, str] = {}
    rename = ids.__setitem__ if recorded.path.endswith(_CALLS) else None
    return ids if _fits(recorded.body, sent.body, rename) else None


def _settle(exchange: Exchange) -> Exchange:
    """Leave out of a request what says nothing: the usual form of listings and answers, how arguments are spaced."""
    query, body = exchange.query, exchange.body
    if exchange.path.endswith(_CALLS):
        body = _settle_calls(body)
        is_usual = query.get("format") == "langchain" and '"args": ' in json.dumps(body)
    else:
        is_usual = query.get("format") == "openai" and exchange.path.endswith("/tools")
    query = {name: value for name, value in query.items() if name != "format"} if is_usual else query
    return replace(exchange, query=query, body=body)


def _settle_calls(body: Any) -> Any:
    if isinstance(body, list):
        return [_settle_calls(inner) for inner in body]
    if not isinstance(body, Mapping):
        return body
    return {
        key: _parse(inner) if key in ("arguments", "args") else _settle_calls(inner)
        for key, inner in body.items()
        if (key, inner) != ("type", "tool_call")
    }


def _parse(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return text


def _fits(recorded: Any, sent: Any, rename: Callable[[str, str], None] | None = None, depth: int = 0) -> bool:
    if isinstance(recorded, str) and REDACTED in recorded and isinstance(sent, str):
        pattern = ".*".join(map(re.escape, recorded.split(REDACTED)))
        return re.fullmatch(pattern, sent, re.DOTALL) is not None
    if isinstance(recorded, Mapping) and isinstance(sent, Mapping):
        return _fit_members(recorded, sent, rename, depth)
    if isinstance(recorded, list) and isinstance(sent, list):
        return len(recorded) == len(sent) and all(
            _fits(one, other, rename, depth + 1) for one, other in zip(recorded, sent, strict=True)
        )
    return type(recorded) is type(sent) and bool(recorded == sent)


def _fit_members(
    recorded: Mapping[str, Any], sent: Mapping[str, Any], rename: Callable[[str, str], None] | None, depth: int
) -> bool:
    for key in {*recorded, *sent}:
        old, new = recorded.get(key), sent.get(key)
        if rename is not None and key in _IDS:
            if isinstance(old, str) and isinstance(new, str):
                rename(old, new)
            continue
        if not _fits(old, new, None if key in _VALUES else rename, depth + 1):
            return False
    return True


def read_recording(path: Path) -> list[Exchange]:
    """Read a file.

    Raises:
        UnfitRecording: It is no recording.
    """
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UnfitRecording(f"{path} is no JSON: {error}") from None
    if not isinstance(written, dict) or written.get("format") != FORMAT or not isinstance(written["exchanges"], list):
        raise UnfitRecording(f"{path} is no recording: its `format` is not {FORMAT!r}, or it has no `exchanges`.")
    return [Exchange.from_json(it) for it in written["exchanges"]]


def write_recording(path: Path, exchanges: list[Exchange]) -> None:
    """Write a file, whole or not at all."""
    text = json.dumps({"format": FORMAT, "exchanges": [it.to_json() for it in exchanges]}, indent=2, ensure_ascii=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_text(text + "\n", encoding="utf-8")
    unfinished.replace(path)
