"""What a line says of records of others."""

import logging
import sys
from typing import Any

import pytest

from sidecall.features.telemetry.redact import LineFields, Redaction, Stamps, find_exception


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (0.0, "1970-01-01T00:00:00.000000Z"),
        (1.25, "1970-01-01T00:00:01.250000Z"),
        (1.999999, "1970-01-01T00:00:01.999999Z"),
        (1795252663.0, "2026-11-21T09:17:43.000000Z"),
        (0.5, "1970-01-01T00:00:00.500000Z"),
    ],
)
def test_times_are_written_as_iso_8601_has_them(moment: float, written: str) -> None:
    """No matter what second was written before."""
    stamps = Stamps()

    assert [stamps.write(1.0), stamps.write(moment), stamps.write(moment)][1:] == [written, written]


def _read(**record: Any) -> dict[str, Any]:
    made = logging.makeLogRecord({"name": "somebody", "levelname": "WARNING", "msg": "said", **record})
    return LineFields(Redaction()).read(made, "now")


@pytest.mark.parametrize(
    ("record", "more"),
    [
        pytest.param({"args": ()}, {"event": "said"}, id="a text"),
        pytest.param({"msg": "page %d", "args": (3,)}, {"event": "page 3"}, id="with arguments"),
        pytest.param({"stack_info": "Stack:\n x"}, {"event": "said", "stack_info": "Stack:\n x"}, id="with a stack"),
        pytest.param(
            {"msg": {"event": "said", "api_key": "k", "page": 3}, "_logger": None, "_name": "warning"},
            {"event": "said", "api_key": "[redacted]", "page": 3},
            id="of structlog",
        ),
        pytest.param({"outcome": 3, "event": "other"}, {"event": "other", "outcome": 3}, id="with our fields"),
    ],
)
def test_records_become_fields(record: Any, more: Any) -> None:
    """In one order."""
    expected = {"timestamp": "now", "level": "warning", "logger": "somebody", **more}

    assert list(_read(**record).items()) == list(expected.items())


def test_only_exceptions_have_tracebacks() -> None:
    """Some log as if there were one."""
    try:
        raise ValueError
    except ValueError:
        present = sys.exc_info()
    records = [logging.makeLogRecord({"exc_info": info}) for info in (None, (None, None, None), present)]

    assert [find_exception(record) for record in records] == [None, None, present]
