"""Options of requests."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict, cast

from sidecall.client.answers import CallApproval, PartialAnswer, Progress

AskPerson = Callable[[CallApproval], Any]
HearProgress = Callable[[Progress | PartialAnswer], Any]
# Which options each way to call takes.
BESIDE = frozenset(("state", "context"))
OF_PREVIEWS = BESIDE | {"conversation"}
OF_MANY = BESIDE | {"timeout"}
OF_JOBS = OF_MANY | {"key", "conversation"}
OF_TURNS = OF_MANY | {"ask", "approval_wait"}
OF_STREAMS = OF_MANY | {"conversation"}
OF_CALLS = OF_JOBS | OF_TURNS | {"on_progress"}


class ToolFilters(TypedDict, total=False):
    """Which tools to list, and how; `context` is that of later calls, which may enable tools.

    With `search` the model finds the tools: by a search of its `provider`, or of the server.
    """

    strict: bool
    tags: Sequence[str]
    names: Sequence[str]
    toolset: str
    search: Literal["provider", "bm25", "regex"]
    context: Mapping[str, Any]


FILTERS = frozenset(ToolFilters.__annotations__)
_LISTS = frozenset(("names", "tags"))


class CallOptions(TypedDict, total=False):
    """Options of calls.

    `state` and `context` are what the program, never the model, supplies. `timeout` is in seconds until the answer must
    be there; the client stops waiting two seconds later. With `key` the server runs the call once, however often it is
    sent. `ask` is a function of an approval that returns a `PersonVerdict`, True, False, or None if another person has
    decided; without one, `ApprovalNeeded` is raised unless the call is decided within `approval_wait` seconds.
    `conversation` is the call's, if neither the client's headers nor its `context` name one. `on_progress` gets each
    Progress and PartialAnswer before the answer; such a call takes no key.
    """

    state: Any
    context: Mapping[str, Any]
    timeout: float
    key: str
    conversation: str
    ask: AskPerson
    approval_wait: float
    on_progress: HearProgress


def beside(options: CallOptions) -> dict[str, Any]:
    """Return the members of the body besides the calls."""
    return {key: value for key, value in options.items() if key in BESIDE and value is not None}


def limit_time(options: CallOptions) -> list[tuple[str, str]]:
    """Return the query parameter for the timeout."""
    return [("timeout", f"{options['timeout']:g}")] if options.get("timeout") is not None else []


def require_options(options: CallOptions, known: frozenset[str], place: str) -> None:
    """Refuse options that would have no effect.

    Raises:
        TypeError: There is one.
    """
    if unknown := sorted(options.keys() - known):
        hint = "; tools are chosen by `filters`" if FILTERS.issuperset(unknown) else ""
        raise TypeError(f"{place} does not take {', '.join(unknown)}{hint}; there are {', '.join(sorted(known))}")


def check_filters(filters: ToolFilters | None) -> ToolFilters:
    """Return a copy of the filters; a text in place of a list is one name or tag.

    Raises:
        TypeError: They are no dict, or there is an unknown one, which would have no effect.
    """
    given: Any = {} if filters is None else filters
    if not isinstance(given, Mapping):
        raise TypeError(f'filters is a dict such as {{"names": ["calculator"]}}, not {given!r:.100}')
    if unknown := sorted(given.keys() - FILTERS):
        raise TypeError(f"there is no filter {', '.join(unknown)}; there are {', '.join(sorted(FILTERS))}")
    made = {key: [it] if key in _LISTS and isinstance(it, str) else it for key, it in given.items()}
    return cast("ToolFilters", made)
