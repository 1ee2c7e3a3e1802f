"""The time, here and elsewhere."""

import datetime
import re
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from sidecall import ToolException, tool
from sidecall.lazy_imports import Later

difflib = Later("difflib")

# A name is looked up as a file, so nothing that could leave the folder, or that differs from host to host, gets there.
_ZONE = re.compile(r"(?!posix|right/|localtime|Factory)[A-Za-z0-9_+-]{1,32}(/[A-Za-z0-9_+-]{1,32}){0,2}")
_WITH_ZONE = re.compile(r"(.+(?:Z|[+-][0-9:]{5,8}))\[[\w/+-]+\]")
_FORM = "2026-03-01T14:30, or 14:30 for today"


@tool(tags=["time"], annotations={"read_only": True})
def current_time(timezone: str = "UTC") -> str:
    """Tell the current date and time, as in 2026-03-01T14:30:00+01:00[Europe/Paris].

    Args:
        timezone: The IANA name of a time zone, such as Europe/Paris or America/New_York.
    """
    return _text(datetime.datetime.now(_zone(timezone)).replace(microsecond=0))


@tool(tags=["time"], annotations={"read_only": True})
def convert_time(time: str, from_timezone: str, to_timezone: str) -> str:
    """Say what a time in one time zone is in another, as in 2026-03-01T14:30:00+01:00[Europe/Paris].

    Args:
        time: ISO 8601 date and time such as 2026-03-01T14:30, or 14:30 for today. An offset in it (Z, +02:00) wins
            over from_timezone. Of a time that comes twice, when clocks are set back, the first is meant.
        from_timezone: The IANA name of the zone that the time is in, such as Europe/Paris.
        to_timezone: The IANA name of the zone to convert to, such as America/New_York.
    """
    source, target = _zone(from_timezone), _zone(to_timezone)
    try:
        moment = _moment(time, source)
        instant = moment.astimezone(datetime.UTC)
        if instant.astimezone(moment.tzinfo).replace(tzinfo=None) != moment.replace(tzinfo=None):
            raise ToolException(f"There is no such time in {from_timezone}: the clocks are set forward over it.")
        return _text(instant.astimezone(target))
    except ValueError:
        raise ToolException(f"`time` must be an ISO 8601 date and time, such as {_FORM}.") from None
    except OverflowError:
        raise ToolException("`time` is out of range: use the years 2 to 9998.") from None


def _moment(time: str, zone: ZoneInfo) -> datetime.datetime:
    """Read a date and time, or a time of today; what `current_time` answers can be read too.

    Raises:
        ValueError: It is neither.
    """
    bracketed = _WITH_ZONE.fullmatch(time)
    text = bracketed[1] if bracketed else time
    if re.match(r"[0-9]{1,2}:", text):
        today = datetime.datetime.now(zone).date()
        moment = datetime.datetime.combine(today, datetime.time.fromisoformat(text))
    else:
        moment = datetime.datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def _text(moment: datetime.datetime) -> str:
    return f"{moment.isoformat()}[{moment.tzinfo}]"


def _zone(name: str) -> ZoneInfo:
    if not _ZONE.fullmatch(name.replace(" ", "_")):
        raise ToolException("A time zone is given by its IANA name, such as UTC, Europe/Paris or America/New_York.")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError):
        # OSError: half a name, such as America, is a folder. ValueError: the file holds no time zone.
        raise ToolException(f"There is no time zone {name!r}. The nearest names are: {_nearest(name)}.") from None


def _nearest(name: str) -> str:
    wanted = name.replace(" ", "_").lower()
    zones = {zone.lower(): zone for zone in sorted(available_timezones()) if _ZONE.fullmatch(zone)}
    by_part = [zone for lower, zone in zones.items() if wanted in lower.split("/")]
    by_letters = [zones[lower] for lower in difflib.get_close_matches(wanted, zones, n=5, cutoff=0.5)]
    return ", ".join(list(dict.fromkeys([*by_part, *by_letters]))[:5]) or "UTC"
