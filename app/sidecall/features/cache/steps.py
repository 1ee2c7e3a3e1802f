"""Answer calls from the cache of answers."""

import asyncio
import hashlib
import logging
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from sidecall.features.cache.answers import Caching, Flight, FlightResult, KeptAnswer, KeptAnswers
from sidecall.kernel.concurrency.fair_queue import key_of
from sidecall.kernel.concurrency.pools import ARGUMENTS
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.options import Cache
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.large_values import is_long
from sidecall.kernel.pipeline.format import format_output
from sidecall.kernel.pipeline.stage import Place, Stage, Step


def write_exactly(value: Any) -> bytes:
    """Write a value with the types of all its parts; the order of mappings and sets is ignored.

    Other types are pickled.

    Raises:
        Exception: It cannot be pickled, or its own code raises.
    """
    writer = _WRITERS.get(type(value))
    if writer is not None:
        return writer(value)
    if isinstance(value, _NAMED):
        return _join(b"name", [f"{value.__module__}.{value.__qualname__}".encode()])
    reduced = value.__reduce_ex__(2)
    if isinstance(reduced, str):
        return _join(b"global", [f"{type(value).__module__}.{reduced}".encode()])
    # The last parts of a reduction are iterators: the items of a subclass of list or dict.
    return _join(b"object", [write_exactly(_take(part)) for part in reduced])


def _take(part: Any) -> Any:
    return list(part) if hasattr(part, "__next__") else part


def _join(kind: bytes, parts: Iterable[bytes]) -> bytes:
    """Join parts with their lengths in front, so that the result is unambiguous."""
    written = b"".join(b"%d:%s" % (len(part), part) for part in parts)
    return b"%s(%s)" % (kind, written)


def _write_pair(pair: tuple[Any, Any]) -> bytes:
    return _join(b"pair", map(write_exactly, pair))


_NAMED = (type, types.FunctionType, types.BuiltinFunctionType)

_WRITERS: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: b"none()",
    bool: lambda value: _join(b"bool", [b"1" if value else b"0"]),
    # Hexadecimal, since integers may have any number of digits.
    int: lambda value: _join(b"int", [hex(value).encode()]),
    float: lambda value: _join(b"float", [value.hex().encode()]),
    str: lambda value: _join(b"str", [value.encode("utf-8", "surrogatepass")]),
    bytes: lambda value: _join(b"bytes", [value]),
    list: lambda value: _join(b"list", map(write_exactly, value)),
    tuple: lambda value: _join(b"tuple", map(write_exactly, value)),
    dict: lambda value: _join(b"dict", sorted(map(_write_pair, value.items()))),
    set: lambda value: _join(b"set", sorted(map(write_exactly, value))),
    frozenset: lambda value: _join(b"frozenset", sorted(map(write_exactly, value))),
}


_NAME = "cache-control"
# More digits than any age has.
_DIGITS = 9


class Freshness(Struct, frozen=True):
    """The ages that a client accepts: `max_age` in seconds, None for any, 0 if the tool has to run.

    With `may_keep` False the answer is neither read from the cache nor stored.
    """

    may_keep: bool = True
    max_age: int | None = None

    @property
    def wants_run(self) -> bool:
        """Whether the tool has to run for this call."""
        return self.max_age == 0


ANY = Freshness()


def read_freshness(headers: Mapping[str, str]) -> Freshness:
    """Read the header of a request; directives other than `no-store`, `no-cache` and `max-age` are ignored."""
    if _NAME not in headers:
        return ANY
    # A header may come more than once.
    text = ",".join(value for name, value in headers.items() if name.lower() == _NAME)
    said = [part.strip().lower() for part in text.split(",")]
    ages = [0] if "no-cache" in said else []
    for part in said:
        name, _, value = part.partition("=")
        value = value.strip('"')
        if name == "max-age" and value.isascii() and value.isdecimal() and len(value) <= _DIGITS:
            ages.append(int(value))
    return Freshness("no-store" not in said, min(ages, default=None))


logger = logging.getLogger("sidecall")


def has_cache(tool: CompiledTool) -> bool:
    """Return whether answers of a tool may be given again."""
    return tool.options.cache is not None


