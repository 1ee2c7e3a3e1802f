"""The short form of the trials: what must hold on every machine, however busy, in less than a minute."""

import pytest

from tests.kit.forked import origin
from trials.__main__ import SHORT

__all__ = ["origin"]


@pytest.mark.parametrize("name", SHORT)
def test_the_servers_worst_is_met(name: str, origin: None) -> None:
    """Bars of time and memory are for `make trials`."""
    findings = list(SHORT[name]())

    failed = [str(finding) for finding in findings if not finding.holds]
    assert findings
    assert not failed, "\n".join(failed)
