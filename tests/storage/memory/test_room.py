"""So many bytes may be taken, and given back."""

from sidecall.storage.memory_size import Room


def test_room_is_taken_and_given_back() -> None:
    """What does not fit takes nothing."""
    room = Room(10)

    taken = [room.take(size) for size in (6, 5, 4, 1, -6, 7, 6, 0)]

    assert taken == [True, False, True, False, True, False, True, True]
    assert room.taken == 10
