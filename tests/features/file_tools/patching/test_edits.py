"""The diff of an edit makes the edit again, no matter what was edited; and no text makes the parser fail."""

import contextlib
import difflib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecall.features.file_tools.patching.applying import plan_patches
from sidecall.features.file_tools.patching.hunks import PatchRefused
from sidecall.features.file_tools.patching.parsing import read_envelope, read_operation

# So few that most blocks of lines stand in a text several times.
LINES = st.lists(
    st.sampled_from(["a", "b", "  a", "\ta", "", "- x", "+", "@@ c", "*** End of File", "\u2013"]), max_size=12
)
TEXTS = st.lists(st.sampled_from(["a", " a", "", "b", "\ta\r"]), max_size=6)
ENDINGS = st.sampled_from(["\n", "\r\n"])
PIECES = [
    "@@",
    "@@ a",
    "@@ -1,2 +1 @@",
    " a",
    "-a",
    "+a",
    "a",
    "",
    "  a",
    "\\ No newline",
    "--- a",
    "+++ a",
    "-",
    "+\r",
]
HEADS = [
    "*** Begin Patch",
    "*** End Patch",
    "*** Update File: f",
    "*** Add File: g",
    "*** Delete File: f",
    "*** Move to: h",
]


def write_diff(old: list[str], new: list[str], context: int, *, with_numbers: bool) -> str:
    """Write the hunks that make one list of lines of another."""
    out: list[str] = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(context):
        (_, i, _, j, _), (_, _, i2, _, j2) = group[0], group[-1]
        # As it is written for what is only added: after which line.
        out.append(f"@@ -{i + (i2 > i)},{i2 - i} +{j + (j2 > j)},{j2 - j} @@" if with_numbers else "@@")
        for kind, start, end, start2, end2 in group:
            out += [f" {line}" for line in old[start:end] if kind == "equal"]
            out += [f"-{line}" for line in old[start:end] if kind != "equal"]
            out += [f"+{line}" for line in new[start2:end2] if kind != "equal"]
    return "\n".join(out)


def attempt(text: str, diff: str) -> tuple[str | None, str]:
    """Apply a diff to a text, and return why it was refused where it was."""
    try:
        return apply(text, diff), ""
    except PatchRefused as refused:
        return None, refused.message


def apply(text: str, diff: str) -> str | None:
    """Apply a diff to a text."""
    return plan_patches([read_operation("update_file", "f", diff)], lambda _: text)[0].text


@settings(max_examples=40)
@given(LINES, LINES, st.integers(0, 3), ENDINGS)
def test_a_numbered_diff_makes_its_edit(old: list[str], new: list[str], context: int, ending: str) -> None:
    """Also of a text that repeats itself, since the numbers are right."""
    if old != new:
        diff = write_diff(old, new, context, with_numbers=True)

        # Of a text without lines nothing tells which endings are wanted.
        expected = "".join(line + (ending if old else "\n") for line in new)
        assert apply("".join(line + ending for line in old), diff) == expected


@settings(max_examples=40)
@given(LINES, LINES, st.integers(1, 3))
def test_a_diff_without_numbers_makes_its_edit_or_is_refused(old: list[str], new: list[str], context: int) -> None:
    """It never makes another one."""
    if old != new:
        text, reason = attempt("".join(f"{line}\n" for line in old), write_diff(old, new, context, with_numbers=False))

        assert text == "".join(f"{line}\n" for line in new) or "fits in" in reason


@settings(max_examples=40)
@given(st.lists(st.sampled_from(PIECES), max_size=12), TEXTS)
def test_no_diff_fails_otherwise_than_refused(pieces: list[str], lines: list[str]) -> None:
    """With any text."""
    text, reason = attempt("\n".join(lines), "\n".join(pieces))

    assert (text is None) == bool(reason)


@settings(max_examples=40)
@given(st.lists(st.sampled_from([*PIECES, *HEADS]), max_size=12))
def test_no_patch_fails_otherwise_than_refused(pieces: list[str]) -> None:
    """Also one that is whole."""
    for patch in ("\n".join(pieces), "\n".join([HEADS[0], *pieces, HEADS[1]])):
        with contextlib.suppress(PatchRefused):
            plan_patches(read_envelope(patch), {"f": "a\nb\n"}.get)
        with contextlib.suppress(PatchRefused):
            read_operation("create_file", "g", patch)


@pytest.mark.parametrize(
    "diff",
    [
        "@@ a\n@@ b\n-x\n+y\n",
        "@@\n" + " a\n" * 20_000 + "-b\n",
        "@@\n" + "-a\n" * 20_000 + "+b\n" * 20_000,
        "@@ b\n" * 2000 + "-a\n",
    ],
)
def test_a_text_that_repeats_itself_takes_no_longer(diff: str) -> None:
    """Quadratic work would take minutes, and the test's time limit with it."""
    with pytest.raises(PatchRefused):
        apply("a\n" * 30_000, diff)


def test_a_number_counts_wherever_it_points_to() -> None:
    """Also behind thousands of other places."""
    text = apply("a\n" * 5000, "@@ -3000,1 +3000,1 @@\n-a\n+b\n")

    assert text == "a\n" * 2999 + "b\n" + "a\n" * 2000
