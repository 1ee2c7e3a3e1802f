"""The table of real MCP servers: how each is started, which calls it gets, and where ours differs from asking it."""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.environments import ROOT

WANTED = Path(__file__).parent / "mcp_servers"
INSTALLED = ROOT / ".venv-clients/mcp-servers"
MODULES = INSTALLED / "node_modules"

# What stands for the folder that a server may use.
FOLDER = "{folder}"

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class RealServer:
    """A server as people install it.

    `spoken` is the revision that is agreed with it, no matter what is newest here.
    """

    made_with: str
    command: str
    args: tuple[str, ...]
    calls: tuple[Call, ...]
    spoken: str
    env: Mapping[str, str] = field(default_factory=dict)

    def describe(self, folder: Path) -> dict[str, Any]:
        """Return its entry of an `mcp.json`, with a folder of its own."""
        return {
            "command": self.command,
            "args": [argument.replace(FOLDER, str(folder)) for argument in self.args],
            "env": {name: value.replace(FOLDER, str(folder)) for name, value in self.env.items()},
            "cwd": str(folder),
        }


def _node(module: str, *args: str) -> tuple[str, tuple[str, ...]]:
    return "node", (str(MODULES / module), *args)


def _python(environment: str, program: str, *args: str) -> tuple[str, tuple[str, ...]]:
    return str(INSTALLED / environment / "bin" / program), args


def is_installed() -> bool:
    """Return whether all of them are, in the versions that are wanted."""
    wanted = b"".join(file.read_bytes() for file in sorted(WANTED.iterdir()))
    installed = INSTALLED / "installed"
    return installed.is_file() and installed.read_bytes() == wanted


def fill_folder(folder: Path) -> Path:
    """Put into a folder what the calls of the table read."""
    folder.mkdir(parents=True)
    (folder / "note.txt").write_text("a note\nsecond line\n")
    (folder / "book.xlsx").write_bytes(_make_workbook())
    return folder


