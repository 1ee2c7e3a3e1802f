"""Keep calls within budgets: take what they may cost before they run, and count what they have cost at their end."""

import asyncio
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from sidecall.features.approvals.steps import FindPrevious, ask_person, may_ask
from sidecall.features.costs.adding import AddingTools
from sidecall.features.costs.budgets import Budget, BudgetAction
from sidecall.features.costs.refusal import Shortage, refuse
from sidecall.features.costs.sql_store import Purse, SpendingLog
from sidecall.kernel.concurrency.coroutines import outlast
from sidecall.kernel.core.cost import read_amount, to_billionths
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.overload import BudgetSpent, CallRefused, StoreUnavailable
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.execution.preview import make_preview
from sidecall.kernel.pipeline.stage import FailurePlace, Place, Stage
from sidecall.kernel.ports.approvals.stores import Approvals

# Parameters whose values know the call, so that the tool may add to its cost.
_KNOWING = frozenset(("tool_context", "made"))


def may_add(tool: CompiledTool) -> bool:
    """Return whether calls of a tool may cost anything, by what its author has declared or by its code."""
    options = tool.options
    judged = bool(options.tool_input_guardrails or options.tool_output_guardrails)
    return options.cost is not None or judged or any(it.source in _KNOWING for it in tool.injections)


def may_cost(tool: CompiledTool) -> bool:
    """Return whether calls of a tool need a budget; `cost=0` says that they do not."""
    return may_add(tool) and tool.options.cost != 0


def make_budget_stages(
    budgets: Sequence[Budget], log: SpendingLog, action: BudgetAction, approvals: Approvals
) -> tuple[Stage, ...]:
    """Make the steps of calls that keep them within budgets; none without one."""
    if not budgets:
        return ()
    adding = AddingTools()
    take, settle = TakeBudget(budgets, log, action, approvals, adding), SettleBudget(budgets, log, adding)
    # A call that waits for a person is found again when it is sent again, as one whose tool asks.
    found = Stage(Place.RECALL, FindPrevious(approvals), lambda tool: may_cost(tool) and not may_ask(tool))
    return (
        *([found] if action == "approve" else []),
        Stage(Place.AUTHORIZE, take, may_cost),
        Stage(Place.RELEASE, settle, may_add),
        Stage(FailurePlace.ENDED, settle, may_add),
    )


@dataclass(frozen=True, slots=True)
class Reservation:
    """An amount in billionths that a call has taken from a budget before it runs."""

    purse: Purse
    amount: int


class TakeBudget:
    """Let a call pass if all budgets have something left for it."""

    def __init__(
        self,
        budgets: Sequence[Budget],
        log: SpendingLog,
        action: BudgetAction,
        approvals: Approvals,
        adding: AddingTools | None = None,
    ) -> None:
        self._budgets = budgets
        self._adding = AddingTools() if adding is None else adding
        self._log = log
        self._action = action
        self._approvals = approvals

    async def __call__(self, invocation: Invocation) -> None:
        """Take the tool's own price from each budget; what the call adds is taken at its end.

        Raises:
            BudgetSpent: A budget has nothing left, or less than the price.
            ApprovalRequired: The same, where a person is asked.
            StoreUnavailable: What has been spent cannot be looked up.
        """
        options = invocation.tool.options
        if options.cost is None and not self._adding.adds(invocation.tool):
            return
        if options.cache is not None:  # An answer that is kept costs nothing, so the tool has to be about to run.
            invocation.before_run = self._take
            return
        await self._take(invocation)

    async def _take(self, invocation: Invocation) -> None:
        request, price = invocation.request, to_billionths(read_amount(invocation.tool.options.cost or 0))
        # A rule for all calls of a tool says nothing about a budget.
        is_allowed = request.approved and request.rule is None
        taken: list[Reservation] = []
        try:
            for budget, purse in _list_purses(self._budgets, self._log, invocation):
                spent = await self._reserve(Reservation(purse, price), None if is_allowed else budget.most, taken)
                if spent is not None:
                    raise refuse(Shortage(budget, purse.window, spent, price, self._log.clock()))
        except BaseException as error:
            for one in taken:
                await _write(self._log, one.purse, -one.amount)
            if isinstance(error, BudgetSpent) and self._action == "approve":
                await self._ask(invocation, error)
            raise
        invocation.reservations = taken

    async def _reserve(self, wanted: Reservation, most: int | None, taken: list[Reservation]) -> int | None:
        """Take an amount and note it, also if the call is cancelled; return what is spent if nothing is left."""
        taking = asyncio.ensure_future(self._log.reserve(wanted.purse, wanted.amount, most))
        try:
            spent = await asyncio.shield(taking)
        except asyncio.CancelledError:
            with suppress(StoreUnavailable):
                if await taking is None:
                    taken.append(wanted)
            raise
        if spent is None:
            taken.append(wanted)
        return spent

    async def _ask(self, invocation: Invocation, spent: BudgetSpent) -> None:
        preview = replace(await make_preview(invocation), description=spent.question)
        raise (await ask_person(self._approvals, invocation, preview)).as_error() from None


class SettleBudget:
    """Count what a call has cost, and what it adds after its end."""

    def __init__(self, budgets: Sequence[Budget], log: SpendingLog, adding: AddingTools | None = None) -> None:
        self._budgets = budgets
        self._adding = AddingTools() if adding is None else adding
        self._log = log
        # Kept here, since the event loop holds its tasks by weak references only.
        self._late: set[asyncio.Task[None]] = set()

    def __call__(self, invocation: Invocation) -> Awaitable[None] | None:
        """Add the difference to what the call has taken; return None at once if there is none."""
        taken, invocation.reservations = invocation.reservations, ()
        cost, spent = invocation.cost, 0
        if not taken:
            taken = [Reservation(purse, 0) for _, purse in _list_purses(self._budgets, self._log, invocation)]
        if cost is not None and not cost.is_counted and not isinstance(invocation.error, CallRefused):
            cost.is_counted = True
            loop, purses = asyncio.get_running_loop(), [one.purse for one in taken]
            spent = cost.hear_more(partial(self._hear, loop, invocation.tool, purses))
            if spent:
                self._adding.note(invocation.tool)
        due = [(one.purse, spent - one.amount) for one in taken if spent != one.amount]
        return self._settle(due) if due else None

    async def _settle(self, due: Sequence[tuple[Purse, int]]) -> None:
        for purse, amount in due:
            await _write(self._log, purse, amount)

    def _hear(
        self, loop: asyncio.AbstractEventLoop, tool: CompiledTool, purses: Sequence[Purse], billionths: int
    ) -> None:
        """Add what a call costs after its end, told in any thread."""
        self._adding.note(tool)
        with suppress(RuntimeError):  # The loop is closed.
            loop.call_soon_threadsafe(self._add_late, [(purse, billionths) for purse in purses])

    def _add_late(self, due: Sequence[tuple[Purse, int]]) -> None:
        task = asyncio.get_running_loop().create_task(self._settle(due))
        self._late.add(task)
        task.add_done_callback(self._late.discard)


def _list_purses(budgets: Sequence[Budget], log: SpendingLog, invocation: Invocation) -> Iterator[tuple[Budget, Purse]]:
    now = log.clock()
    for budget in budgets:
        yield budget, Purse.of(budget.name_owner(invocation.request), budget.find_window(now))


async def _write(log: SpendingLog, purse: Purse, amount: int) -> None:
    """Write an amount, also if the call is cancelled meanwhile."""
    if amount:
        await outlast(log.add(purse, amount))
