"""What a diff of one file does to a text, case by case."""

import pytest

from sidecall.features.file_tools.patching.applying import plan_patches
from sidecall.features.file_tools.patching.hunks import PatchRefused
from sidecall.features.file_tools.patching.parsing import read_operation

CODE = "def f():\n    y = 2\n    return y\n"
TWICE = "start\nb\nmiddle\nb\n"
CLASSES = "class A:\n    def f(self):\n        x\nclass B:\n    def f(self):\n        x\n"


def patch(text: str, diff: str) -> tuple[str | None, str]:
    """Apply the diff of an operation, and return the new text and what was said."""
    (planned,) = plan_patches([read_operation("update_file", "app.py", diff)], lambda _: text)
    return planned.text, "; ".join(planned.notes)


def refuse(text: str, diff: str) -> str:
    """Return why a diff is refused."""
    with pytest.raises(PatchRefused) as refused:
        patch(text, diff)
    return refused.value.message


@pytest.mark.parametrize(
    ("text", "diff", "expected", "note"),
    [
        ("a\nb\nc\n", "@@\n a\n-b\n+B\n c\n", "a\nB\nc\n", "hunk 1: line 1, exact"),
        ("a  \nb\n", "@@\n a\n-b\n+B\n", "a  \nB\n", "hunk 1: line 1, spaces at the ends of lines ignored"),
        (
            "\u201chi\u201d \u2013 now\n",
            '@@\n-"hi" - now\n+bye\n',
            "bye\n",
            "hunk 1: line 1, typographic dashes, quotes and spaces taken for plain ones",
        ),
        ("  a\n  b\n", "@@\n a\n-b\n", "  a\n", "hunk 1: line 1, indentation ignored"),
        (
            "    a\n    b\n",
            "@@\n    a\n-    b\n+    c\n+        d\n",
            "    a\n    c\n        d\n",
            "hunk 1: line 1, indentation ignored",
        ),
        (
            "a\n",
            "@@\n-a\n+b\n@@\n+c\n",
            "b\nc\n",
            "hunk 1: line 1, exact; hunk 2: line 2, exact, without context, so at the end of the file",
        ),
        ("", "@@\n+a\n", "a\n", "hunk 1: line 1, exact"),
    ],
)  # fmt: skip
def test_lines_are_compared_in_four_passes(text: str, diff: str, expected: str, note: str) -> None:
    """And the model is told which one it took."""
    assert patch(text, diff) == (expected, note)


@pytest.mark.parametrize(
    ("text", "diff", "expected"),
    [
        (CODE, "@@\n-y = 2\n+y = 3\n+\n+if y:\n+    pass\n",
         "def f():\n    y = 3\n\n    if y:\n        pass\n    return y\n"),
        ("if a:\n  b\n", "@@\n     if a:\n-      b\n+      c\n+        d\n", "if a:\n  c\n    d\n"),
        ("\tif a:\n\t\tb\n", "@@\n     if a:\n-        b\n+        c\n+            d\n", "\tif a:\n\t\tc\n\t\t\td\n"),
        ("if a:\n        b\n", "@@\n if a:\n-    b\n+    c\n+        d\n", "if a:\n        c\n                d\n"),
    ],
)  # fmt: skip
def test_added_lines_are_indented_as_the_file_is(text: str, diff: str, expected: str) -> None:
    """By what the lines that both have differ by: spaces, tabs, or another step."""
    new, note = patch(text, diff)

    assert new == expected
    assert note.endswith("indentation ignored, the added lines are indented as the file is")


def test_an_indentation_that_cannot_be_told_is_refused() -> None:
    """Rather than broken code written."""
    assert refuse("  a\n     b\n", "@@\n  a\n-  b\n+    c\n") == (
        "app.py: The patch fits only when indentation is ignored, and its added lines cannot be indented as the file"
        " is. Send them, and their context, with the file's own indentation. Nothing was changed."
    )