SERVERS: dict[str, RealServer] = {
    "everything": RealServer(
        "TypeScript SDK 1.32, zod 4",
        *_node("@modelcontextprotocol/server-everything/dist/index.js"),
        (
            ("echo", {"message": "hello"}),
            ("get-annotated-message", {"messageType": "error", "includeImage": True}),
            ("get-resource-links", {"count": 3}),
            ("get-structured-content", {"location": "Chicago"}),
            ("get-tiny-image", {}),
        ),
        "2025-11-25",
    ),
    "everything_2024": RealServer(
        "TypeScript SDK 1.0, zod 3",
        *_node("everything-of-2024/dist/index.js"),
        (("echo", {"message": "hello"}), ("getTinyImage", {}), ("add", {"a": 1, "b": 2.5})),
        "2024-11-05",
    ),
    "files": RealServer(
        "TypeScript SDK 1.32, zod 4",
        *_node("@modelcontextprotocol/server-filesystem/dist/index.js", FOLDER),
        (
            ("read_text_file", {"path": f"{FOLDER}/note.txt", "head": 1}),
            ("read_media_file", {"path": f"{FOLDER}/note.txt"}),
            ("write_file", {"path": f"{FOLDER}/new.txt", "content": "new"}),
            ("list_directory", {"path": FOLDER}),
            ("read_text_file", {"path": "/etc/passwd"}),
        ),
        "2025-11-25",
    ),
    "files_2024": RealServer(
        "TypeScript SDK 1.0, zod 3",
        *_node("filesystem-of-2024/dist/index.js", FOLDER),
        (
            ("read_multiple_files", {"paths": [f"{FOLDER}/note.txt", f"{FOLDER}/none.txt"]}),
            ("read_file", {"path": "/etc/passwd"}),
        ),
        "2024-11-05",
    ),
    "memory": RealServer(
        "TypeScript SDK 1.32, zod 4",
        *_node("@modelcontextprotocol/server-memory/dist/index.js"),
        (
            ("create_entities", {"entities": [{"name": "Ann", "entityType": "person", "observations": ["sings"]}]}),
            ("search_nodes", {"query": "sings"}),
            ("delete_entities", {"entityNames": ["Ann"]}),
        ),
        "2025-11-25",
        env={"MEMORY_FILE_PATH": f"{FOLDER}/memory.jsonl"},
    ),
    "thinking": RealServer(
        "TypeScript SDK 1.32, zod 4",
        *_node("@modelcontextprotocol/server-sequential-thinking/dist/index.js"),
        (
            (
                "sequentialthinking",
                {"thought": "one", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1},
            ),
        ),
        "2025-11-25",
    ),
    "budget": RealServer(
        "TypeScript SDK 2.0, zod 4",
        *_node("@modelcontextprotocol/server-budget-allocator/dist/index.js", "--stdio"),
        (("get-budget-data", {}),),
        "2025-11-25",
    ),
    "eslint": RealServer(
        "TypeScript SDK 1.32, zod 4",
        *_node("@eslint/mcp/src/mcp-cli.js"),
        (("lint-files", {"filePaths": [f"{FOLDER}/note.txt"]}),),
        "2025-11-25",
    ),
    "hello": RealServer(
        "TypeScript SDK 1.32, zod 3",
        *_node("mcp-hello-world/build/stdio.js"),
        (("echo", {"message": "hello"}), ("add", {"a": 1, "b": 2}), ("debug", {})),
        "2025-11-25",
    ),
    "go_excel": RealServer(
        "Go, mcp-go",
        *_node("@negokaz/excel-mcp-server/dist/launcher.js"),
        (
            ("excel_describe_sheets", {"fileAbsolutePath": f"{FOLDER}/book.xlsx"}),
            ("excel_read_sheet", {"fileAbsolutePath": f"{FOLDER}/book.xlsx", "sheetName": "one"}),
            ("excel_describe_sheets", {"fileAbsolutePath": f"{FOLDER}/none.xlsx"}),
        ),
        "2025-03-26",
    ),
    "sqlite": RealServer(
        "Python SDK 1.9.2, written by hand",
        *_python("mcp-1.9", "mcp-server-sqlite", "--db-path", f"{FOLDER}/data.db"),
        (
            ("create_table", {"query": "create table if not exists notes (text text)"}),
            ("list_tables", {}),
            ("read_query", {"query": "select nothing"}),
        ),
        "2025-03-26",
    ),
    "calculator": RealServer(
        "Python SDK 1.9.2, pydantic",
        *_python("mcp-1.9", "mcp-server-calculator"),
        (("calculate", {"expression": "2 + 3 * 4"}), ("calculate", {"expression": "2 +"})),
        "2025-03-26",
    ),
    "text_editor": RealServer(
        "Python SDK 1.9.2, written by hand",
        *_python("mcp-1.9", "mcp-text-editor"),
        (("get_text_file_contents", {"files": [{"file_path": f"{FOLDER}/note.txt", "ranges": [{"start": 1}]}]}),),
        "2025-03-26",
    ),
    "word": RealServer(
        "FastMCP 2, pydantic; says words on stdout",
        *_python("fastmcp-2", "word_mcp_server"),
        (
            ("create_document", {"filename": f"{FOLDER}/new.docx"}),
            ("add_heading", {"filename": f"{FOLDER}/new.docx", "text": "A heading"}),
            ("get_document_text", {"filename": f"{FOLDER}/new.docx"}),
        ),
        "2025-11-25",
    ),
    "mathematics_3": RealServer(
        "FastMCP 3, pydantic",
        *_python("fastmcp-3", "mcp-mathematics"),
        (("calculate_expression", {"expr": "2 + 3 * 4"}), ("batch_calculate", {"expressions": ["1 + 1", "1 +"]})),
        "2025-11-25",
    ),
    "mathematics_4": RealServer(
        "FastMCP 4, pydantic",
        *_python("mcp-2", "mcp-mathematics"),
        (("calculate_expression", {"expr": "2 + 3 * 4"}), ("batch_calculate", {"expressions": ["1 + 1", "1 +"]})),
        "2026-07-28",
    ),
    "excel": RealServer(
        "Python SDK 2.3, pydantic",
        *_python("mcp-2", "excel-mcp-server", "stdio"),
        (
            ("create_workbook", {"path": f"{FOLDER}/new.xlsx", "overwrite": True}),
            (
                "write_range",
                {"path": f"{FOLDER}/new.xlsx", "sheet": "Sheet1", "at": "A1", "rows": [["a", 1], [None, 2.5]]},
            ),
            ("read_range", {"path": f"{FOLDER}/new.xlsx", "sheet": "Sheet1"}),
            ("read_range", {"path": f"{FOLDER}/none.xlsx", "sheet": "Sheet1"}),
        ),
        "2026-07-28",
    ),
    "time": RealServer(
        "Python SDK 2.3, pydantic",
        *_python("mcp-2", "mcp-server-time", "--local-timezone", "UTC"),
        (
            ("convert_time", {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}),
            ("get_current_time", {"timezone": "Mars/Olympus"}),
        ),
        "2026-07-28",
    ),
}


def _make_workbook() -> bytes:
    """Make the smallest workbook: one sheet with a text and a number."""
    office = "http://schemas.openxmlformats.org"
    main, links = f"{office}/spreadsheetml/2006/main", f"{office}/officeDocument/2006/relationships"
    packed = f"{office}/package/2006"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{packed}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        '<Override PartName="/book.xml" ContentType='
        '"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
        '<Override PartName="/sheet.xml" ContentType='
        '"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{packed}/relationships">'
        f'<Relationship Id="rId1" Type="{links}/officeDocument" Target="book.xml"/></Relationships>',
        "_rels/book.xml.rels": f'<Relationships xmlns="{packed}/relationships">'
        f'<Relationship Id="rId1" Type="{links}/worksheet" Target="sheet.xml"/></Relationships>',
        "book.xml": f'<workbook xmlns="{main}" xmlns:r="{links}">'
        '<sheets><sheet name="one" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "sheet.xml": f'<worksheet xmlns="{main}"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c>'
        '<c r="B1"><v>1</v></c></row></sheetData></worksheet>',
    }
    packed_up = io.BytesIO()
    with zipfile.ZipFile(packed_up, "w") as book:
        for name, text in parts.items():
            book.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    return packed_up.getvalue()
