"""Unit tests of function tools as they are written for the OpenAI Agents SDK: what each finds, instead of asserting it."""

import json
from dataclasses import dataclass
from typing import Any

from agents import (
    AgentsException,
    FunctionTool,
    ModelBehaviorError,
    RunContextWrapper,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailData,
    ToolOutputText,
    Usage,
    UserError,
    function_tool,
    tool_input_guardrail,
)
from agents.tool_context import ToolContext
from pydantic import BaseModel


@dataclass
class User:
    name: str
    uid: int = 1


class Account(BaseModel):
    plan: str
    seats: int = 1


class Plain:
    def __init__(self) -> None:
        self.name = "plain"


def explain(ctx: RunContextWrapper[Any], error: Exception) -> str:
    return f"{type(error).__name__} for {ctx.context}"


@function_tool
def add(a: int, b: int = 1) -> int:
    return a + b


@function_tool
async def greet(ctx: RunContextWrapper[User], greeting: str) -> str:
    return f"{greeting} {ctx.context.name} {ctx.context.uid}"


@function_tool
def upgrade(ctx: ToolContext[Account]) -> str:
    ctx.context.seats += 1
    return f"{ctx.tool_name} {ctx.tool_call_id} {ctx.tool_arguments} {ctx.context.plan} {ctx.context.seats}"


@function_tool
def untyped(ctx: RunContextWrapper) -> str:
    return f"{type(ctx.context).__name__} {getattr(ctx.context, 'name', None)}"


@function_tool
def anything(ctx: RunContextWrapper[Any]) -> str:
    return f"{ctx.context}"


@function_tool
def about(ctx: ToolContext[Any]) -> list[Any]:
    status = ctx.is_tool_approved(ctx.tool_name, ctx.tool_call_id)
    other = ctx.get_approval_status("other", "call_9")
    return [status, other, ctx.turn_input, ctx.tool_input, ctx.agent, ctx.tool_namespace, ctx.qualified_tool_name]


@function_tool
def count(ctx: RunContextWrapper[None]) -> int:
    ctx.usage.add(Usage(requests=1, input_tokens=2, output_tokens=3, total_tokens=5))
    return ctx.usage.total_tokens


@function_tool
def whole(ok: bool) -> dict[str, Any]:
    return {"ok": ok, "none": None}


@function_tool
def shown(text: str) -> ToolOutputText:
    return ToolOutputText(text=text)


@function_tool
def nothing() -> None:
    return None


@function_tool
def fails(n: int) -> str:
    raise ValueError(f"no {n}")


@function_tool(failure_error_function=explain)
def explained(n: int) -> str:
    raise KeyError(n)


@function_tool(failure_error_function=None)
def raises(n: int) -> str:
    raise KeyError(n)


@function_tool(needs_approval=True)
def careful(n: int) -> int:
    return n


async def by_hand(ctx: ToolContext[Any], args: str) -> Any:
    return [ctx.context, json.loads(args)]


hand_made = FunctionTool(
    name="hand_made",
    description="Be made by hand.",
    params_json_schema={"type": "object", "properties": {"x": {"type": "integer"}}},
    on_invoke_tool=by_hand,
    strict_json_schema=False,
)


