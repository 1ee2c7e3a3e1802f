"""Hosts that answer soon always find a place."""

from sidecall.features.webhooks.dispatcher import Host, HostSlots


def take_all(places: HostSlots, *hosts: Host) -> list[int]:
    """Take as many places as there are for each of these hosts, one after the other, and count them."""
    return [sum(places.take(host) for _ in range(100)) for host in hosts]


def test_a_host_has_one_place_until_it_has_answered() -> None:
    """Then four, as long as it answers soon."""
    places = HostSlots()
    assert take_all(places, ("a", 443)) == [1]

    places.note(("a", 443), 1.9)
    assert take_all(places, ("a", 443)) == [3]
    places.note(("a", 443), 2.0)
    for _ in range(4):
        places.leave(("a", 443))

    assert take_all(places, ("a", 443)) == [1]


def test_hosts_that_do_not_answer_leave_places_to_those_that_do() -> None:
    """However many they are."""
    places = HostSlots()
    places.note(("prompt", 443), 0.1)

    assert sum(take_all(places, *(("late", port) for port in range(40)))) == 15
    assert take_all(places, ("prompt", 443)) == [4]


def test_there_are_twenty_in_all() -> None:
    """Also for hosts that answer."""
    places = HostSlots()
    hosts = [("prompt", port) for port in range(6)]
    for host in hosts:
        places.note(host, 0.1)

    assert take_all(places, *hosts) == [4, 4, 4, 4, 4, 0]
    assert places.are_taken
    places.leave(hosts[0])
    assert take_all(places, hosts[5]) == [1]


def test_what_may_not_be_told_waits_for_nobody() -> None:
    """Nothing is sent."""
    assert take_all(HostSlots(), None) == [4]
