"""Make blocks and sums of noted calls."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic_core import to_json

from sidecall.core.calls.entry import CallStatus
from sidecall.core.context import cut_id
from sidecall.core.observer import Outcome
from sidecall.history.blocks import MOST_BYTES, MOST_CALLS, SPAN, Block, Body, Heads, make_marks, place_all
from sidecall.history.noted import Kept, Noted
from sidecall.history.showing import Showing, ShownArgs, write_json
from sidecall.history.sums import HOUR, Callers, Sum, to_bucket

_HEX_OF_TIME = 13  # Of an id: eight digits, a hyphen, four digits.


def read_end(outcome: Outcome) -> tuple[CallStatus, str | None]:
    """Return the status of a call that has ended, and the kind of its failure."""
    if outcome == "success":
        return "succeeded", None
    return ("cancelled" if outcome == "cancelled" else "failed"), outcome


def to_milliseconds(call_id: str) -> int:
    """Return the time of an id, in milliseconds since 1970."""
    return int(call_id[:_HEX_OF_TIME].replace("-", ""), 16)


class Packer:
    """Pack calls, off their way."""

    def __init__(self, showing: Showing | None) -> None:
        """Write arguments and answers as `showing` does."""
        self._showing = showing
        self._callers = Callers()

    def pack(self, noted: Sequence[Noted]) -> Iterator[Block]:
        """Yield blocks of these calls, one after the other so that whoever packs may rest between."""
        # Their moments are of another clock.
        offset = time.time() - time.monotonic()
        group: list[Noted] = []
        size = first = 0
        for call in sorted((call for call in noted if not call.is_remembered), key=_by_tenant_and_id):
            is_full = len(group) >= MOST_CALLS or size >= MOST_BYTES
            moment = to_milliseconds(call.id)
            if group and (is_full or moment - first > SPAN or call.caller.tenant != group[0].caller.tenant):
                yield self._make_block(group, offset)
                group, size = [], 0
            if not group:
                first = moment
            group.append(call)
            size += _measure(call.kept)
        if group:
            yield self._make_block(group, offset)

    def sum_up(self, noted: Sequence[Noted]) -> list[Sum]:
        """Return the sums of these calls."""
        offset = time.time() - time.monotonic()
        alike = Counter(
            (
                call.caller.tenant,
                int(call.moment + offset - call.seconds) // HOUR,
                call.tool.name,
                call.caller.subject,
                call.outcome,
                to_bucket(call.seconds * 1000),
            )
            for call in noted
        )
        sums: Counter[tuple[str, str, int, str, int, int]] = Counter()
        for (tenant, hour, name, caller, outcome, bucket), calls in alike.items():
            status, kind = read_end(outcome)
            is_error = int(status != "succeeded")
            values = [("name", name), ("status", status), ("caller", self._callers.name(cut_id(caller), hour))]
            for part, value in values if kind is None else [*values, ("kind", kind)]:
                sums[tenant, part, hour, value, is_error, bucket] += calls
        return [Sum(*key, calls) for key, calls in sums.items()]

    def _make_block(self, group: Sequence[Noted], offset: float) -> Block:
        bodies = [_write_body(call, offset, self._showing) for call in group]
        names, callers, ends = _Numbers(), _Numbers(), _Numbers()
        name_of = [names[call.tool.name] for call in group]
        caller_of = [callers[call.caller.subject] for call in group]
        end_of = [ends[call.outcome] for call in group]
        heads = Heads(
            "".join(call.id for call in group),
            list(names),
            [cut_id(caller) for caller in callers],
            [read_end(outcome) for outcome in ends],
            name_of,
            caller_of,
            end_of,
            place_all(bodies),
        )
        return Block(
            tenant=group[0].caller.tenant,
            first_id=group[0].id,
            last_id=group[-1].id,
            heads=to_json(heads),
            bodies=b"".join(bodies),
            marks=make_marks(heads),
            calls=len(group),
        )


class _Numbers(dict[Any, int]):
    """Number values in the order in which they come."""

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        return number


def _by_tenant_and_id(call: Noted) -> tuple[str, str]:
    return call.caller.tenant, call.id


def _measure(kept: Kept | None) -> int:
    if kept is None:
        return 0
    args = kept.args
    return len(kept.content) + (len(args.text or "") if isinstance(args, ShownArgs) else 0)


def _write_body(call: Noted, offset: float, showing: Showing | None) -> bytes:
    kept, tool = call.kept, call.tool
    args = answer = None
    is_whole = False
    if kept is not None and showing is not None:
        if kept.args is not None:
            shown = kept.args
            if not isinstance(shown, ShownArgs):
                shown = showing.write_args(shown, tool.hidden_names)
            args = showing.hide(shown.text, kept.secrets)
            is_whole = shown.is_whole and args == shown.text and not kept.has_more
        answer = showing.write_answer(kept.content, kept.error, kept.secrets)
    ended, milliseconds = round(call.moment + offset, 6), round(call.seconds * 1000, 3)
    body = (call.call_id, ended, milliseconds, list(tool.options.tags), args, is_whole, answer)
    try:
        return to_json(body)
    except ValueError:  # The model's id may have no UTF-8 form.
        return write_json(Body(*body)).encode()
