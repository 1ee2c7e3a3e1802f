"""Let calls go on for whose end nobody waits: their person has signed in, or nobody heard that they were decided."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sidecall.auth.audit import Auditor
from sidecall.core.approval import Approval, ApprovalRecord, Decision
from sidecall.core.context import Caller
from sidecall.core.coroutines import cancel_from_outside
from sidecall.core.decisions.places import Approvals
from sidecall.core.decisions.stray import StrayDecision
from sidecall.core.errors import ApprovalConflict, CallRejected, RequestError, SidecallError, UnknownApproval
from sidecall.core.overload import Overloaded
from sidecall.core.record import CallRecord
from sidecall.later import Later
from sidecall.pipeline.format import refuse
from sidecall.pipeline.pipeline import Pipeline

if TYPE_CHECKING:
    from sidecall.pipeline import decide as _decide
    from sidecall.pipeline.signing_in import expired as _expired
    from sidecall.pipeline.signing_in import strays as _strays
else:
    _decide = Later("sidecall.pipeline.decide")
    _expired = Later("sidecall.pipeline.signing_in.expired")
    _strays = Later("sidecall.pipeline.signing_in.strays")

logger = logging.getLogger("sidecall")

# Is told of an approval that has changed.
Notice = Callable[[Approval], Awaitable[None]]
# Says whether a call is remembered, so that its end is known.
IsRemembered = Callable[[CallRecord], Awaitable[bool]]
# Most seconds until a call is tried again for which there was no room.
_PAUSE = 5.0


class SignInWaits:
    """The calls that wait for somebody to sign in, and those whose decision is a stray; each has a task of its own."""

    def __init__(
        self,
        pipeline: Pipeline,
        approvals: Approvals,
        notice: Notice,
        is_remembered: IsRemembered,
        auditor: Auditor | None = None,
    ) -> None:
        self._pipeline = pipeline
        self._approvals = approvals
        self._notice = notice
        self._is_remembered = is_remembered
        self._auditor = auditor
        self._tasks: set[asyncio.Task[None]] = set()

    def open(self) -> None:
        """Take up decisions that are strays from now on."""
        self._approvals.hear_of_strays(lambda stray: self._begin(self._take_up(stray)))

    def resume(self, caller: Caller, provider: str) -> None:
        """Let a caller's calls go on that wait for a token of this provider; nobody waits for their end."""
        self._begin(self._resume_all(caller, provider))

    def reject(self, caller: Caller, provider: str) -> None:
        """Answer them that the person did not allow it."""
        self._begin(self._reject_all(caller, provider))

    async def close(self, patience: float) -> None:
        """Wait so many seconds for what runs, then break it off; strays are left to the next server."""
        self._approvals.hear_of_strays(None)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=patience)
        for task in self._tasks:
            cancel_from_outside(task)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _resume_all(self, caller: Caller, provider: str) -> None:
        async for approval_id in self._list(caller, provider):
            self._begin(self._insist(self._resume_one, approval_id, caller, provider))

    async def _reject_all(self, caller: Caller, provider: str) -> None:
        async for approval_id in self._list(caller, provider):
            self._begin(self._insist(self._reject_one, approval_id, caller, provider))

    async def _list(self, caller: Caller, provider: str) -> AsyncIterator[str]:
        cursor: str | None = None
        found: list[str] = []
        while True:
            page = await self._approvals.list(caller.tenant, "pending", cursor=cursor)
            for it in page.approvals:
                if it.sign_in is not None and (it.requested_by, it.sign_in.provider) == (caller.subject, provider):
                    found.append(it.id)
            cursor = page.cursor
            if cursor is None:
                break
        for approval_id in found:
            yield approval_id

    async def _insist(
        self, act: Callable[[str, str, str], Awaitable[Approval]], approval_id: str, caller: Caller, provider: str
    ) -> None:
        """Act on a call as soon as there is room; one that somebody else has acted on is left alone."""
        while True:
            try:
                approval = await act(approval_id, caller.subject, provider)
            except Overloaded as error:
                await asyncio.sleep(min(error.retry_after, _PAUSE))
            except (UnknownApproval, ApprovalConflict):
                return
            except SidecallError as error:
                logger.warning("the call of approval %s does not go on: %s", approval_id, error)
                return
            else:
                break
        with suppress(RequestError):
            await self._notice(approval)

    async def _take_up(self, stray: StrayDecision) -> None:
        if stray.has_expired:
            await self._note_expired(stray.record)
            return
        approval_id = stray.record.approval.id
        if stray.answer is None:
            logger.warning("the decision about approval %s was written down though nobody heard of that", approval_id)
        try:
            approval = await _strays.carry_out_stray(self._pipeline, self._approvals, stray, self._auditor)
        except SidecallError as error:
            logger.warning("the call of approval %s does not go on: %s", approval_id, error)
            return
        with suppress(RequestError):
            await self._notice(approval)

    async def _note_expired(self, record: ApprovalRecord) -> None:
        with suppress(RequestError):
            if record.call is not None and not await self._is_remembered(record.call):
                _expired.note_expired(self._pipeline, record)

    async def _resume_one(self, approval_id: str, by: str, _provider: str) -> Approval:
        record = await self._approvals.get(approval_id)
        call = record.require_pending()
        request = replace(call.to_request(), resumes=approval_id)
        await self._approvals.decide(approval_id, Decision(decision="approve"), by)
        async with _decide.reopening(self._approvals, approval_id):
            entered = await self._pipeline.gate.enter(request)
        return await _decide.finish(self._pipeline, self._approvals, request, entered, call)

    async def _reject_one(self, approval_id: str, by: str, provider: str) -> Approval:
        call = (await self._approvals.get(approval_id)).require_pending()
        reason = f"The person did not let this tool act for them at {provider}."
        await self._approvals.decide(approval_id, Decision(decision="reject", reason=reason), by)
        return await _decide.keep_answer(
            self._approvals, approval_id, refuse(CallRejected(reason), call.tool_call), call
        )
