"""The clock tells the time anywhere, and helps with the names of time zones."""

import datetime
from typing import Any

import pytest

from sidecall import BaseTool, ToolMessage
from tests.kit.calls import run
from tests.tools import shipped

convert_time = shipped.load("clock").convert_time
current_time = shipped.load("clock").current_time
NOT_A_NAME = "A time zone is given by its IANA name, such as UTC, Europe/Paris or America/New_York."
NOT_A_TIME = "`time` must be an ISO 8601 date and time, such as 2026-03-01T14:30, or 14:30 for today."
NO_SUCH_TIME = "There is no such time in Europe/Paris: the clocks are set forward over it."
OUT_OF_RANGE = "`time` is out of range: use the years 2 to 9998."


async def call(tool: BaseTool, **args: Any) -> ToolMessage:
    """Call a tool as a model does."""
    return await run(tool, args)


async def convert(time: str, source: str = "Europe/Paris", target: str = "Asia/Tokyo") -> ToolMessage:
    """Ask what a time in one zone is in another."""
    return await call(convert_time, time=time, from_timezone=source, to_timezone=target)


@pytest.mark.parametrize(
    ("args", "ending"),
    [
        ({}, "+00:00[UTC]"),  # the default
        ({"timezone": "Asia/Tokyo"}, "+09:00[Asia/Tokyo]"),
        ({"timezone": "America/Argentina/Ushuaia"}, "-03:00[America/Argentina/Ushuaia]"),  # three parts
        ({"timezone": "Etc/GMT+5"}, "-05:00[Etc/GMT+5]"),  # POSIX signs
    ],
)
async def test_the_current_time_is_told(args: dict[str, str], ending: str) -> None:
    """Whole seconds, the offset and the zone, as in RFC 9557."""
    before = datetime.datetime.now(datetime.UTC).replace(microsecond=0)

    message = await call(current_time, **args)

    text, _, zone = str(message.content).partition("[")
    told = datetime.datetime.fromisoformat(text)
    assert f"{text[-6:]}[{zone}" == ending
    assert before <= told <= datetime.datetime.now(datetime.UTC)
    assert told.microsecond == 0
    assert message.status == "success"


@pytest.mark.parametrize(
    ("time", "result"),
    [
        ("2026-03-01T14:30", "2026-03-01T22:30:00+09:00[Asia/Tokyo]"),
        ("2026-07-01 14:30:15", "2026-07-01T21:30:15+09:00[Asia/Tokyo]"),  # a space, and summer time
        ("2026-03-01T14:30:00.5", "2026-03-01T22:30:00.500000+09:00[Asia/Tokyo]"),
        ("2026-03-01", "2026-03-01T08:00:00+09:00[Asia/Tokyo]"),  # midnight
        ("2026-03-01T14:30Z", "2026-03-01T23:30:00+09:00[Asia/Tokyo]"),  # its offset wins
        ("2026-03-01T14:30-05:00", "2026-03-02T04:30:00+09:00[Asia/Tokyo]"),
        ("2026-03-01T14:30:00-05:00[America/New_York]", "2026-03-02T04:30:00+09:00[Asia/Tokyo]"),  # our own form
        ("2026-10-25T02:30", "2026-10-25T09:30:00+09:00[Asia/Tokyo]"),  # comes twice: the first
    ],
)
async def test_a_time_is_converted(time: str, result: str) -> None:
    """The date changes where it must."""
    message = await convert(time)

    assert message.content == result
    assert message.status == "success"


async def test_a_time_without_a_date_is_of_today() -> None:
    """Today is the day in the zone that the time is in."""
    message = await convert("14:30", source="Asia/Kolkata", target="UTC")

    assert str(message.content).endswith("T09:00:00+00:00[UTC]")


async def test_what_the_clock_tells_can_be_converted() -> None:
    """A model may hand the answer of one tool to the other."""
    now = await call(current_time, timezone="Asia/Tokyo")

    message = await convert(str(now.content), source="UTC")

    assert message.content == now.content


@pytest.mark.parametrize(
    ("time", "content"),
    [
        ("noon", NOT_A_TIME),
        ("2026", NOT_A_TIME),  # neither a date nor 20:26
        ("25:00", NOT_A_TIME),
        ("2026-02-30T10:00", NOT_A_TIME),
        ("2026-03-01T10:00[Asia/Tokyo]", NOT_A_TIME),  # a zone without its offset may contradict from_timezone
        ("", NOT_A_TIME),
        ("\0", NOT_A_TIME),
        ("2026-03-29T02:30", NO_SUCH_TIME),
        ("0001-01-01T00:00", OUT_OF_RANGE),  # before the first year in UTC
        ("9999-12-31T23:59", OUT_OF_RANGE),  # after the last year in Tokyo
    ],
)
async def test_a_bad_time_is_refused(time: str, content: str) -> None:
    """The text says which form is expected."""
    message = await convert(time)

    assert message.content == content
    assert message.status == "error"
    assert message.response_metadata["error"]["kind"] == "tool_error"


@pytest.mark.parametrize(
    ("timezone", "nearest"),
    [
        ("paris", "Europe/Paris"),  # a city
        ("New York", "America/New_York"),  # as people write it
        ("Europe/Pariss", "Europe/Paris"),  # a slip
        ("asia/tokyo", "Asia/Tokyo"),
        ("utc", "Etc/UTC"),
        ("America", "America/Adak"),  # a folder
    ],
)
async def test_an_unknown_time_zone_is_answered_with_the_nearest(timezone: str, nearest: str) -> None:
    """So the model can repair its call."""
    message = await call(current_time, timezone=timezone)

    start = f"There is no time zone '{timezone}'. The nearest names are: {nearest}"
    assert str(message.content)[: len(start)] == start
    assert message.status == "error"
    assert message.response_metadata["error"]["kind"] == "tool_error"


async def test_a_time_zone_like_no_other_is_answered_with_utc() -> None:
    """Where nothing is near, the zone that always works is named."""
    message = await call(current_time, timezone="qqqqqq")

    assert message.content == "There is no time zone 'qqqqqq'. The nearest names are: UTC."


@pytest.mark.parametrize(
    "timezone",
    [
        "",
        "../../etc/passwd",
        "/etc/passwd",
        "Europe/../Europe/Paris",
        "Europe//Paris",
        "tzdata.zi",  # a file beside the zones
        "\0",
        "UTC\n",
        "É/Paris",
        "a" * 100_000,
        "localtime",  # the host's own zone
        "right/UTC",  # counts leap seconds
    ],
)
async def test_what_cannot_name_a_time_zone_is_refused(timezone: str) -> None:
    """No such text gets near the file system."""
    message = await call(current_time, timezone=timezone)

    assert message.content == NOT_A_NAME
    assert message.status == "error"


async def test_both_zones_of_a_conversion_are_checked() -> None:
    """The target is refused like the source."""
    message = await convert("14:30", target="../Tokyo")

    assert message.content == NOT_A_NAME
