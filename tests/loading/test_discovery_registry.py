"""A Registry in a module is offered as it is."""

from pathlib import Path

from sidecall.loading.discovery import discover


async def test_a_registry_in_a_module_is_offered_with_its_guardrails(tmp_path: Path) -> None:
    """Its tools are offered once, though the module names them too; others of the module come without."""
    file = tmp_path / "guarded.py"
    file.write_text(
        """
from sidecall import Registry, ToolGuardrailFunctionOutput, tool

@tool
def first() -> int:
    \"\"\"First.\"\"\"
    return 1

@tool
def second() -> int:
    \"\"\"Second.\"\"\"
    return 2

def never(data):
    return ToolGuardrailFunctionOutput.reject_content("No.")

registry = Registry([first], tool_input_guardrails=[never])
"""
    )

    tools = discover([str(file)])

    assert [(tool.name, len(tool.options.tool_input_guardrails)) for tool in tools] == [("second", 0), ("first", 1)]
