"""Frames are read by who has the key, once, and at their place only."""

import base64
import os

import pytest

from sidecall.features.fleet.frames import FrameRefused, Frames

KEY, OTHER = (base64.b64encode(os.urandom(32)).decode() for _ in range(2))
BODY = b"secret" * 100


@pytest.mark.parametrize("keys", [[], [KEY]])
def test_a_message_in_pieces_is_read_whole(keys: list[str]) -> None:
    """Pieces are joined, with a key and without."""
    sender, reader = Frames(keys), Frames(keys)
    frames = list(sender.write("here", BODY, 200))
    assert len(frames) > 1
    read = [reader.read("here", frame) for frame in frames]
    assert read[:-1] == [None] * (len(frames) - 1)
    assert read[-1] == (sender.name, BODY)


def test_a_frame_is_encrypted() -> None:
    """Nothing of the content is in a frame."""
    assert b"secret" not in b"".join(Frames([KEY]).write("here", BODY, 2000))


def test_either_key_is_read_while_it_is_changed() -> None:
    """Frames of an older key are read beside those of the new one."""
    (frame,) = Frames([OTHER]).write("here", BODY, 2000)
    read = Frames([KEY, OTHER]).read("here", frame)
    assert read is not None
    assert read.body == BODY


@pytest.mark.parametrize(
    ("theirs", "ours"), [([], [KEY]), ([OTHER], [KEY]), ([KEY], [])], ids=["none", "another", "one where none is"]
)
def test_without_the_same_key_nothing_is_read(theirs: list[str], ours: list[str]) -> None:
    """Frames made with no key, or with another, are refused."""
    (frame,) = Frames(theirs).write("here", BODY, 2000)
    with pytest.raises(FrameRefused):
        Frames(ours).read("here", frame)


def test_a_frame_is_not_read_elsewhere_again_or_changed() -> None:
    """A frame counts once, as it was made, where it was sent."""
    reader = Frames([KEY])
    (frame,) = Frames([KEY]).write("here", BODY, 2000)
    for place, wrong in (("there", frame), ("here", frame[:-1] + bytes([frame[-1] ^ 1])), ("here", frame[:20])):
        with pytest.raises(FrameRefused):
            reader.read(place, wrong)
    assert reader.read("here", frame) is not None
    with pytest.raises(FrameRefused, match="a second time"):
        reader.read("here", frame)


@pytest.mark.parametrize("version", [0, 2, 255])
def test_a_frame_of_another_version_is_left_alone_and_named(version: int) -> None:
    """Older and newer ones."""
    (frame,) = Frames([]).write("here", BODY, 2000)
    with pytest.raises(FrameRefused, match=f"of version {version}, and this program speaks 1"):
        Frames([]).read("here", bytes([version]) + frame[1:])


def test_a_message_that_has_lost_a_piece_is_dropped() -> None:
    """The rest of a message with a gap is refused to its end."""
    reader = Frames([KEY])
    first, _, *rest = Frames([KEY]).write("here", BODY, 200)
    assert reader.read("here", first) is None
    for frame in rest:
        with pytest.raises(FrameRefused):
            reader.read("here", frame)
