"""Names that files written for LangChain or the OpenAI Agents SDK import and that Sidecall cannot offer."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

# Tools of the OpenAI Agents SDK that work on the machine they run on, and what to use in their place.
LOCAL_TOOLS: Mapping[str, str] = {
    "ShellTool": "`--toolkit shell` runs such calls in a sandbox; for a shell of your own, @tool(native='shell')",
    "LocalShellTool": "`--toolkit shell` runs such calls in a sandbox; for a shell of your own, @tool(native='shell')",
    "ApplyPatchTool": "`--toolkit files` runs such calls; for an editor of your own, @tool(native='apply_patch')",
    "ComputerTool": "write the tool that works the computer with @tool(native='computer')",
    "CustomTool": "write a function of one string with @tool(input='text')",
}
# The name, and what to use in its place; a ShellTool is there, which declares a container of OpenAI's.
NOT_HERE: Mapping[str, str] = {
    "interrupt": "there is no graph to stop; let a person decide: raise ApprovalRequired('what')",
    "get_stream_writer": "take a parameter `runtime: ToolRuntime` and call runtime.stream_writer",
    "get_store": "take a parameter `runtime: ToolRuntime`, or Annotated[BaseStore, InjectedStore]",
    "get_config": "take a parameter `config: RunnableConfig`",
    "get_runtime": "take a parameter `runtime: ToolRuntime`",
    "dispatch_custom_event": "take a parameter `runtime: ToolRuntime` and call runtime.stream_writer",
    "adispatch_custom_event": "take a parameter `runtime: ToolRuntime` and call runtime.stream_writer",
    "ToolNode": "the server runs the calls of a turn; post them to /tool_calls/batch",
    "Runnable": "a tool is called with invoke; offer a runnable of LangChain as tool('name', runnable)",
    "RunnableLambda": "decorate the function with @tool",
    "BaseRetriever": "write a function of the query, or an object with `invoke`, and give it to create_retriever_tool",
    "VectorStore": "offer its retriever as create_retriever_tool(store.as_retriever(), ...)",
    "PromptTemplate": "create_retriever_tool takes a text with `{page_content}` in it",
    "create_agent": "an agent runs models, which is the program's part; go on importing it from langchain",
    "create_react_agent": "an agent runs models, which is the program's part; go on importing it from langgraph",
    "StateGraph": "graphs are the program's part; go on importing it from langgraph",
    "add_messages": "graphs are the program's part; go on importing it from langgraph",
    "AgentMiddleware": "what stands around every call is callbacks= or tool_input_guardrails= of the Registry",
    "ToolCallRequest": "what stands around every call is callbacks= or tool_input_guardrails= of the Registry",
    "Agent": "an agent runs models, which is the program's part; go on importing it from agents",
    "Runner": "an agent runs models, which is the program's part; go on importing it from agents",
    "handoff": "agents are handed over in the program",
    "MCPServerStdio": "let the program connect to it",
    "MCPServerSse": "let the program connect to it",
    "MCPServerStreamableHttp": "let the program connect to it",
    **{name: instead for name, instead in LOCAL_TOOLS.items() if name != "ShellTool"},
}
# A share of letters that only a typing error leaves; of three letters it says nothing.
_ALIKE, _FEWEST = 0.85, 4
_OTHERS = "what is no part of a tool stays in the program; go on importing it from its own library"


def explain_lack(name: str, known: Iterable[str]) -> str:
    """Return the replacement for a name that `sidecall` lacks, or the nearest name.

    Args:
        name: The name.
        known: Those that there are.
    """
    if name in NOT_HERE:
        return NOT_HERE[name]
    spelt = {other.replace("_", "").lower(): other for other in known}
    written = name.replace("_", "").lower()
    meant = get_close_matches(written, spelt, 1, _ALIKE) if len(written) >= _FEWEST else []
    return f"did you mean {spelt[meant[0]]}?" if meant else _OTHERS
