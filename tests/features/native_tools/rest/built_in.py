"""Tools that implement built-in tools, and their calls as models emit them."""

from typing import Any

from sidecall import ToolException, tool
from sidecall.native import (
    BrowserState,
    CommandResult,
    FoundTools,
    Grammar,
    PatchOperation,
    PatchResult,
    Screenshot,
    ShellCommand,
)

PNG = b"\x89PNG"
IMAGE_URL = "data:image/png;base64,iVBORw=="
TAB = {"tab_id": "t1", "title": "Home", "url": "https://example.com", "active": True}
CALLER = {"type": "program", "caller_id": "prog_1"}
CHECK = {"id": "sc_1", "code": "malicious_instructions", "message": "Looks strange."}
RAN: list[Any] = []


@tool(native="shell", args_schema=ShellCommand)
async def shell(
    commands: list[str], timeout_ms: int | None = None, max_output_length: int | None = None
) -> list[CommandResult]:
    """Run commands."""
    RAN.append((commands, timeout_ms, max_output_length))
    if commands == ["boom"]:
        raise ToolException("no shell today")
    if commands == ["crash"]:
        raise RuntimeError("secret")
    return [
        CommandResult("", "", None, timed_out=True) if command == "sleep" else CommandResult(f"{command}\n", "", 0)
        for command in commands
    ]


@tool(native="apply_patch", args_schema=PatchOperation)
async def patch_file(type: str, path: str, diff: str | None = None) -> PatchResult:
    """Change a file."""
    RAN.append((type, path, diff))
    return PatchResult(path != "missing.txt", f"{type} {path}")


@tool(native="computer")
async def use_computer(actions: list[dict[str, Any]]) -> Screenshot:
    """Work at a computer."""
    RAN.append(actions)
    if actions == [{"type": "fail"}]:
        raise ToolException("the screen is off\nreally")
    return Screenshot(PNG, error="No such button." if actions == [{"type": "miss"}] else None)


@tool(native="bash")
async def run_bash(command: str = "", restart: bool = False) -> CommandResult:
    """Run a command."""
    return CommandResult("restarted" if restart else command, exit_code=3 if command == "false" else 0)


@tool(native=["text_editor", "memory"])
async def edit(command: str, path: str = "") -> str:
    """Edit a file."""
    return f"{command} {path}"


@tool(native="computer_action", extras={"display_width_px": 1280, "display_height_px": 800})
async def act(action: str, coordinate: list[int] | None = None) -> list[Any]:
    """Do one thing."""
    return [f"{action} {coordinate}", Screenshot(PNG)]


@tool(toolset="browser")
async def key(text: str) -> list[Any]:
    """Press a key."""
    if text == "fail":
        return [Screenshot(PNG, error="No focus."), BrowserState([TAB])]
    if text == "mute":
        raise ToolException("")
    return [f"Pressed {text}.", BrowserState([TAB], [{"type": "tab_opened", "tab_id": "t1"}])]


@tool(toolset="browser")
async def list_tabs() -> BrowserState:
    """List the tabs."""
    return BrowserState([TAB])


@tool("key", toolset="computer")
async def computer_key(text: str) -> str:
    """Press a key."""
    return f"computer {text}"


@tool(input="text", grammar=Grammar("regex", "[0-9 +]+"))
async def add(expression: str) -> str:
    """Add numbers."""
    return str(sum(map(int, expression.split("+"))))


@tool(input="text")
async def show(text: str) -> list[Any]:
    """Show an image."""
    return [text, Screenshot(PNG)]


@tool
async def echo(text: str, times: int = 1) -> str:
    """Echo."""
    return text * times


@tool(native="computer_use")
async def click_at(x: int, y: int) -> Screenshot:
    """Click."""
    return Screenshot(PNG, url=f"https://example.com/{x}/{y}")


@tool(native="tool_search")
async def find(query: str) -> FoundTools:
    """Find tools."""
    return FoundTools([{"type": "function", "name": query, "parameters": {}, "strict": False}])


TOOLS = [
    shell, patch_file, use_computer, run_bash, edit, act, key, list_tabs, computer_key, add, show, echo, click_at, find,
]  # fmt: skip


def write_shell_call(*commands: str, **action: Any) -> dict[str, Any]:
    """Write commands for a shell as OpenAI's models do."""
    said = {"commands": list(commands), "timeout_ms": None, "max_output_length": None, **action}
    return {"type": "shell_call", "call_id": "c1", "id": "sh_1", "status": "completed", "action": said}


def write_patch_call(path: str, kind: str = "update_file") -> dict[str, Any]:
    """Write a change of a file as OpenAI's models do."""
    operation = {"type": kind, "path": path, **({} if kind == "delete_file" else {"diff": "+a"})}
    return {"type": "apply_patch_call", "call_id": "c1", "status": "completed", "operation": operation}


def write_computer_call(*actions: dict[str, Any], **beside: Any) -> dict[str, Any]:
    """Write what is to be done at a computer as OpenAI's models do."""
    return {"type": "computer_call", "id": "cu_1", "call_id": "c1", "status": "completed",
            "pending_safety_checks": [], "actions": list(actions), **beside}  # fmt: skip


def write_tool_use(name: str, /, **given: Any) -> dict[str, Any]:
    """Write a call as Anthropic's models do."""
    toolset = given.pop("toolset_name", None)
    return {"type": "tool_use", "id": "c1", "name": name, "input": given,
            **({} if toolset is None else {"toolset_name": toolset})}  # fmt: skip
