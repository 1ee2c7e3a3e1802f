"""Keep calls within budgets: take what they may cost before they run, and count what they have cost at their end."""

import asyncio
import functools
import inspect
import math
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from sidecall.feature import Built, Host
from sidecall.features.approvals.steps import FindPrevious, ask_person, may_ask
from sidecall.features.approvals.stores import Approvals
from sidecall.features.costs.budget_settings import Budget, BudgetAction, Window, read_budgets
from sidecall.features.costs.sql_store import Purse, SpendingLog
from sidecall.kernel.concurrency.coroutines import outlast
from sidecall.kernel.core.cost import read_amount, to_billionths, to_number, write_amount
from sidecall.kernel.core.invocation import Invocation, open_cost
from sidecall.kernel.core.overload import BudgetSpent, CallRefused, StoreUnavailable
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.dry_run import make_preview
from sidecall.kernel.pipeline.stage import FailurePlace, Place, Stage


@dataclass(frozen=True, slots=True)
class Shortage:
    """What a budget lacks for a call: `spent` and `price` are billionths, `now` is in seconds since 1970."""

    budget: Budget
    window: Window
    spent: int
    price: int
    now: float

    @property
    def retry_after(self) -> int:
        """Whole seconds until the budget begins anew, at least 1."""
        return max(1, math.ceil(self.window.ends_at - self.now))

    @property
    def renewed_at(self) -> str:
        """When that is, in UTC."""
        return datetime.fromtimestamp(self.window.ends_at, UTC).isoformat().replace("+00:00", "Z")

    @property
    def reason(self) -> str:
        """What is lacking, in a sentence or two."""
        budget = self.budget
        whole = f"The budget of one {budget.owner} is {write_amount(budget.most)} per {budget.unit}"
        if self.spent >= budget.most:
            return f"{whole}, and it is used up: {write_amount(self.spent)} spent."
        left = write_amount(budget.most - self.spent)
        return f"{whole}, and {left} are left. This call costs {write_amount(self.price)}."


def refuse(shortage: Shortage) -> BudgetSpent:
    """Make the error of a call for which a budget has nothing left."""
    budget = shortage.budget
    told: dict[str, Any] = {"per": budget.owner, "time": budget.unit, "most": to_number(budget.most)}
    told |= {"spent": to_number(shortage.spent), "renewed_at": shortage.renewed_at}
    again = f"It is possible again at {shortage.renewed_at}, in {shortage.retry_after} s."
    if shortage.price > budget.most:
        again = "That is more than the whole budget."
    return BudgetSpent(shortage.reason, again, retry_after=shortage.retry_after, budget=told)


_ADD = "add_cost"
# Parts of one tool that are looked at. One that has more counts as one that adds.
_MOST = 1000


class AddingTools:
    """Know the tools without a `cost` whose calls need a budget; others are free until a call of theirs adds something.

    Their code is looked at once. What it calls in other modules is not: there the first call that adds tells.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[CompiledTool, bool]] = {}

    def adds(self, tool: CompiledTool) -> bool:
        """Return whether a call of this tool may add to its cost."""
        known, adds = self._known.get(tool.name, (None, False))
        if known is not tool:
            adds = _mentions(tool)
            self._known[tool.name] = tool, adds
        return adds

    def note(self, tool: CompiledTool) -> None:
        """Note that a call has added something; in any thread."""
        self._known[tool.name] = tool, True


def _mentions(tool: CompiledTool) -> bool:
    guardrails: tuple[Any, ...] = (*tool.options.tool_input_guardrails, *tool.options.tool_output_guardrails)
    left: list[Any] = [tool.function, *(guardrail.guardrail_function for guardrail in guardrails)]
    seen: set[int] = set()
    while left:
        found = left.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        if len(seen) > _MOST:
            return True
        if not isinstance(found, FunctionType):
            left += _list_parts(found)
        elif _ADD in (names := set(_list_names(found.__code__))):
            return True
        else:
            left += _list_callees(found, names)
    return False


def _list_parts(found: Any) -> list[Any]:
    """List what an object that is no function runs when it is called, as far as its own module says it."""
    if isinstance(found, functools.partial):
        return [found.func, *found.args, *found.keywords.values()]
    if isinstance(found, MethodType):
        return [found.__func__, type(found.__self__)]
    if isinstance(found, type):
        return [inspect.unwrap(value) for value in vars(found).values() if isinstance(value, FunctionType)]
    return []


def _list_names(code: CodeType) -> Iterator[str]:
    """List the names and texts in a function, and in those that it makes."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _list_names(constant)
        elif isinstance(constant, str):
            yield constant


def _list_callees(function: FunctionType, names: set[str]) -> list[Any]:
    """List what a function may call: in its own module, in the functions around it, and what it wraps."""
    module = function.__module__
    found = [value for name in names if (value := function.__globals__.get(name)) is not None]
    callees = [value for value in found if getattr(value, "__module__", None) == module]
    cells = (cell.cell_contents for cell in function.__closure__ or () if _is_full(cell))
    callees += [value if callable(value) else type(value) for value in cells if not isinstance(value, ModuleType)]
    wrapped = getattr(function, "__wrapped__", None)
    return callees if wrapped is None else [*callees, wrapped]


def _is_full(cell: Any) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


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


def build(host: Host) -> Built:
    """Make the steps of calls for the budgets of a server."""
    budgets, log = read_budgets(host.server.budget), SpendingLog(host.ledger.database)
    return Built(stages=make_budget_stages(budgets, log, host.server.budget_action, host.ledger.approvals))


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
            open_cost(invocation).reserve = self._take
            return
        await self._take(invocation)

    async def _take(self, invocation: Invocation) -> None:
        review, price = invocation.request.review, to_billionths(read_amount(invocation.tool.options.cost or 0))
        # A rule for all calls of a tool says nothing about a budget.
        is_allowed = review.approved and review.rule is None
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
        open_cost(invocation).reservations = taken

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
        cost, spent = invocation.cost, 0
        taken: Sequence[Reservation] = ()
        if cost is not None:
            taken, cost.reservations = cost.reservations, ()
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
