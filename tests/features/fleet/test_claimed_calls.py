"""A worker says that a call has not begun only where that is sure, and lets it never begin then."""

import pytest

from sidecall.features.fleet.claimed_calls import ClaimedCall, ClaimedCalls


def _hold(calls: ClaimedCalls, number: int, *, is_begun: bool) -> ClaimedCall:
    held = ClaimedCall("server", "call", number)
    calls.add(held)
    held.is_begun = is_begun
    return held


def test_a_call_that_never_came_is_refused_and_never_begins() -> None:
    """As often as it is asked for; another number of the same server may."""
    calls = ClaimedCalls()
    assert calls.may_begin("server", 1)
    assert calls.refuse("server", 1)
    assert calls.refuse("server", 1)
    assert not calls.may_begin("server", 1)
    assert calls.may_begin("server", 2)
    assert calls.may_begin("other", 1)


@pytest.mark.parametrize(("is_begun", "is_sure"), [(True, False), (False, True)])
def test_a_call_that_has_begun_is_not_refused_after_its_end(is_begun: bool, is_sure: bool) -> None:
    """One that was only claimed is."""
    calls = ClaimedCalls()
    held = _hold(calls, 1, is_begun=is_begun)
    assert not calls.refuse("server", 1)
    calls.remove(held)
    assert not calls.has_ended("server", 2)
    assert calls.has_ended("server", 1) is is_begun
    assert calls.refuse("server", 1) is is_sure


def test_of_a_call_that_was_forgotten_nothing_is_said() -> None:
    """Nor may it begin, since it may have begun before."""
    calls = ClaimedCalls()
    for number in range(10_002):
        calls.remove(_hold(calls, number, is_begun=True))
    assert not calls.refuse("server", 0)
    assert not calls.may_begin("server", 1)
    assert calls.may_begin("server", 10_002)
    assert len(calls.held) == 0
