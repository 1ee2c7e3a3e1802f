"""Resume calls that waited for a person's sign-in."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

from sidecall.features.approvals.decide import finish, keep_answer, reopening
from sidecall.features.approvals.record import Decision
from sidecall.features.approvals.stores import Approvals, OnApproval
from sidecall.kernel.concurrency.coroutines import BegunWork
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import ApprovalConflict, CallRejected, RequestError, SidecallError, UnknownApproval
from sidecall.kernel.core.overload import Overloaded
from sidecall.kernel.pipeline.format import refuse
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.approvals.approval import Approval

logger = logging.getLogger("sidecall")

# Maximum delay in seconds before a call is retried for which there was no room.
_PAUSE = 5.0


class SignInWaits:
    """Calls that wait for a sign-in; each is resumed in its own task."""

    def __init__(self, pipeline: Pipeline, approvals: Approvals, on_approval: OnApproval) -> None:
        self._pipeline = pipeline
        self._approvals = approvals
        self._on_approval = on_approval
        self._begun = BegunWork()

    def resume(self, caller: Caller, provider: str) -> None:
        """Resume a caller's calls that wait for a token of this provider, without waiting for their end."""
        self._begun.begin(self._resume_all(caller, provider))

    def reject(self, caller: Caller, provider: str) -> None:
        """Answer them that the person did not allow it."""
        self._begun.begin(self._reject_all(caller, provider))

    async def close(self, patience: float) -> None:
        """Wait so many seconds for running calls, then cancel them."""
        await self._begun.close(patience)

    async def _resume_all(self, caller: Caller, provider: str) -> None:
        async for approval_id in self._list(caller, provider):
            self._begun.begin(self._insist(self._resume_one, approval_id, caller, provider))

    async def _reject_all(self, caller: Caller, provider: str) -> None:
        async for approval_id in self._list(caller, provider):
            self._begun.begin(self._insist(self._reject_one, approval_id, caller, provider))

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
        """Decide about a call as soon as there is room; skip one that was decided by others."""
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
            await self._on_approval(approval)

    async def _resume_one(self, approval_id: str, by: str, _provider: str) -> Approval:
        record = await self._approvals.get(approval_id)
        call = record.require_pending()
        request = call.to_request().copy_reviewed(approval_id=approval_id)
        await self._approvals.decide(approval_id, Decision(decision="approve"), by)
        async with reopening(self._approvals, approval_id):
            entered = await self._pipeline.gate.enter(request)
        return await finish(self._pipeline, self._approvals, request, entered, call)

    async def _reject_one(self, approval_id: str, by: str, provider: str) -> Approval:
        call = (await self._approvals.get(approval_id)).require_pending()
        reason = f"The person did not let this tool act for them at {provider}."
        await self._approvals.decide(approval_id, Decision(decision="reject", reason=reason), by)
        return await keep_answer(self._approvals, approval_id, refuse(CallRejected(reason), call.tool_call), call)
