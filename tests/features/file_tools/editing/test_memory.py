"""The memory's commands, in the sentences that Anthropic's models are trained on."""

import pytest

from sidecall.features.file_tools.editing.memory import Memory
from sidecall.features.workspaces.workspace import Workspace
from sidecall.kernel.core.errors import ToolException


@pytest.fixture(name="memory")
def make_memory(workspace: Workspace) -> Memory:
    """Make one with two files."""
    workspace.write_bytes("memories/notes.md", b"one\ntwo\nthree\nfour\nfive\n")
    workspace.write_bytes("memories/people/ada.md", b"x" * 1536)
    return Memory(workspace)


def test_commands_answer_in_known_sentences(memory: Memory) -> None:
    """One after the other."""
    assert memory.view("/memories", None) == (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:\n"
        "1.5K\t/memories\n24B\t/memories/notes.md\n1.5K\t/memories/people/\n1.5K\t/memories/people/ada.md"
    )
    assert memory.view("/memories/notes.md", [2, 3]) == (
        "Here's the content of /memories/notes.md with line numbers:\n     2\ttwo\n     3\tthree"
    )
    assert memory.create("/memories/new.md", "x\n") == "File created successfully at: /memories/new.md"
    assert memory.replace("/memories/notes.md", "three", "3") == (
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
        "     1\tone\n     2\ttwo\n     3\t3\n     4\tfour\n     5\tfive"
    )
    assert memory.insert("/memories/notes.md", 0, "zero\n") == "The file /memories/notes.md has been edited."
    assert memory.view("/memories/notes.md", None).endswith("numbers:\n     1\tzero\n     2\tone\n     3\ttwo\n"
        "     4\t3\n     5\tfour\n     6\tfive")  # fmt: skip
    assert memory.rename("/memories/new.md", "/memories/old/x.md") == (
        "Successfully renamed /memories/new.md to /memories/old/x.md"
    )
    assert memory.delete("/memories/people") == "Successfully deleted /memories/people"
    assert memory.view("/memories/", None).endswith("/memories/notes.md\n2B\t/memories/old/\n2B\t/memories/old/x.md")


def test_a_memory_begins_empty(workspace: Workspace) -> None:
    """Models look before they write."""
    assert Memory(workspace).view("/memories", None).endswith("excluding hidden items:\n0B\t/memories")


@pytest.mark.parametrize(
    ("command", "arguments", "reason"),
    [
        ("view", ("/memories/no.md", None), "The path /memories/no.md does not exist. Please provide a valid path."),
        ("view", ("/etc", None), "Path must start with /memories, got: /etc"),
        ("view", ("/memoriesx", None), "Path must start with /memories, got: /memoriesx"),
        ("view", ("/memories/../a.py", None),
         "The path must not contain `..`. Write the whole path, such as /memories/notes.txt."),
        ("view", ("/memories/notes.md", [9, 9]), "/memories/notes.md has 5 lines only. Use a smaller `view_range`."),
        ("view", ("/memories/link", None),
         "/memories/link is a link or leads through one. Links are not followed: use the path of the file itself."),
        ("create", ("/memories/notes.md", "x"), "File /memories/notes.md already exists"),
        ("create", ("notes.md", "x"), "Path must start with /memories, got: notes.md"),
        ("replace", ("/memories/notes.md", "six", "6"),
         "No replacement was performed, old_str `six` did not appear verbatim in /memories/notes.md."),
        ("replace", ("/memories/notes.md", "e\n", "6"),
         "No replacement was performed. Multiple occurrences of old_str `e\n` in lines: 1, 3, 5. Please ensure it is"
         " unique"),
        ("replace", ("/memories/people", "a", "b"), "The path /memories/people is not a file."),
        ("insert", ("/memories/notes.md", 6, "x"),
         "Invalid `insert_line` parameter: 6. It should be within the range of lines of the file: [0, 5]."),
        ("delete", ("/memories",), "Cannot delete the /memories directory itself"),
        ("delete", ("/memories/",), "Cannot delete the /memories directory itself"),
        ("delete", ("/memories/.",), "Cannot delete the /memories directory itself"),
        ("delete", ("/memories/no",), "The path /memories/no does not exist"),
        ("rename", ("/memories", "/memories/x"), "Cannot rename the /memories directory itself"),
        ("rename", ("/memories/notes.md", "/memories/people"), "The destination /memories/people already exists"),
        ("rename", ("/memories/notes.md", "/workspace/x"), "Path must start with /memories, got: /workspace/x"),
        ("rename", ("/memories/no", "/memories/x"), "The path /memories/no does not exist"),
    ],
)  # fmt: skip
def test_what_is_refused_is_said(
    memory: Memory, workspace: Workspace, command: str, arguments: tuple[object, ...], reason: str
) -> None:
    """In the memory's own words."""
    (workspace.directory / "memories" / "link").symlink_to("/etc/passwd")

    with pytest.raises(ToolException) as refused:
        getattr(memory, command)(*arguments)

    assert refused.value.message == reason