@tool_input_guardrail
def no_secrets(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
    if "sk-" in data.context.tool_arguments:
        return ToolGuardrailFunctionOutput.reject_content("no secrets")
    return ToolGuardrailFunctionOutput.allow()


def make(tool: FunctionTool, context: Any, **args: Any) -> tuple[ToolContext[Any], str]:
    text = json.dumps(args)
    return ToolContext(context=context, tool_name=tool.name, tool_call_id="call_1", tool_arguments=text), text


async def run(tool: FunctionTool, context: Any = None, **args: Any) -> Any:
    return await tool.on_invoke_tool(*make(tool, context, **args))


async def case_numbers() -> Any:
    return await run(add, a=1, b=2), await run(add, a=1, b="3")


async def case_default() -> Any:
    return await add.on_invoke_tool(make(add, None)[0], '{"a": 1}')


async def case_wrong() -> Any:
    return (await run(add, a="x")).partition(":")[0]


async def case_no_json() -> Any:
    return (await add.on_invoke_tool(make(add, None)[0], "{oops")).partition(":")[0]


async def case_dataclass() -> Any:
    return await run(greet, User("Ada", 7), greeting="Hi")


async def case_model_that_is_changed() -> Any:
    account = Account(plan="gold")
    return await run(upgrade, account), account.seats


async def case_untyped() -> Any:
    return await run(untyped, User("Ada")), await run(untyped, Plain()), await run(untyped)


async def case_anything() -> Any:
    return await run(anything, "u1"), await run(anything), await run(anything, {"a": 1}), await run(anything, [1])


async def case_about() -> Any:
    return await run(about)


async def case_usage() -> Any:
    ctx, text = make(count, None)
    return await count.on_invoke_tool(ctx, text), await count.on_invoke_tool(ctx, text), ctx.usage.requests


async def case_object() -> Any:
    return await run(whole, ok=True)


async def case_output() -> Any:
    return (await run(shown, text="hi")).model_dump()


async def case_nothing() -> Any:
    return await run(nothing)


async def case_failure() -> Any:
    return await run(fails, n=3)


async def case_own_words() -> Any:
    return await run(explained, {"a": 1}, n=3)


async def case_raised() -> Any:
    return await run(raises, n=3)


async def case_needs_approval() -> Any:
    return await run(careful, n=3), careful.needs_approval


async def case_by_hand() -> Any:
    return await run(hand_made, "ctx", x=1)


async def case_positional() -> Any:
    ctx: ToolContext[Any] = ToolContext({"a": 1}, Usage(requests=4), "t", "c", "{}")
    return ctx.context, ctx.usage.requests, ctx.tool_name, ctx.tool_call_id, ctx.tool_arguments


async def case_all_named() -> Any:
    ctx = ToolContext(
        context=User("Ada"),
        usage=Usage(),
        tool_name="t",
        tool_call_id="c",
        tool_arguments='{"a": 1}',
        tool_call=None,
        tool_namespace="crm",
        agent=None,
        run_config=None,
        turn_input=[{"role": "user", "content": "hi"}],
        tool_input={"x": 1},
    )
    return ctx.turn_input, ctx.tool_input, ctx.tool_namespace, ctx.qualified_tool_name, ctx.context.name


async def case_wrapper() -> Any:
    named: RunContextWrapper[User] = RunContextWrapper(context=User("Ada"))
    positional: RunContextWrapper[str] = RunContextWrapper("x", Usage(requests=2), [{"role": "user", "content": "hi"}])
    return (
        [named.context.name, named.usage.requests, named.turn_input, named.tool_input],
        [positional.context, positional.usage.requests, positional.turn_input],
        named.is_tool_approved("t", "c"),
        named.get_approval_status("t", "c"),
        named.get_rejection_message("t", "c"),
    )


async def case_words_for_failures() -> Any:
    return explain(RunContextWrapper(context="u1"), ValueError("x"))


async def case_kinds() -> Any:
    ctx = make(add, None)[0]
    return isinstance(ctx, RunContextWrapper), isinstance(RunContextWrapper(context=None), ToolContext)


async def case_of_a_wrapper() -> Any:
    outer = RunContextWrapper(context=User("Ada"), usage=Usage(requests=1))
    ctx = ToolContext.from_agent_context(outer, "call_2", tool_name="add", tool_arguments='{"a": 2}')
    ctx.usage.add(Usage(requests=1))
    said = await greet.on_invoke_tool(ctx, '{"greeting": "Hi"}')
    return ctx.tool_name, ctx.tool_call_id, ctx.tool_arguments, outer.usage.requests, said


async def case_without_a_name() -> Any:
    return ToolContext(context=None, tool_call_id="c", tool_arguments="{}")


async def case_without_an_id() -> Any:
    return ToolContext(context=None, tool_name="t", tool_arguments="{}")


async def case_guardrail() -> Any:
    found = []
    for text in ("sk-1", "x"):
        ctx = ToolContext(context=None, tool_name="t", tool_call_id="c", tool_arguments=json.dumps({"t": text}))
        data = ToolInputGuardrailData(context=ctx, agent=None)  # type: ignore[arg-type]
        verdict = await no_secrets.run(data)
        found.append([verdict.behavior, verdict.output_info])
    return found


@function_tool(failure_error_function=None)
def counted(n: int) -> int:
    return 10 // n


async def case_refused_without_words() -> Any:
    found = []
    for text in ('{"n": "x"}', "{}", "{n", '{"n": 0}', '{"n": 5}'):
        ctx = ToolContext(context=None, tool_name="counted", tool_call_id="c", tool_arguments=text)
        try:
            found.append(await counted.on_invoke_tool(ctx, text))
        except (ModelBehaviorError, ZeroDivisionError) as error:
            found.append(type(error).__name__)
    return found


async def case_names_of_guardrails() -> Any:
    verdicts = ToolGuardrailFunctionOutput.reject_content("m"), ToolGuardrailFunctionOutput.allow(output_info=1)
    return no_secrets.get_name(), [(it.behavior, it.output_info) for it in verdicts]


async def case_kinds_of_errors() -> Any:
    return [issubclass(it, AgentsException) for it in (UserError, ModelBehaviorError)], str(UserError("x"))


async def find(case: Any) -> Any:
    try:
        return ["found", await case()]
    except Exception as error:
        return ["raised", type(error).__name__, str(error)]


CASES = {name.removeprefix("case_"): case for name, case in list(globals().items()) if name.startswith("case_")}
