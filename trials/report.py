"""Write what the trials found as Markdown."""

from collections.abc import Mapping, Sequence
from textwrap import fill

from trials.finding import Finding

# As wide as the other pages.
_WIDTH = 120


def markdown(groups: Mapping[str, Sequence[Finding]], machine: Mapping[str, str]) -> str:
    """Return a list for each group, and below them what they ran on."""
    lists = [_write_list(name, findings) for name, findings in groups.items() if findings]
    return "\n".join([*lists, ", ".join(machine.values()) + ".\n"])


def renew(recorded: str, text: str, order: Sequence[str]) -> str:
    """Return a record with the groups of a new text replaced.

    Groups that stay were measured on the machine named in the last line; new ones from another machine say so.
    """
    old, new = _split(recorded), _split(text)
    before, now = (told.rstrip().rpartition("\n")[2] for told in (recorded, text))
    if before and before != now and old.keys() - new.keys():
        new = {name: f"{part}\n{fill(f'These on another machine: {now}', _WIDTH)}\n" for name, part in new.items()}
        now = before
    lists = {**old, **new}
    names = [name.capitalize() for name in order if name.capitalize() in lists]
    return "\n".join([*(lists[name] for name in names), f"{now}\n"])


def _split(text: str) -> dict[str, str]:
    """Return the lists by the names of their groups."""
    body = text.rstrip().rpartition("\n")[0]
    parts = [part.rstrip() + "\n" for part in body.split("### ")[1:]]
    return {part.partition("\n")[0]: f"### {part}" for part in parts}


def _write_list(name: str, findings: Sequence[Finding]) -> str:
    return f"### {name.capitalize()}\n\n" + "".join(_write_item(finding) for finding in findings)


def _write_item(finding: Finding) -> str:
    verdict = "met" if finding.is_met else "**missed**"
    parts = (("- ", f"{finding.row}: {finding.trial}"), ("  - ", f"bar: {finding.bar}"))
    return "".join(_wrap(mark, text) for mark, text in (*parts, ("  - ", f"{verdict}: {finding.measured}")))


def _wrap(mark: str, text: str) -> str:
    # A word is never parted: it may be code or an address.
    lines = fill(
        text,
        _WIDTH,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return f"{lines}\n"
