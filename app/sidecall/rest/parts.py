"""The objects that routes work with."""

from collections.abc import Awaitable, Callable, Collection, Coroutine
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends

from sidecall.http.backlog import Backlog
from sidecall.http.body import Bounds
from sidecall.http.fast_path import Reply
from sidecall.http.parameters import find_parts
from sidecall.kernel.core.context import Caller, Toolset
from sidecall.kernel.core.errors import CallbackRefused, RequestError, UnknownToolset, cut_name
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.registry import Registry
from sidecall.rest.listings import ToolListings


@dataclass(frozen=True, slots=True)
class DurableCalls:
    """How calls are answered that go on without their client.

    `answer` accepts one, and answers with its result or its address; None where no calls are durable. `longest_wait` is
    for how many seconds a client may wait for the result.
    """

    answer: Callable[..., Coroutine[Any, Any, Reply]] | None = None
    longest_wait: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What the routes of a server without features work with; `sidecall.features.server_parts` has the rest.

    `durable` is how calls are answered that go on alone.
    """

    registry: Registry
    pipeline: Pipeline
    listings: ToolListings
    bounds: Bounds
    lifecycle: Lifecycle = field(default_factory=Lifecycle)
    backlog: Backlog = field(default_factory=Backlog)
    durable: DurableCalls = DurableCalls()

    @property
    def outage(self) -> str | None:
        """Why durable storage is unavailable; None when it works."""
        return None

    def require_callback(self, url: str) -> None:  # noqa: ARG002
        """Require that the end of a call may be told at this URL.

        Raises:
            CallbackRefused: It may not.
        """
        raise CallbackRefused("This server tells nobody of the ends of calls: leave `callback_url` out.")

    def run(self, request: CallRequest) -> Awaitable[ToolMessage]:
        """Run a call of a batch; with an idempotent tool an equal call runs once."""
        return self.pipeline.run(request)

    def find_known_again(self, name: str) -> CompiledTool | None:  # noqa: ARG002
        """Return the tool of this name, if it is idempotent by its calls' ids."""
        return None

    async def keep_content(self, body: bytes, caller: Caller) -> str | None:  # noqa: ARG002
        """Keep JSON for its caller and return its id; None where nothing is kept."""
        return None

    def find_toolset(self, name: str) -> Toolset:
        """Return a toolset by its name.

        Raises:
            UnknownToolset: There is none.
        """
        raise UnknownToolset(f"There is no toolset {cut_name(name)}.")

    async def list_secrets(self, caller: Caller) -> Collection[str] | None:  # noqa: ARG002
        """List the names of a caller's own secrets; None where that is not known."""
        return None

    async def list_tokens(self, caller: Caller) -> Collection[str] | None:  # noqa: ARG002
        """List the providers at which a caller's person has signed in; None where that is not known."""
        return None

    def find_readiness(self) -> dict[str, Any]:
        """Return what features say of a server that may take traffic, as members of `GET /readyz`."""
        return {}

    def note_refusal(self, error: RequestError, caller: Caller | None) -> None:
        """Note that a request was refused before it reached a route."""


PartsDep = Annotated[Parts, Depends(find_parts)]
