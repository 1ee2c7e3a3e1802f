"""What a model reads is kept within its budget, and the whole where the calling program finds it."""

import random
import re
from typing import Any

import pytest
from pydantic_core import to_json

from sidecall import Caller, ToolMessage, tool
from sidecall.kernel.core.invocation import Invocation, new_invocation
from sidecall.kernel.pipeline.truncate import Truncate, cut
from tests.kit.calls import write_request


async def keep_to(budget: Truncate, invocation: Invocation) -> None:
    """Take the stage, and wait where it waits."""
    waits = budget(invocation)
    if waits is not None:
        await waits


URL = "/contents/0123456789abcdef0123456789abcdef"


class Kept:
    """Keep what is cut, or have no room for it."""

    def __init__(self, url: str | None = URL) -> None:
        self.bodies: list[bytes] = []
        self.callers: list[Caller] = []
        self._url = url

    async def __call__(self, body: str | bytes, caller: Caller) -> str | None:
        """Keep it."""
        self.callers.append(caller)
        self.bodies.append(body.encode() if isinstance(body, str) else body)
        return self._url


def _invocation(content: Any, most: int | None = None) -> Invocation:
    made = tool("work", description="Work.", max_content_bytes=most)(lambda: None).compiled
    invocation = new_invocation(write_request("work"), made, None)
    invocation.message = ToolMessage(content=content, tool_call_id="call_1", response_metadata={"duration_ms": 1})
    return invocation


async def _after(content: Any, most: int = 200, kept: Kept | None = None) -> ToolMessage:
    invocation = _invocation(content)
    await keep_to(Truncate(most, kept or Kept()), invocation)
    assert invocation.message is not None
    return invocation.message


def _size(content: Any) -> int:
    return len(content.encode() if isinstance(content, str) else to_json(content))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="nothing"),
        pytest.param("a" * 50, id="surely short"),
        pytest.param("a" * 200, id="exactly as long as may be"),
        pytest.param("ü" * 100, id="exactly, in two bytes a letter"),
        pytest.param("🙂" * 50, id="exactly, in four"),
        pytest.param([], id="no blocks"),
        pytest.param(["a" * 196], id="a list of exactly that length"),
        pytest.param([{"type": "text", "text": "a" * 173}], id="a block of exactly that length"),
    ],
)
async def test_what_is_within_its_budget_is_left_alone(content: Any) -> None:
    """And nothing is kept."""
    kept = Kept()
    message = await _after(content, 200, kept)

    assert (message.content, message.response_metadata, kept.bodies) == (content, {"duration_ms": 1}, [])


@pytest.mark.parametrize(
    ("content", "whole"),
    [
        pytest.param("a" * 201, b"a" * 201, id="one too many"),
        pytest.param("ü" * 101, "ü".encode() * 101, id="one too many, in two bytes a letter"),
        pytest.param(["a" * 197], b'["' + b"a" * 197 + b'"]', id="a list"),
        pytest.param(
            [{"type": "text", "text": "ü" * 100}],
            b'[{"type":"text","text":"' + "ü".encode() * 100 + b'"}]',
            id="a block",
        ),
    ],
)
async def test_what_is_over_its_budget_is_cut_and_kept(content: Any, whole: bytes) -> None:
    """The answer says that, and where."""
    kept = Kept()
    message = await _after(content, 200, kept)

    assert _size(message.content) <= 200
    assert message.response_metadata == {"duration_ms": 1, "truncated": True, "artifact_url": URL}
    assert kept.bodies == [whole]


async def test_what_is_kept_belongs_to_the_caller() -> None:
    """Whom a ledger keeps beside it."""
    kept = Kept()
    invocation = _invocation("a" * 1000)
    invocation.request = invocation.request.copy_sent(caller=Caller("ada", "acme"))

    await keep_to(Truncate(200, kept), invocation)

    assert kept.callers == [Caller("ada", "acme")]


async def test_what_cannot_be_kept_is_cut_all_the_same() -> None:
    """There is no address then, in the note neither."""
    message = await _after("a" * 1000, 200, Kept(None))

    assert message.response_metadata == {"duration_ms": 1, "truncated": True, "artifact_url": None}
    assert re.fullmatch(r"a+\n\[… \d+ bytes left out …\]\na+", message.content)  # type: ignore[arg-type]


@pytest.mark.parametrize(("own", "servers", "most"), [(300, 1000, 300), (1000, 300, 1000), (None, 300, 300)])
async def test_a_tools_own_budget_beats_the_servers(own: int | None, servers: int, most: int) -> None:
    """Whichever is larger."""
    invocation = _invocation("a" * 5000, own)

    await keep_to(Truncate(servers, Kept()), invocation)

    assert invocation.message is not None
    assert len(invocation.message.content) + 4 == most  # two letters of the note take three bytes


async def test_a_call_without_a_message_has_nothing_to_cut() -> None:
    """Nothing happens."""
    invocation = _invocation("")
    invocation.message = None

    await keep_to(Truncate(200, Kept()), invocation)

    assert invocation.message is None


