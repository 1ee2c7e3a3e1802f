"""Peers are pinned exactly, and a peer that fails says why without naming the machine."""

import re
from pathlib import Path

import pytest

from bench.environments import reason_in, version_of

ROOT = Path(__file__).parents[2]
PINS = sorted((ROOT / "bench" / "peers").glob("*.txt"))


@pytest.mark.parametrize("pins", PINS, ids=lambda path: path.stem)
def test_every_package_of_a_peer_is_pinned(pins: Path) -> None:
    """To one version, without an address; the peer itself is among them."""
    lines = [line for line in pins.read_text().splitlines() if not line.startswith("#")]

    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    assert f"{pins.stem}=={version_of(pins.stem)}" in lines


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        pytest.param(
            'Traceback (most recent call last):\n  File "/srv/x.py", line 1\nImportError: no mcp (/srv/mcp/a.py)\n',
            "ImportError: no mcp (…",
            id="a traceback",
        ),
        pytest.param(
            "WARNING: slow\nERROR: No matching distribution found for fastmcp==9 at https://index.test/simple\nhint\n",
            "ERROR: No matching distribution found for fastmcp==9 at …",
            id="pip",
        ),
        pytest.param("", "it said nothing", id="silence"),
    ],
)
def test_a_reason_is_the_telling_line(output: str, expected: str) -> None:
    """Without paths and addresses."""
    assert reason_in(output) == expected