class RunCached:
    """Run a tool, unless its answer is cached or the same call is already running."""

    def __init__(self, execute: Step, caching: Caching) -> None:
        self._execute = execute
        self._timeout = caching.timeout
        self._kept = KeptAnswers(caching.most_bytes, caching.most_entries)
        self._flights: dict[bytes, tuple[CompiledTool, Flight]] = {}
        self._preparing: dict[bytes, asyncio.Event] = {}
        self._told: set[str] = set()

    async def __call__(self, invocation: Invocation) -> None:
        """Make the message of a call.

        Raises:
            ToolFailure: The tool has failed, or the time is up.
        """
        cache = invocation.tool.options.cache
        assert cache is not None
        freshness = read_freshness(invocation.request.sender.headers)
        key = await self._find_key(invocation, cache) if freshness.may_keep and not _is_special(invocation) else None
        if key is None:
            await _prepare(invocation)
            await self._run(invocation)
            return _note(invocation, {"status": "miss"})
        while freshness.wants_run or not await self._reuse(invocation, key, freshness):
            if invocation.cost is None or invocation.cost.reserve is None:
                landed = await self._begin(invocation, key).wait(invocation)
                return await self._answer(invocation, landed, is_first=True)
            await self._prepare_one(invocation, key)
        return None

    async def _reuse(self, invocation: Invocation, key: bytes, freshness: Freshness) -> bool:
        """Answer a call with what is kept, or by the run of an equal one; return whether there is either."""
        found = self._kept.find(key, invocation.tool, freshness.max_age)
        if found is not None:
            answer, age = found
            await answer.give(invocation, {"cache": {"status": "hit", "age": int(age)}})
            return True
        made_by, flight = self._flights.get(key, (None, None))
        if flight is None or made_by is not invocation.tool:
            return False
        await self._answer(invocation, await flight.wait(invocation), is_first=False)
        return True

    async def _prepare_one(self, invocation: Invocation, key: bytes) -> None:
        """Prepare the run of one of several equal calls; others wait, since that run may answer them, too."""
        preparing = self._preparing.get(key)
        if preparing is not None:
            await preparing.wait()
            return
        self._preparing[key] = is_done = asyncio.Event()
        try:
            await _prepare(invocation)
        finally:
            del self._preparing[key]
            is_done.set()

    def _begin(self, invocation: Invocation, key: bytes) -> Flight:
        tool = invocation.tool

        def leave(flight: Flight) -> None:
            if self._flights.get(key, (tool, None))[1] is flight:
                del self._flights[key]

        def keep(answer: KeptAnswer) -> None:
            assert tool.options.cache is not None
            self._kept.keep(key, tool, tool.options.cache.ttl, answer)

        flight = Flight(invocation, self._run, self._timeout, keep, leave)
        self._flights[key] = (tool, flight)
        return flight

    async def _answer(self, invocation: Invocation, landed: FlightResult, *, is_first: bool) -> None:
        told = {"cache": {"status": "miss" if is_first else "shared"}}
        if landed.answer is not None:
            invocation.attempts = landed.answer.attempts
            return await landed.answer.give(invocation, told)
        if is_first:
            message = landed.message
            message.id = invocation.id
            invocation.message = message
        else:
            await _prepare(invocation)
            await self._run(invocation)
        return _note(invocation, {"status": "miss"})

    async def _run(self, invocation: Invocation) -> None:
        waits = self._execute(invocation)
        if waits is not None:
            await waits
        waits = format_output(invocation)
        if waits is not None:
            await waits

    async def _find_key(self, invocation: Invocation, cache: Cache) -> bytes | None:
        """Make the key of a call; that of one with large arguments in a thread."""
        if is_long(invocation.args):
            return await ARGUMENTS.run_for(key_of(invocation.request.sender.caller), self._make_key, invocation, cache)
        return self._make_key(invocation, cache)

    def _make_key(self, invocation: Invocation, cache: Cache) -> bytes | None:
        """Make the key of a call from all inputs of its tool; None where they cannot be written."""
        tool, caller = invocation.tool, invocation.request.sender.caller
        whose = (caller.tenant, caller.subject) if cache.per_caller else (caller.tenant,)
        try:
            return hashlib.sha256(write_exactly((tool.name, whose, invocation.values))).digest()
        except Exception as error:  # The arguments' own code may raise anything.
            if tool.name not in self._told:
                self._told.add(tool.name)
                logger.warning("answers of %s are not kept: its arguments cannot be compared: %r", tool.name, error)
            return None


def _is_special(invocation: Invocation) -> bool:
    """Return whether a person has had a say, which belongs to this call alone."""
    review = invocation.request.review
    return review.approved or review.rejection is not None


async def _prepare(invocation: Invocation) -> None:
    """Have budgets reserve what the run may cost."""
    cost = invocation.cost
    if cost is not None and cost.reserve is not None:
        reserve, cost.reserve = cost.reserve, None
        await reserve(invocation)


def _note(invocation: Invocation, told: Mapping[str, Any]) -> None:
    assert invocation.message is not None
    invocation.message.response_metadata["cache"] = dict(told)


def make_cache_stages(execute: Step, caching: Caching) -> list[Stage]:
    """Make the step that runs tools with a cache."""
    return [Stage(Place.REUSE, RunCached(execute, caching), has_cache)]
