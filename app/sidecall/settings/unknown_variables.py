"""Find variables `SIDECALL_…` that are no settings, and refuse the misspelled ones at the start."""

import difflib
from collections.abc import Collection, Mapping

from sidecall.kernel.core.errors import SidecallError
from sidecall.settings.server import PREFIX, Settings

# From where on a name that is none is a misspelled setting.
_NEAR = 0.75


class UnknownSetting(SidecallError):
    """A variable of the environment looks like a setting, but is none."""


def unknown_names(variables: Mapping[str, str], further: Collection[str] = ()) -> list[str]:
    """List the variables that look like settings and are none; empty ones count as unset.

    They are tolerated, since not all are mistakes: agents set `SIDECALL_URL`, Kubernetes adds more for a Service named
    sidecall, and an older version does not know newer settings. A misspelled setting is refused: a limit that silently
    does not hold is worse than a server that does not start.

    Args:
        variables: The environment.
        further: Names of settings that installed features have, in lowercase and without the prefix.

    Raises:
        UnknownSetting: One is nearly a setting.
    """
    unknown = find_unknown(variables, further)
    for name, meant in unknown.items():
        if meant is not None:
            raise UnknownSetting(f"There is no setting {name}; write {meant}.")
    return list(unknown)


def find_unknown(
    variables: Mapping[str, str], further: Collection[str] = (), cutoff: float = _NEAR
) -> dict[str, str | None]:
    """Return the variables that look like settings and are none, each with the nearest setting if one is near.

    Two names are near if their similarity, from 0 to 1, is at least `cutoff`.
    """
    known = [*Settings.model_fields, *further]
    told = [name.upper() for name, value in variables.items() if value]
    names = [name.removeprefix(PREFIX).lower() for name in told if name.startswith(PREFIX)]
    unknown = sorted(set(names) - set(known))
    nearest = {name: difflib.get_close_matches(name, known, 1, cutoff) for name in unknown}
    return {f"{PREFIX}{name.upper()}": f"{PREFIX}{near[0].upper()}" if near else None for name, near in nearest.items()}
