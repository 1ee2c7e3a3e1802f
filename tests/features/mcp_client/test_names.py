"""Names of other servers' tools fit every provider, and stay as they are."""

import pytest

from sidecall.features.mcp_client.upstream import NamedTools, name_remote_tools


@pytest.mark.parametrize(
    ("servers", "taken", "names"),
    [
        ({"a": (True, ["x"])}, [], ["a__x"]),
        ({"a": (False, ["x"])}, [], ["x"]),
        ({"my files": (True, ["read.me/now"])}, [], ["my_files__read_me_now"]),
        ({"a": (False, ["x"])}, ["x"], ["x_8b86bced"]),
        ({"a": (False, ["x"]), "b": (False, ["x"])}, [], ["x", "x_e1707ddf"]),
        ({"a": (True, ["x.y", "x/y"])}, [], ["a__x_y", "a__x_y_f723596c"]),
        ({"a": (True, ["t" * 70])}, [], ["a__" + "t" * 52 + "_2ae16101"]),
    ],
)
def test_tools_are_named(servers: dict[str, NamedTools], taken: list[str], names: list[str]) -> None:
    """With letters that all take, 64 at most, each its own."""
    found = list(name_remote_tools(servers, taken).values())

    assert found == names
    assert all(len(name) <= 64 for name in found)
