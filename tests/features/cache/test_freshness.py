"""What a client says in Cache-Control."""

import pytest
from starlette.datastructures import Headers

from sidecall.features.cache.steps import Freshness, read_freshness


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ([], Freshness()),
        (["no-cache"], Freshness(max_age=0)),
        (["No-Store"], Freshness(may_keep=False)),
        (["max-age=30"], Freshness(max_age=30)),
        (['max-age="30", no-transform'], Freshness(max_age=30)),
        (["max-age=30, no-cache"], Freshness(max_age=0)),
        (["max-age=5", "no-store"], Freshness(may_keep=False, max_age=5)),
        (["max-age=-1"], Freshness()),
        (["max-age=x, max-age, max-age=, only-if-cached"], Freshness()),
        ([f"max-age={'9' * 5000}"], Freshness()),
        (["x-no-store"], Freshness()),
    ],
)
def test_the_header_is_read(sent: list[str], meant: Freshness) -> None:
    """What is not understood does not count."""
    assert read_freshness(Headers(raw=[(b"cache-control", value.encode()) for value in sent])) == meant
