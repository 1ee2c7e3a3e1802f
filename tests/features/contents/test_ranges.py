"""Which bytes a client wants is read as RFC 9110 has it."""

import pytest

from sidecall.features.contents.ranges import RangeUnsatisfiable, find_range


@pytest.mark.parametrize(
    ("sent", "wanted"),
    [
        ("bytes=0-0", slice(0, 1)),
        ("bytes=2-4", slice(2, 5)),
        ("bytes=2-", slice(2, 10)),
        ("bytes=-3", slice(7, 10)),
        ("bytes=-99", slice(0, 10)),
        ("bytes=9-999999999999999999", slice(9, 10)),
        ("Bytes = 2-4 ", slice(2, 5)),
        ("", None),
        ("bytes=-", None),
        ("bytes=4-2", None),
        ("bytes=0-1,3-4", None),
        ("lines=0-1", None),
        ("bytes=a-b", None),
        ("bytes=٣-", None),
        ("bytes=" + "9" * 5000 + "-", None),
    ],
)
def test_one_range_is_heeded(sent: str, wanted: slice | None) -> None:
    """Anything else asks for the whole."""
    assert find_range({"range": sent}, 10, '"a"') == wanted


@pytest.mark.parametrize(("sent", "size"), [("bytes=10-", 10), ("bytes=10-20", 10), ("bytes=-0", 10), ("bytes=0-", 0)])
def test_bytes_that_are_not_there_are_refused(sent: str, size: int) -> None:
    """With what there is."""
    with pytest.raises(RangeUnsatisfiable) as refused:
        find_range({"range": sent}, size, '"a"')

    assert refused.value.headers == {"Content-Range": f"bytes */{size}"}


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ('"a"', slice(2, 5)),
        ('W/"a"', None),
        ('"b"', None),
        ("Sun, 22 Nov 2026 11:00:00 GMT", None),
    ],
)
def test_a_range_of_something_else_is_no_use(condition: str, wanted: slice | None) -> None:
    """Only the very same bytes go together with those that a client has."""
    assert find_range({"range": "bytes=2-4", "if-range": condition}, 10, '"a"') == wanted
