"""Find the conversation, and so the workspace, of a call."""

from collections.abc import Mapping
from typing import Any, Protocol

from sidecall.kernel.core.errors import MissingContext

HEADER = "Sidecall-Conversation"
FIELD = "conversation_id"
LONGEST = 256
# What is surely no name is refused where calls and approvals are filtered by it.
NAMED = r"^[^\x00-\x1f\x7f/]+$"


class ConversationFolder:
    """What a parameter is that gets the files of a conversation.

    A feature derives its class from this one, and authors type that. It can be pickled, for a process of a tool.
    """


class ConversationFiles(Protocol):
    """The workspaces of all conversations."""

    def open(self, tenant: str, conversation: str | None, *, lasts: bool = False) -> Any:
        """Open the workspace of a tenant's conversation; None means a temporary one for one call.

        One that `lasts` is kept until it is deleted.
        """

    def end(self, workspace: Any) -> None:
        """Note that a call with this workspace has ended."""


def find_conversation(headers: Mapping[str, str], context: Mapping[str, Any]) -> str | None:
    """Return the conversation of a call, from its header, else from its context; None if it has none.

    Raises:
        MissingContext: It is said in a way that cannot be used.
    """
    in_header = headers.get(HEADER.lower())
    if in_header is not None:
        _refuse_twice(headers)
    named = context.get(FIELD) if in_header is None else in_header
    if named is None:
        return None
    if in_header is not None and not in_header.isascii():
        raise _refuse(f"The conversation (`{HEADER}` or `context.{FIELD}`)")
    return _require_name(named, f"The conversation (`{HEADER}` or `context.{FIELD}`)")


def require_conversation(headers: Mapping[str, str], context: Mapping[str, Any]) -> None:
    """Refuse a call whose conversation is invalid, even if its tool does not use it.

    Raises:
        MissingContext: It does.
    """
    if FIELD in context or HEADER in headers:
        find_conversation(headers, context)


def name_conversation(headers: Mapping[str, str], context: Mapping[str, Any]) -> str | None:
    """Return the conversation named in a call; None if there is none or it is invalid."""
    try:
        return find_conversation(headers, context)
    except MissingContext:
        return None


def find_lasting(context: Mapping[str, Any], field: str) -> str | None:
    """Return the owner of the lasting files of a call, from its context; None if the context names none.

    Raises:
        MissingContext: It is said in a way that cannot be used.
    """
    named = context.get(field)
    return None if named is None else _require_name(named, f"`context.{field}`")


def _require_name(named: Any, what: str) -> str:
    if not isinstance(named, str) or not can_name(named):
        raise _refuse(what)
    return named


def _refuse(what: str) -> MissingContext:
    return MissingContext(
        f"{what} must be a text of 1 to {LONGEST} printable characters, without slashes and not all blanks; a header "
        "has those of ASCII only. Leave it out where there is none."
    )


def _refuse_twice(headers: Mapping[str, str]) -> None:
    # Those of a request are told one by one, also where one of them would be looked up.
    count = sum(name.lower() == HEADER.lower() for name, _ in headers.items())
    if count > 1:
        raise MissingContext(f"The header `{HEADER}` came {count} times; send it once.")


def can_name(text: str) -> bool:
    """Return whether a text is valid as a conversation's name, in paths and headers."""
    return len(text) <= LONGEST and text.isprintable() and "/" not in text and text.strip() not in ("", ".", "..")
