"""The context that functions of the OpenAI Agents SDK get has the fields that they know."""

from sidecall import Caller, ToolContext, Usage
from sidecall.compat.foreign.agents import AgentsContext, make_agents_context


def test_a_calls_context_is_said_in_the_sdks_words() -> None:
    """The arguments are JSON text."""
    context = ToolContext(
        tool_name="add", tool_call_id="c1", invocation_id="i1", caller=Caller("ada"), context={"user": "ada"}
    )

    assert make_agents_context(context, {"a": {1}}) == AgentsContext(
        context={"user": "ada"},
        tool_name="add",
        tool_call_id="c1",
        tool_arguments='{"a": [1]}',
        caller=Caller("ada"),
        agent=None,
        run_config=None,
        tool_call=None,
        tool_namespace=None,
        usage=Usage(),
    )
