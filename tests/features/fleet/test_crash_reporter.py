"""What a worker has begun is known after its end, also if it was killed."""

import pytest

from sidecall.features.fleet.crash_reporter import BegunCalls

_WORKER, _SERVER, _OTHER = "ab" * 16, "01" * 16, "02" * 16


def test_what_has_begun_is_told_by_server() -> None:
    """In the order in which it began."""
    begun = BegunCalls()
    begun.introduce(_WORKER)
    for server, number in ((_SERVER, 3), (_OTHER, 1), (_SERVER, 5)):
        begun.note(server, number)
    assert begun.tell() == {"worker": _WORKER, "begun": {_SERVER: [3, 5], _OTHER: [1]}, "is_all": True}


def test_of_many_calls_the_last_are_told() -> None:
    """And that there were more."""
    begun = BegunCalls()
    begun.introduce(_WORKER)
    for number in range(1025):
        begun.note(_SERVER, number)
    said = begun.tell()
    assert said is not None
    assert said["is_all"] is False
    assert said["begun"] == {_SERVER: [1024, *range(1, 1024)]}


@pytest.mark.parametrize("is_known", [False, True], ids=["before it is on the bus", "after it has said all itself"])
def test_nothing_is_told_where_servers_need_nothing(is_known: bool) -> None:
    """Of a worker that they never saw, and of one that ends as it should."""
    begun = BegunCalls()
    if is_known:
        begun.introduce(_WORKER)
        begun.note(_SERVER, 1)
        begun.finish()
    assert begun.tell() is None
