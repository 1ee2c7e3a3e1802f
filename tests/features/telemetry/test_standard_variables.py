"""Wrong values of the standard variables are told of by their names, before any span is lost."""

import pytest

from sidecall.features.telemetry.standard_variables import InvalidVariable, check_limits, read_batching, report_losses

USUAL = (2048, 5000, 512, 30_000)
CERTIFICATES = "names no certificates that can be read, so no span is sent over https: write the path of a file (PEM)"
FILE = "names no file that can be read, so no span is sent: write the path of one (PEM)"
SECONDS = "so no span is sent: write the seconds of a request, such as 10"


def _set(monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    ("environment", "read"),
    [
        ({}, USUAL),
        ({"OTEL_BSP_MAX_QUEUE_SIZE": "", "OTEL_BSP_SCHEDULE_DELAY": ""}, USUAL),
        # A batch is no larger than the queue that was made small.
        ({"OTEL_BSP_MAX_QUEUE_SIZE": "100"}, (100, 5000, 100, 30_000)),
        ({"OTEL_BSP_MAX_QUEUE_SIZE": "9000", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "9000"}, (9000, 5000, 9000, 30_000)),
        ({"OTEL_BSP_SCHEDULE_DELAY": "1", "OTEL_BSP_EXPORT_TIMEOUT": "0"}, (2048, 1, 512, 0)),
    ],
)
def test_batches_are_as_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], read: tuple[int, ...]
) -> None:
    """The queue, the delay, the batch and the time for it."""
    _set(monkeypatch, environment)

    assert tuple(read_batching().values()) == read


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("OTEL_BSP_MAX_QUEUE_SIZE", "-1", " is '-1': write a whole number from 1 to 2147483647"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "x", " is 'x': write a whole number from 1 to 2147483647"),
        ("OTEL_BSP_SCHEDULE_DELAY", "0", " is '0': write a whole number from 1 to 2147483647"),
        ("OTEL_BSP_EXPORT_TIMEOUT", "1.5", " is '1.5': write a whole number from 0 to 2147483647"),
        (
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
            "5000",
            " is 5000, more than the 2048 spans that may wait: write no more than that, or a larger "
            "OTEL_BSP_MAX_QUEUE_SIZE",
        ),
        ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "x", " is 'x': write a whole number from 0 to 2147483647"),
        ("OTEL_SPAN_LINK_COUNT_LIMIT", "-1", " is '-1': write a whole number from 0 to 2147483647"),
    ],
)
def test_a_number_that_is_wrong_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str) -> None:
    """In one line."""
    monkeypatch.setenv(name, value)

    with pytest.raises(InvalidVariable) as caught:
        (check_limits if name.endswith("_LIMIT") else read_batching)()

    assert caught.value.message == name + said


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "-1", f"is -1, {SECONDS}"),
        ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "inf", f"is inf, {SECONDS}"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "2.5", None),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "x", None),  # The exporter says that it takes ten seconds then.
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/nowhere", CERTIFICATES),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/etc/passwd", CERTIFICATES),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/etc", None),  # A folder may have some.
        ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/nowhere", FILE),
        ("OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE", "/etc/passwd", None),
    ],
)
def test_what_loses_every_span_is_told_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str, value: str, said: str | None
) -> None:
    """And what loses none is not."""
    monkeypatch.setenv(name, value)

    report_losses()

    assert caplog.messages == ([] if said is None else [f"{name} {said}"])
