"""What a server offers to its calls, and to the tools that they run."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sidecall.kernel.core.result_memory import ResultMemory
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.ports.contents import ReachableContents
from sidecall.kernel.ports.passages import Passages
from sidecall.kernel.ports.sandbox import Sandbox
from sidecall.kernel.ports.secrets import OwnSecrets
from sidecall.kernel.ports.store import Store, SyncStore
from sidecall.kernel.ports.user_tokens import UserTokens
from sidecall.kernel.ports.workspaces import ConversationFiles

# To be called when what runs on of a call has ended.
Release = Callable[[], None]


@dataclass(frozen=True, slots=True)
class ToolResources:
    """What tools get from the server, by their parameters and their context.

    `secrets` finds those of the server, `own_secrets` those of callers, and `user_tokens` the tokens with which tools
    act for people. `workspaces` holds the files of conversations, `passages` searches uploaded files. `trace` returns
    the current span as headers.
    """

    store: Store | SyncStore | None = None
    secrets: Callable[[str], str | None] = lambda name: os.environ.get(name) or None
    own_secrets: OwnSecrets | None = None
    user_tokens: UserTokens | None = None
    contents: ReachableContents | None = None
    sandbox: Sandbox | None = None
    workspaces: ConversationFiles | None = None
    passages: Passages | None = None
    trace: Callable[[], Mapping[str, str]] = dict


def _nothing() -> None:
    """Do nothing."""


def _count_nothing(_tool: CompiledTool) -> Release:
    return _nothing


@dataclass(frozen=True, slots=True)
class CallServices:
    """The services that a server offers to all its calls.

    Without `results` the size of results is unbounded. `abandon` is called when part of a call still runs after its
    answer.
    """

    resources: ToolResources = ToolResources()
    results: ResultMemory | None = None
    abandon: Callable[[CompiledTool], Release] = _count_nothing


NO_SERVICES = CallServices()
