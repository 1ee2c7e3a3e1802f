"""The tools of a server as objects, for any framework: `load_tools("http://127.0.0.1:8000")`."""

import asyncio
import contextvars
import inspect
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal, Unpack, cast, get_args

import httpx

from sidecall.client.answers import ToolAnswer
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall
from sidecall.client.failures import ApprovalNeeded, ClientError, ServerBusy, ServerUnreachable, answer_reused
from sidecall.client.model_output import make_call_id
from sidecall.client.options import OF_CALLS, OF_PREVIEWS, CallOptions, ToolFilters, check_filters, require_options
from sidecall.client.retries import NOT_BEGUN

_CALLBACKS = ("ask", "on_progress")


@dataclass(frozen=True)
class Clients:
    """The clients of one server; of an address there are both."""

    blocking: Sidecall | None
    awaited: AsyncSidecall | None

    @classmethod
    def of(cls, server: str | Sidecall | AsyncSidecall) -> "Clients":
        """Return the clients of a server.

        Raises:
            TypeError: It is neither an address nor a client.
        """
        if isinstance(server, str):
            return cls(Sidecall(server), AsyncSidecall(server))
        if isinstance(server, Sidecall):
            return cls(server, None)
        if isinstance(server, AsyncSidecall):
            return cls(None, server)
        raise TypeError(f"tools are loaded from an address, a Sidecall or an AsyncSidecall, not from {server!r:.100}")

    def run(self, method: str, *args: Any, **options: Any) -> Any:
        """Call a method of a client, and wait for its result."""
        if self.blocking is not None:
            return getattr(self.blocking, method)(*args, **options)
        return _run_apart(lambda: self._run_once(method, *args, **options))

    async def arun(self, method: str, *args: Any, **options: Any) -> Any:
        """Call a method of a client on an event loop, or in a thread if there is only the other client."""
        if self.awaited is not None:
            return await getattr(self.awaited, method)(*args, **options)
        return await asyncio.to_thread(getattr(self.blocking, method), *args, **_bring_home(options))

    async def _run_once(self, method: str, *args: Any, **options: Any) -> Any:
        assert self.awaited is not None
        try:
            return await getattr(self.awaited, method)(*args, **options)
        finally:
            # Those of an event loop that ends now.
            await self.awaited.close()


def _run_apart(work: Callable[[], Any]) -> Any:
    """Run on an event loop of its own, in a thread if there is a running one here."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(contextvars.copy_context().run, asyncio.run, work()).result()


def _bring_home(options: Mapping[str, Any]) -> dict[str, Any]:
    """Let functions of the program run on its event loop, also when a thread calls them."""
    loop = asyncio.get_running_loop()

    def bring(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        async def run(value: Any) -> Any:
            said = function(value)
            return await said if inspect.isawaitable(said) else said

        return lambda value: asyncio.run_coroutine_threadsafe(run(value), loop).result()

    return {key: bring(it) if key in _CALLBACKS and it is not None else it for key, it in options.items()}


ApprovalMode = Literal["text", "wait", "raise"]
_OWN = frozenset(("approvals",))


class ToolOptions(CallOptions, total=False):
    """Options of the calls of tools.

    `approvals` says what becomes of a call that a person has to decide about: `text` answers at once with the
    `approval` and words for the model, and the same call later gets the decision; `wait` waits for it, at most
    `approval_wait` seconds if that is given; `raise` raises ApprovalNeeded.
    """

    approvals: ApprovalMode


@dataclass(frozen=True)
class RemoteTool:
    """A tool that runs in a server.

    `parameters` is the JSON Schema of the arguments, with references in place, and `listed` everything that the server
    says about the tool.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    listed: dict[str, Any] = field(repr=False)
    clients: Clients = field(repr=False)
    defaults: ToolOptions = field(default_factory=ToolOptions, repr=False)

    @property
    def asks(self) -> bool:
        """Whether some calls need a person's approval."""
        return self.listed.get("requires_approval", False) is not False

    @property
    def return_direct(self) -> bool:
        """Whether the answer is the agent's, without asking the model again."""
        return bool(self.listed.get("return_direct"))

    def call(
        self, args: Mapping[str, Any] | str, *, id: str | None = None, **options: Unpack[ToolOptions]
    ) -> ToolAnswer:
        """Run the tool.

        Args:
            args: The arguments, or the JSON text that a model has written.
            id: The model's id of the call. The same call is known by it when it is made again.
            options: Those of `load_tools`, for this call.

        Raises:
            ApprovalNeeded: A person has to decide, and `approvals` is `raise`.
            RequestRefused: The program has to mend something, such as its credentials.
        """
        call, wanted, mode = self._prepare(args, id, options)
        try:
            return cast("ToolAnswer", self.clients.run("call", call, **wanted))
        except ClientError as error:
            return _answer_error(error, call, mode)

    async def acall(
        self, args: Mapping[str, Any] | str, *, id: str | None = None, **options: Unpack[ToolOptions]
    ) -> ToolAnswer:
        """Run the tool, on an event loop; see `call`."""
        call, wanted, mode = self._prepare(args, id, options)
        try:
            return cast("ToolAnswer", await self.clients.arun("call", call, **wanted))
        except ClientError as error:
            return _answer_error(error, call, mode)

    def preview(
        self, args: Mapping[str, Any] | str, *, id: str | None = None, **options: Unpack[ToolOptions]
    ) -> dict[str, Any]:
        """Dry-run a call: `would_run`, `args`, `requires_approval`, `sign_in`…"""
        call, wanted = self._prepare_preview(args, id, options)
        return cast("dict[str, Any]", self.clients.run("preview", call, **wanted))

    async def apreview(
        self, args: Mapping[str, Any] | str, *, id: str | None = None, **options: Unpack[ToolOptions]
    ) -> dict[str, Any]:
        """Dry-run a call, on an event loop."""
        call, wanted = self._prepare_preview(args, id, options)
        return cast("dict[str, Any]", await self.clients.arun("preview", call, **wanted))

    def _prepare(
        self, args: Mapping[str, Any] | str, id: str | None, options: ToolOptions
    ) -> tuple[dict[str, Any], CallOptions, ApprovalMode]:
        wanted = check_options({**self.defaults, **options})
        mode = wanted.get("approvals", "text")
        if mode == "wait":
            wanted.setdefault("approval_wait", math.inf)
        own = {key: value for key, value in wanted.items() if key not in _OWN and value is not None}
        return self._write_call(args, id), cast("CallOptions", own), mode

    def _prepare_preview(
        self, args: Mapping[str, Any] | str, id: str | None, options: ToolOptions
    ) -> tuple[dict[str, Any], CallOptions]:
        call, wanted, _ = self._prepare(args, id, options)
        return call, cast("CallOptions", {key: value for key, value in wanted.items() if key in OF_PREVIEWS})

    def _write_call(self, args: Mapping[str, Any] | str, id: str | None) -> dict[str, Any]:
        call_id = make_call_id() if id is None else str(id)
        if isinstance(args, str):
            return {"type": "function", "id": call_id, "function": {"name": self.name, "arguments": args}}
        return {"type": "tool_call", "id": call_id, "name": self.name, "args": dict(args)}


