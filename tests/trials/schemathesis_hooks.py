"""What Schemathesis does otherwise than the document says, which cannot know it; it loads this file by its path."""

import re
from typing import Any
from uuid import uuid4

import schemathesis

_KEY = "Idempotency-Key"
_BARE = re.compile(r"[!#-~][ -~]{0,200}")


@schemathesis.hook
def before_load_schema(_context: Any, raw_schema: dict[str, Any]) -> None:
    """Leave out `callback_url`: which are right is for the operator to say, and in the trial none is."""
    for schema in raw_schema["components"]["schemas"].values():
        schema.get("properties", {}).pop("callback_url", None)


@schemathesis.hook
def before_call(_context: Any, case: Any, _kwargs: dict[str, Any]) -> None:
    """Make each right key another: with one that came before and another call, the answer is 422."""
    key = (case.headers or {}).get(_KEY)
    if isinstance(key, str) and _BARE.fullmatch(key):
        case.headers[_KEY] = f"{key}-{uuid4()}"
