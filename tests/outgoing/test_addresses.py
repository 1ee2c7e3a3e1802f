"""Only public addresses are connected to."""

import pytest

from sidecall.outgoing.patterns import is_public


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "8.8.8.8", "2606:4700:4700::1111", "64:ff9b::808:808", "2001:470::5efe:808:808"]
)
def test_public_addresses(address: str) -> None:
    """Of either version, and IPv4 behind NAT64 and ISATAP."""
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.9.10", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "192.0.0.192", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1",
        "::ffff:a9fe:a9fe", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2002:7f00:1::", "fc00::1",
        "fd00::1", "fe80::1%eth0", "ff02::1", "2001:db8::1", "2001:0:7f00:1::", "fec0::1", "::7f00:1",
        "::ffff:0:7f00:1", "192.88.99.1", "2001:470::5efe:7f00:1", "2001:470::200:5efe:a00:1",
        "[::1]", "localhost", "0x7f.1", "2130706433",
    ],
)  # fmt: skip
def test_others(address: str) -> None:
    """The machine, its network, the cloud's metadata, and what stands for them."""
    assert not is_public(address)