@pytest.mark.parametrize(
    ("text", "diff", "expected"),
    [
        (CLASSES, "@@ class B:\n@@     def f(self):\n-        x\n+        y\n", CLASSES[:-2] + "y\n"),
        (CLASSES, "@@ class B:\n-        x\n+        y\n", CLASSES[:-2] + "y\n"),
        (CLASSES, "@@ class B\n-        x\n+        y\n", CLASSES[:-2] + "y\n"),
        (CLASSES, "@@ class B: @@\n-        x\n+        y\n", CLASSES[:-2] + "y\n"),
        (CLASSES, "@@ class B:\n class B:\n     def f(self):\n-        x\n+        y\n", CLASSES[:-2] + "y\n"),
        (CLASSES, "@@ class A:\n-        x\n+        y\n@@ class B:\n-        x\n", CLASSES.replace("x", "y", 1)[:-10]),
        (TWICE, "@@ middle\n+new\n", "start\nb\nmiddle\nnew\nb\n"),
        (TWICE, "@@ -4,1 +4,1 @@\n-b\n+c\n", "start\nb\nmiddle\nc\n"),
        (TWICE, "@@ -5 +5 @@ def f():\n-b\n+c\n", "start\nb\nmiddle\nc\n"),
        (TWICE, "@@ -1,0 +2,1 @@\n+new\n", "start\nnew\nb\nmiddle\nb\n"),
        (TWICE, "@@\n-b\n+c\n*** End of File\n", "start\nb\nmiddle\nc\n"),
        ("a\nb\n", "--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "a\nc\n"),
        ("a\nb\n", "diff --git a/app.py b/app.py\nindex 1..2 100644\n--- a/app.py\n+++ b/app.py\n@@\n a\n-b\n", "a\n"),
        ("-- a\n", "--- a\n+-- b\n", "-- b\n"),
        ("a\nb\n", "*** Begin Patch\n*** Update File: app.py\n@@\n-b\n+c\n*** End Patch", "a\nc\n"),
        ("a\nb\n", "*** Update File: /workspace/app.py\n@@\n-b\n+c\n", "a\nc\n"),
        ("a\n\nb\n", "@@\n a\n\n-b\n+c\n", "a\n\nc\n"),
        ("a\nb\nc\n", "@@\n-a\n+A\n\n@@\n-c\n+C\n\n", "A\nb\nC\n"),
        ("a\nb\nc\n", "@@ ...\n-a\n+A\n@@\n b\n", "A\nb\nc\n"),
    ],
)  # fmt: skip
def test_places_are_found(text: str, diff: str, expected: str) -> None:
    """By anchors, by line numbers as hints, at the end, and with any headers above."""
    assert patch(text, diff)[0] == expected


@pytest.mark.parametrize(
    ("text", "diff", "expected"),
    [
        ("a\r\nb\nc\r\n", "@@\n a\n-b\n+B\n+D\n c\n", "a\r\nB\nD\nc\r\n"),
        ("a\r\nb\n", "@@\n-a\n-b\n+A\n+B\n+C\n", "A\r\nB\nC\n"),
        ("a\r\nb\r\n", "@@\r\n-a\r\n+A\r\n+B\r\n", "A\r\nB\r\nb\r\n"),
        ("a\r\nb\r\n", "@@\n+new\n a\n", "new\r\na\r\nb\r\n"),
        ("a\nb", "@@\n-b\n+c\n", "a\nc"),
        ("a\nb", "@@\n b\n+c\n", "a\nb\nc"),
        ("a\r\nb", "@@\n b\n+c\n", "a\r\nb\r\nc"),
        ("a\nb", "@@\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n"),
        ("a\nb\n", "@@\n-b\n+b\n\\ No newline at end of file\n", "a\nb"),
        ("a\nb\n", "@@\n-a\n b\n\\ No newline at end of file\n", "b\n"),
        ("a\nb\n", "@@\n-b\n+c\n*** End of File\n", "a\nc\n"),
        ("a\nb\n", "@@\n-a\n-b\n", ""),
        ("\ufeffa\nb\n", "@@\n-a\n+c\n", "\ufeffc\nb\n"),
        ("a\x0cb\u2028c\n", "@@\n-a\x0cb\u2028c\n+d\n", "d\n"),
    ],
)  # fmt: skip
def test_endings_stay(text: str, diff: str, expected: str) -> None:
    """Each line has its own, and a final newline, or none, is kept unless the diff says otherwise."""
    assert patch(text, diff)[0] == expected


@pytest.mark.parametrize(
    ("text", "diff", "reason"),
    [
        (TWICE, "@@\n-b\n+c\n",
         "Hunk 1 (line 1 of the patch) fits in 2 places, at lines 2, 4 of the file. Add more lines of context, or an"
         " anchor above it, such as `@@ def name():`."),
        (CLASSES, "@@     def f(self):\n+        new\n",
         "Hunk 1 (line 1 of the patch) fits in 2 places, at lines 2, 5 of the file. Add more lines of context, or an"
         " anchor above it, such as `@@ def name():`."),
        (CODE, "@@ def g():\n-    y = 2\n",
         "Hunk 1 (line 1 of the patch) does not fit: there is no line `def g():`, which it names after `@@`."),
        (CLASSES, "@@ class B:\n@@     def g(self):\n-        x\n",
         "Hunk 1 (line 1 of the patch) does not fit: there is no line `    def g(self):` below line 4, which it names"
         " after `@@`."),
        ("a\nb\nc\n", "@@ c\n-a\n",
         "Hunk 1 (line 1 of the patch) does not fit: its lines stand at line 1, and not after its anchor at line 3."),
        ("a\nb\nc\nd\ne\n", "@@\n a\n b\n-x\n+C\n d\n",
         "Hunk 1 (line 1 of the patch) does not fit. The first line that differs is line 3 of the file, `c`, where line"
         " 4 of the patch has `x`."),
        ("a\nc\n", "@@\n a\n-b\n c\n",
         "Hunk 1 (line 1 of the patch) seems to have been applied before: lines 1 to 2 of the file read already as it"
         " would leave them."),
        ("a\nb\n", "@@\n a\n b\n-c\n",
         "Hunk 1 (line 1 of the patch) does not fit. The file has 2 lines, and ends before line 4 of the patch, `c`."),
        ("b\n", "@@\n-a\n b\n",
         "Hunk 1 (line 1 of the patch) does not fit. The first line that differs is nothing there, where line 2 of the"
         " patch has `a`."),
        ("one\nfoo(bar)\n", "@@\n-foo(baz)\n+x\n",
         "Hunk 1 (line 1 of the patch) does not fit. Line 2 of the patch, `foo(baz)`, is nowhere in the file; the"
         " nearest is line 2, `foo(bar)`."),
        ("", "@@\n-a\n-b\n",
         "Hunk 1 (line 1 of the patch) does not fit. Line 2 of the patch, `a`, is nowhere in the file, and neither are"
         " those after it: the file is empty."),
        ("a\nB\nc\n", "@@\n a\n-b\n+B\n c\n",
         "Hunk 1 (line 1 of the patch) seems to have been applied before: lines 1 to 3 of the file read already as it"
         " would leave them."),
        ("a\nb\nc\nd\n", "@@\n-c\n+C\n@@\n-a\n+A\n",
         "Hunk 2 (line 4 of the patch) is out of order: it belongs to line 1, above hunk 1 at line 3. Put the hunks in"
         " the file's order."),
        ("a\nb\nc\nd\n", "@@\n a\n b\n-c\n+C\n@@\n-b\n+B\n",
         "Hunk 2 (line 6 of the patch) overlaps another one: it begins at line 2, and hunk 1 covers lines 1 to 3. Make"
         " them one hunk."),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(text: str, diff: str, reason: str) -> None:
    """With the lines that decide, so that the model can send a better one."""
    assert refuse(text, diff) == f"app.py: {reason} Nothing was changed."


@pytest.mark.parametrize(
    ("diff", "reason"),
    [
        ("", "The patch changes nothing: no line of it begins with `+` or `-`."),
        ("@@\n a\n", "The patch changes nothing: no line of it begins with `+` or `-`."),
        ("@@\n-a\nb\n",
         "Line 3 of the patch, `b`, must begin with a space, `+`, `-` or `@@`: write a space before context."),
        ("@@\n-a\n*** Move to: b.py\n",
         "Line 3 of the patch, `*** Move to: b.py`, is not known here. A diff has hunks of one file only."),
        ("@@\n-a\n*** End of File\n+b\n",
         "Line 4 of the patch comes after `*** End of File`; begin it with `@@` first."),
        ("*** Begin Patch\n*** Update File: app.py\n@@\n-a\n+b\n",
         "The patch is not whole: its last line must be `*** End Patch`."),
        ("*** Begin Patch\n*** Update File: b.py\n@@\n-a\n*** End Patch\n",
         "This operation is: update app.py. The patch in its diff is another one: update b.py."),
        ("*** Begin Patch\n*** Update File: app.py\n*** Move to: b.py\n@@\n-a\n*** End Patch\n",
         "An operation cannot move its file: create the new file and delete the old one instead."),
    ],
)  # fmt: skip
def test_what_is_no_diff_is_refused(diff: str, reason: str) -> None:
    """With the line that is none."""
    assert refuse("a\n", diff) == reason
