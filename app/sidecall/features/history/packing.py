"""Make blocks and sums of noted calls."""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import repeat
from operator import attrgetter, itemgetter
from typing import Any, cast

from msgspec.json import Encoder
from pydantic_core import to_json

from sidecall.features.history.blocks import MOST_CALLS, SPAN, Block, Heads, make_marks, place_all
from sidecall.features.history.pending_calls import KeptValues, NotedCall, hide_in_decision
from sidecall.features.history.redactor import write_shown
from sidecall.features.history.rollups import (
    BUCKETS,
    COST,
    HOUR,
    LAST,
    WIDTH,
    Callers,
    Sum,
    SumKey,
    Sums,
    find_status,
    list_parts,
    to_milliseconds,
)
from sidecall.kernel.core.context import CallOrigin, cut_id
from sidecall.kernel.core.secret_mask import hide_spellings
from sidecall.kernel.json_data.to_json import dump_plain
from sidecall.kernel.ports.call_entry import CallStatus
from sidecall.kernel.ports.observer import Outcome
from sidecall.storage.database import first_id

_by_id = itemgetter(0)
_write_lines = Encoder().encode_lines
_name_of, _subject_of = attrgetter("name"), attrgetter("subject")


def read_end(outcome: Outcome) -> tuple[CallStatus, str | None]:
    """Return the status of a call that has ended, and the kind of its failure."""
    kind = None if outcome == "success" else outcome
    return find_status(kind), kind


