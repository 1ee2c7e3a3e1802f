"""A line is JSON in ASCII, no matter what it says."""

import datetime
from typing import Any

import pytest

from sidecall.features.telemetry.log_lines import write_line


class Odd:
    """Has no form of its own in JSON."""

    def __repr__(self) -> str:
        return "odd"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param("plain", b'"plain"', id="text"),
        pytest.param("é\u2028\n", rb'"\u00e9\u2028\n"', id="signs that end lines"),
        pytest.param("\ud800", rb'"\ud800"', id="half a character"),
        pytest.param(2**70, b"1180591620717411303424", id="a large number"),
        pytest.param([1, {"a": None}], b'[1,{"a":null}]', id="nested"),
        pytest.param(Odd(), b'"odd"', id="an object"),
        pytest.param(b"\xff", rb'''"b'\\xff'"''', id="bytes"),
        pytest.param(datetime.date(2026, 11, 21), b'"2026-11-21"', id="a date"),
    ],
)
def test_values_are_written_in_ascii(value: Any, written: bytes) -> None:
    """With what Python says of them where JSON has no word for it."""
    assert write_line({"value": value}) == b'{"value":' + written + b"}\n"
