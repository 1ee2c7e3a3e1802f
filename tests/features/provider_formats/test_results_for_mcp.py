"""Clients of MCP get the schema of results."""

from sidecall import tool
from sidecall.kernel.schema.forms.definitions import render_definitions
from tests.compiler.test_output_schema import INTEGER, Node, make, wrap


def test_mcp_gets_the_schema_of_results_and_no_references() -> None:
    """Some of its clients lose `$defs`; a result that is no object is wrapped in one."""
    definition = render_definitions([make(int)], "mcp")[0]

    assert definition == {
        "name": "take",
        "description": "Take a place.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "place": {
                    "description": "A place.",
                    "type": "object",
                    "properties": {"city": {"type": "string"}},
                    "required": ["city"],
                }
            },
            "required": ["place"],
        },
        "outputSchema": wrap(INTEGER),
    }


def test_mcp_gets_the_references_of_what_refers_to_itself() -> None:
    """In arguments and results: there is no other way to say it."""

    def take(node: Node) -> Node:
        """Take a node."""
        return node

    definition = render_definitions([tool(take).compiled], "mcp")[0]

    for schema in (definition["inputSchema"], definition["outputSchema"]):
        assert schema["type"] == "object"
        assert "Node" in schema["$defs"]