def test_the_head_and_the_tail_of_a_text_stay() -> None:
    """Both say most: what it is, and how it ended."""
    text = "head " + "x" * 1000 + " tail"

    short = cut(text, 200, URL)

    assert (short[:10], short[-10:]) == ("head xxxxx", "xxxxx tail")
    assert f"; the whole is at {URL}, parts with ?lines=1-50 or ?grep=word …]\n" in short


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ('{"a": "' + "x" * 1000 + '"}', "?grep=word or ?path=$.name"),
        ("[" + "1," * 1000 + "1]\n", "?grep=word or ?path=$[0]"),
        ("[\n" + "1,\n" * 1000 + "1\n]\n", "?lines=1-50, ?grep=word or ?path=$[0]"),
        ("{" + "x" * 1000, "?lines=1-50 or ?grep=word"),
    ],
)
def test_json_is_read_by_a_path(text: str, ways: str) -> None:
    """Lines are of use only where there are several."""
    assert f"; the whole is at {URL}, parts with {ways} …]\n" in cut(text, 300, URL)


async def test_parts_are_read_by_a_path() -> None:
    """Also where one of them is a text with lines: the whole is a list."""
    invocation = _invocation([{"type": "text", "text": "line\n" * 1000}])

    await keep_to(Truncate(400, Kept()), invocation)

    assert invocation.message is not None
    assert f"the whole is at {URL}, parts with ?grep=word or ?path=$[0] …]" in str(invocation.message.content)


@pytest.mark.parametrize(("text", "most"), [("a" * 1000, 200), ("a" * 1001, 201), ("ü" * 1000, 500), ("🙂" * 999, 333)])
@pytest.mark.parametrize("url", [URL, None])
def test_the_note_says_how_much_is_missing(text: str, most: int, url: str | None) -> None:
    """But for letters that were split, so that a model can judge whether to ask for more."""
    short = cut(text, most, url)
    [(note, said)] = re.findall(r"(\n\[… (\d+) bytes left out.* …\]\n)", short)
    missing = len(text.encode()) - len(short.replace(note, "").encode())

    assert abs(int(said) - missing) <= 6


@pytest.mark.parametrize("letter", ["a", "ü", "€", "🙂", "é", "👩‍🔬"])
@pytest.mark.parametrize("most", [200, 201, 202, 203, 204])
def test_no_letter_is_cut_in_two(letter: str, most: int) -> None:
    """What a cut would split is left out."""
    short = cut(letter * 1000, most, URL)
    [note] = re.findall(r"\n\[… .* …\]\n", short)

    assert len(short.encode()) <= most
    assert set(short.replace(note, "")) <= set(letter)


BLOCKS: list[Any] = [
    pytest.param(["a" * 500, "b" * 500], id="texts"),
    pytest.param([{"type": "text", "text": "a" * 500}], id="a block of text"),
    pytest.param([{"type": "text", "text": "a" * 150}, {"type": "text", "text": "b" * 150}], id="two of them"),
    pytest.param([{"type": "text", "text": '"\n\x01\\' * 200}], id="text that is longer in JSON"),
    pytest.param([{"type": "text", "text": "a", "annotations": ["b" * 500]}], id="a text with much beside it"),
    pytest.param([{"type": "image_url", "image_url": {"url": "data:" + "a" * 500}}], id="an image"),
    pytest.param([{"type": "json", "json": ["a" * 500]}, "b", {"type": "text", "text": "c"}], id="one of three"),
    pytest.param(["a"] * 300, id="many small ones"),
    pytest.param([""] * 5000, id="very many of nothing"),
    pytest.param([{"type": "text", "text": None, "more": "a" * 500}], id="a text that is none"),
    pytest.param([{"type": "a" * 500, "text": "b" * 500}], id="a long type"),
]


@pytest.mark.parametrize("most", [200, 300])
@pytest.mark.parametrize("content", BLOCKS)
async def test_blocks_are_within_their_budget(content: Any, most: int) -> None:
    """All together, as JSON; and they are still blocks."""
    message = await _after(content, most)

    assert _size(message.content) <= most
    assert isinstance(message.content, list)
    assert all(isinstance(block, str) or "type" in block for block in message.content)
    assert message.response_metadata["truncated"] is True


async def test_small_blocks_beside_a_large_one_stay() -> None:
    """As they are, in their places."""
    content: list[Any] = [{"type": "text", "text": "before"}, "x" * 5000, {"type": "text", "text": "after"}]

    message = await _after(content, 1000)

    assert (message.content[0], message.content[2]) == (content[0], content[2])


async def test_a_block_that_is_no_text_gives_way_to_a_note() -> None:
    """Half an image is none."""
    message = await _after([{"type": "image_url", "image_url": {"url": "data:" + "a" * 5000}}], 500)
    [block] = message.content

    assert isinstance(block, dict)
    assert (block["type"], sorted(block)) == ("text", ["text", "type"])
    assert f"the whole is at {URL}" in block["text"]


class Die:
    """Draw contents of every form, the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._die = random.Random(seed)

    def content(self) -> Any:
        """Draw a text, or a list of blocks."""
        many = self._die.choice([0, 1, 2, 6, 50])
        return [self._block() for _ in range(many)] if self._die.random() < 0.7 else self._text()

    def _text(self) -> str:
        return "".join(self._die.choices('aü€🙂"\\\n\x01', k=self._die.choice([0, 1, 40, 200, 500])))

    def _block(self) -> Any:
        kind, member = self._die.choice(["text", "image_url", "json"]), self._die.choice(["text", "more"])
        block = {"type": kind, member: self._text()}
        return self._die.choice([self._text(), block, {**block, "text": self._text(), "also": self._text()}])


@pytest.mark.parametrize("seed", range(100))
async def test_no_content_is_ever_over_its_budget(seed: int) -> None:
    """For all of its parts."""
    content = Die(seed).content()

    message = await _after(content, 200 + seed)

    assert _size(message.content) <= 200 + seed
    assert ("truncated" in message.response_metadata) is (_size(content) > 200 + seed)
