"""Patches of several files: all of one is worked out before any is changed."""

import pytest

from sidecall.features.file_tools.patching.applying import PlannedFile, describe_plan, plan_patches
from sidecall.features.file_tools.patching.hunks import PatchRefused
from sidecall.features.file_tools.patching.parsing import FilePatch, read_envelope, read_operation

FILES = {"a.py": "one\ntwo\n", "b.py": "b\n", "empty.py": "", "sub/c.py": "c\n"}


def plan(body: str) -> list[PlannedFile]:
    """Plan what stands between the first and the last line of a patch."""
    return plan_patches(read_envelope(f"*** Begin Patch\n{body}*** End Patch\n"), FILES.get)


def change(body: str) -> dict[str, str | None]:
    """Return what becomes of each file."""
    return {file.path: file.text for file in plan(body)}


@pytest.mark.parametrize(
    ("body", "changes"),
    [
        ("*** Add File: new.py\n+x\n+\n+y\n", {"new.py": "x\n\ny\n"}),
        ("*** Add File: empty.py\n+x\n", {"empty.py": "x\n"}),
        ("*** Add File: new.py\n", {"new.py": ""}),
        ("*** Delete File: b.py\n", {"b.py": None}),
        ("*** Update File: a.py\n@@\n one\n-two\n+2\n", {"a.py": "one\n2\n"}),
        ("*** Update File: a.py\n*** Move to: z.py\n@@\n-two\n+2\n", {"z.py": "one\n2\n", "a.py": None}),
        ("*** Update File: a.py\n*** Move to: z.py\n", {"z.py": "one\ntwo\n", "a.py": None}),
        ("*** Update File: a.py\n*** Move to: a.py\n@@\n-two\n", {"a.py": "one\n"}),
        (
            "*** Update File: a.py\n@@\n-two\n+2\n\n*** Delete File: b.py\n\n*** Add File: b.py\n+B\n",
            {"a.py": "one\n2\n", "b.py": "B\n"},
        ),
        ("*** Update File: a.py\n@@\n-two\n+2\n*** Update File: a.py\n@@\n-2\n+3\n", {"a.py": "one\n3\n"}),
    ],
)
def test_files_are_added_changed_moved_and_deleted(body: str, changes: dict[str, str | None]) -> None:
    """In the order of the patch, also one file twice."""
    assert change(body) == changes


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("*** Add File: a.py\n+x\n",
         "a.py: The file exists already and is not empty. Update it, or delete it first. Nothing was changed."),
        ("*** Update File: no.py\n@@\n-x\n", "no.py: There is no such file. Nothing was changed."),
        ("*** Delete File: no.py\n", "no.py: There is no such file. Nothing was changed."),
        ("*** Update File: a.py\n*** Move to: b.py\n@@\n-two\n",
         "a.py: It cannot be moved to b.py, which exists already. Nothing was changed."),
        ("*** Add File: new.py\n+x\n*** Update File: b.py\n@@\n-x\n+y\n",
         "b.py: Hunk 1 (line 5 of the patch) does not fit. Line 6 of the patch, `x`, is nowhere in the file; the file's"
         " line 1 is, `b`. No file was changed."),
        ("*** Delete File: a.py\n*** Update File: a.py\n@@\n-x\n+y\n",
         "a.py: There is no such file. No file was changed."),
        ("", "The patch names no file: write `*** Add File: …`, `*** Update File: …`, `*** Delete File: …`."),
        ("@@\n-x\n",
         "Line 2 of the patch, `@@`, belongs to no file: name it above, as in `*** Update File: src/app.py`."),
        ("*** Update File: \n@@\n-x\n", "Line 2 of the patch names no file."),
        ("*** Delete File: a.py\n-x\n", "Line 3 of the patch, `-x`, follows a file that is deleted."),
        ("*** Add File: new.py\nx\n",
         "Line 3 of the patch, `x`, must begin with `+`, as every line of a new file does."),
        ("*** Update File: a.py\n", "The patch changes nothing: no line of it begins with `+` or `-`."),
    ],
)  # fmt: skip
def test_one_that_fails_changes_nothing(body: str, reason: str) -> None:
    """No matter what stands above it."""
    with pytest.raises(PatchRefused) as refused:
        plan(body)

    assert refused.value.message == reason


@pytest.mark.parametrize("patch", ["", "+x", "*** Begin Patch\n*** Add File: a\n+x", "*** End Patch"])
def test_what_is_no_patch_is_refused(patch: str) -> None:
    """It has to be whole."""
    with pytest.raises(PatchRefused, match=r"^(A patch begins with|The patch is not whole)"):
        read_envelope(patch)


@pytest.mark.parametrize(
    ("diff", "text"),
    [
        ("+l1\n+l2\n", "l1\nl2\n"),
        ("+l1\n+l2", "l1\nl2\n"),
        ("+l1\n\n+l2\n\n", "l1\n\nl2\n"),
        ("+l1\n\\ No newline at end of file\n", "l1"),
        ("--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,1 @@\n+l1\n", "l1\n"),
        ("*** Begin Patch\n*** Add File: new.py\n+l1\n*** End Patch", "l1\n"),
        ("", ""),
        ("+", "\n"),
    ],
)
def test_a_new_file_ends_with_a_newline(diff: str, text: str) -> None:
    """Unless the diff denies it."""
    assert read_operation("create_file", "new.py", diff) == FilePatch("add", "new.py", text=text)


def test_a_deletion_needs_no_diff() -> None:
    """And there are three operations."""
    assert read_operation("delete_file", "a.py", "") == FilePatch("delete", "a.py")
    with pytest.raises(
        PatchRefused, match="There is no operation 'move_file': use create_file, update_file, delete_file"
    ):
        read_operation("move_file", "a.py", "")


def test_what_was_done_is_said() -> None:
    """A line for each file, and one for each hunk."""
    planned = plan(
        "*** Update File: a.py\n*** Move to: z.py\n@@\n-two\n+2\n*** Delete File: b.py\n*** Add File: n.py\n+x\n"
    )

    assert describe_plan(planned) == (
        "Success. Updated the following files:\nM a.py -> z.py\n  hunk 1: line 2, exact\nD b.py\nA n.py"
    )