class Packer:
    """Pack calls into blocks, and sum them up."""

    def __init__(self) -> None:
        """Start with no callers seen."""
        self._callers = Callers()
        self.sums = Sums()
        self._failures: list[Exception] = []

    def pack(self, noted: Sequence[NotedCall]) -> Iterator[Block]:
        """Yield blocks of these calls one at a time, so that the caller may pause in between."""
        # Calls have times of the monotonic clock.
        offset = time.time() - time.monotonic()
        for tenant, calls in _sort(noted):
            self._sum_up(tenant, calls, offset)
            calls = [call for call in calls if not call.is_remembered]
            while calls:
                group = _cut_off(calls)
                yield from self._pack_group(tenant, group, offset)
                calls = calls[len(group) :]

    def take_failures(self) -> list[Exception]:
        """Return the errors of calls that could not be packed, one each, and clear them."""
        taken, self._failures = self._failures, []
        return taken

    def take_sums(self) -> list[Sum]:
        """Return the sums of the packed calls, and clear them."""
        taken, self.sums = self.sums, Sums()
        return [Sum(key, counts) for key, counts in taken.items()]

    def _pack_group(self, tenant: str, group: Sequence[NotedCall], offset: float) -> list[Block]:
        try:
            return [_make_block(tenant, group, offset)]
        except Exception as error:
            if len(group) == 1:
                self._failures.append(error)
                return []
        # One bad call must not affect the others.
        half = len(group) // 2
        return [block for part in (group[:half], group[half:]) for block in self._pack_group(tenant, part, offset)]

    def _sum_up(self, tenant: str, calls: Sequence[NotedCall], offset: float) -> None:
        ids, _, tools, callers, outcomes, seconds, moments, *_, costs, _, _, _ = zip(*calls, strict=True)
        names, subjects = map(_name_of, tools), map(_subject_of, callers)
        hours = [int(moment - took + offset) // HOUR for moment, took in zip(moments, seconds, strict=True)]
        buckets = map(bisect_left, repeat(BUCKETS), seconds)
        keys = list(zip(names, subjects, outcomes, buckets, hours, strict=True))
        ends, spent = Counter(keys), Counter[Any]()
        latest = dict(zip(keys, ids, strict=True))  # They come in their order.
        for key, cost in zip(keys, costs, strict=True) if any(costs) else ():
            spent[key] += cost
        sums = self.sums
        for key, number in ends.items():
            name, caller, outcome, bucket, hour = key
            status, kind = read_end(outcome)
            errors = 0 if status == "succeeded" else number
            span, place = divmod(bucket, WIDTH)
            for part, value in list_parts(name, status, kind, self._callers.name(cut_id(caller), hour)):
                counts = sums[SumKey(tenant, part, hour, value, span)]
                counts[0] += errors
                counts[place + 1] += number
                counts[COST] += spent[key]
                counts[LAST] = max(counts[LAST], latest[key])


def _sort(noted: Sequence[NotedCall]) -> Iterator[tuple[str, list[NotedCall]]]:
    """Yield the calls of each tenant in the order of their ids."""
    tenants = {call.caller.tenant for call in noted}
    for tenant in sorted(tenants):
        own = noted if len(tenants) == 1 else [call for call in noted if call.caller.tenant == tenant]
        yield tenant, sorted(own, key=_by_id)


def _cut_off(calls: Sequence[NotedCall]) -> Sequence[NotedCall]:
    """Return as many of the first calls as fit into one block."""
    last = first_id((to_milliseconds(calls[0].id) + SPAN) / 1000)
    if len(calls) <= MOST_CALLS and calls[-1].id < last:
        return calls
    return calls[: max(1, min(MOST_CALLS, bisect_left(calls, last, key=_by_id)))]


def _make_block(tenant: str, group: Sequence[NotedCall], offset: float) -> Block:
    # Column by column, which is cheaper than call by call.
    ids, _, tools, callers, outcomes, *_, costs, origins, waits, attempts = zip(*group, strict=True)
    names, subjects, ends = _Numbers(), _Numbers(), _Numbers()
    columns = (
        [names[tool.name] for tool in tools],
        [subjects[caller.subject] for caller in callers],
        [ends[outcome] for outcome in outcomes],
    )
    bodies = _write_bodies(group, offset)
    heads = Heads(
        "".join(ids),
        list(names),
        [cut_id(subject) for subject in subjects],
        [read_end(outcome) for outcome in ends],
        *columns,
        place_all(bodies),
        list(costs) if any(costs) else [],
        *_make_origin_columns(origins),
        *_make_turn_columns(waits, attempts),
    )
    return Block(
        tenant=tenant,
        first_id=ids[0],
        last_id=ids[-1],
        heads=dump_plain(heads),
        bodies=b"".join(bodies),
        marks=make_marks(heads),
        calls=len(group),
    )


def _make_origin_columns(origins: Sequence[CallOrigin]) -> Iterator[Sequence[Any]]:
    """Yield the columns of conversations, traces and requests, each empty if no call has any."""
    conversations, traces, requests = zip(*origins, strict=True)
    numbers = _Numbers()
    numbered = [numbers[conversation] for conversation in conversations] if any(conversations) else []
    yield list(numbers)
    yield numbered
    yield traces if any(traces) else []
    yield requests if any(requests) else []


def _make_turn_columns(waits: Sequence[float], attempts: Sequence[int]) -> Iterator[Sequence[Any]]:
    """Yield the columns of waits and attempts, empty if no call has waited, and if each ran once."""
    yield [int(waited * 1e6) for waited in waits] if any(waits) else []
    yield [] if all(number == 1 for number in attempts) else attempts


def _write_bodies(group: Sequence[NotedCall], offset: float) -> list[bytes]:
    _, call_ids, tools, _, _, seconds, moments, _, kept, secrets, decisions, *_ = zip(*group, strict=True)
    if any(decisions):
        decisions = tuple(map(hide_in_decision, decisions, secrets))
    shown = _hide_in_each(kept, secrets)
    columns = zip(call_ids, moments, seconds, tools, shown, decisions, strict=True)
    bodies = [
        (call_id, int((moment + offset) * 1e6), int(took * 1e6), tool.options.tags, one, *said)
        for call_id, moment, took, tool, one, said in columns
    ]
    try:
        return _write_lines(bodies).splitlines()  # No text in JSON has a line break.
    except (TypeError, ValueError):  # Programs in this process may pass values that are not JSON.
        return list(map(_write_body, bodies))


def _hide_in_each(kept: Sequence[Any], secrets: Sequence[Any]) -> Sequence[Any]:
    if not any(secrets):
        return kept
    return [_hide_in(one, hidden) for one, hidden in zip(kept, secrets, strict=True)]


class _Numbers(dict[Any, int]):
    """Number values in order of appearance."""

    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        return number


def _hide_in(kept: KeptValues | None, secrets: Sequence[str]) -> KeptValues | None:
    if kept is None or not secrets:
        return kept
    args, is_whole, *said = kept
    shown = hide_spellings(args, secrets)
    hidden: Any = (shown, is_whole and shown == args, *(hide_spellings(one, secrets) for one in said))
    return cast("KeptValues", hidden)


def _write_body(body: tuple[Any, ...]) -> bytes:
    try:
        return to_json(body)
    except ValueError:  # A text may have no UTF-8 form.
        return write_shown(body).encode()