def load_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[ToolOptions]
) -> list[RemoteTool]:
    """Return the server's tools; `options` apply to all of their calls.

    Each has a method for programs without an event loop and one for those with. Given a `Sidecall`, the latter calls in
    a thread; given an address or an `AsyncSidecall`, cancelling it cancels the call.
    """
    clients, defaults = Clients.of(server), check_options(options)
    return [_make_tool(it, clients, defaults) for it in clients.run("show_tools", **check_filters(filters))]


async def aload_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[ToolOptions]
) -> list[RemoteTool]:
    """Return the server's tools, without blocking the event loop while they are listed."""
    clients, defaults = Clients.of(server), check_options(options)
    return [_make_tool(it, clients, defaults) for it in await clients.arun("show_tools", **check_filters(filters))]


def check_options(options: ToolOptions) -> ToolOptions:
    """Return a copy of the options.

    Raises:
        TypeError: There is an unknown one.
        ValueError: `approvals` is none of its values.
    """
    require_options(options, OF_CALLS | _OWN, "a tool")
    if options.get("approvals", "text") not in get_args(ApprovalMode):
        raise ValueError(f"approvals is one of {', '.join(get_args(ApprovalMode))}, not {options['approvals']!r:.100}")
    return cast("ToolOptions", dict(options))


def _make_tool(listed: Mapping[str, Any], clients: Clients, defaults: ToolOptions) -> RemoteTool:
    # Arguments that are a choice of objects are offered as one object, which the APIs of all models take.
    offered = listed["definition"].get("function", {})
    return RemoteTool(
        name=listed["name"],
        description=offered.get("description", listed.get("description") or ""),
        parameters=offered.get("parameters", listed["args_schema"]),
        listed=dict(listed),
        clients=clients,
        defaults=defaults,
    )


def _answer_error(error: ClientError, call: Mapping[str, Any], mode: ApprovalMode) -> ToolAnswer:
    """Return an answer for the model in the place of an exception, or raise what the program has to mend."""
    name = call["function"]["name"] if "function" in call else call["name"]
    if isinstance(error, ApprovalNeeded) and mode != "raise":
        approval = error.approvals[0]
        failure = {"kind": "approval_required", "message": approval.question, "retryable": False}
        told = {"error": failure, "approval_id": approval.id}
        return ToolAnswer(approval.question, call["id"], name, "error", response_metadata=told, approval=approval)
    if isinstance(error, ServerUnreachable | ServerBusy):
        failure = _describe_outage(error, name)
        return ToolAnswer(failure["message"], call["id"], name, "error", response_metadata={"error": failure})
    if (reused := answer_reused(error, name, call["id"])) is not None:
        return reused
    raise error


def _describe_outage(error: ServerUnreachable | ServerBusy, name: str) -> dict[str, Any]:
    """Return the failure of a call whose server gave no answer; its address stays out of the model's sight."""
    if isinstance(error, ServerBusy):
        has_begun = error.slug not in NOT_BEGUN
        wait = None if error.retry_after is None else int(error.retry_after * 1000)
        kind, why = "server_busy", "The server of its tools had no room"
    else:
        has_begun = not isinstance(error.__cause__, httpx.ConnectError | httpx.ConnectTimeout)
        wait, kind, why = None, "server_unreachable", "The server of its tools could not be reached"
    outcome = "It is not known whether it has run." if has_begun else "It has not run; try again later."
    message = f"{name} has no answer. {why}. {outcome}"
    return {"kind": kind, "message": message, "retryable": not has_begun, "retry_after_ms": wait}
