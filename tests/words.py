"""The words this code base does not use, the field's word for each, and the folders whose prose is clean."""

import re

# A word of a file's, class's or function's name: ours, and what the field calls it.
BANNED = {
    "chronicle": "event log",
    "chronicles": "event log",
    "courier": "dispatcher",
    "happening": "event",
    "likeness": "file identity",
    "misfit": "validation error",
    "misfits": "validation errors",
    "nobody": "the thing that is missing",
    "passbook": "credential cache",
    "pen": "writer connection",
    "portions": "batch throttle",
    "rehearsal": "dry run",
    "rehearse": "dry run",
    "resemblance": "fuzzy match",
    "somebody": "the caller, the user, the operator",
    "stray": "orphan, or unknown key",
    "strays": "orphans, or unknown keys",
    "surroundings": "call services",
    "teller": "publisher, or reporter",
    "tending": "connection supervisor",
    "unsayable": "not serializable",
    "upkeep": "reconciler",
    "warden": "reaper",
    "wardens": "reapers",
    "whatever": "any",
    "whichever": "any",
    "whoever": "the caller, the user, the operator",
}
# Words that are fine inside a name, as in `hand_over`, and say nothing as the whole name of a class or a file.
BANNED_WHOLE = {
    "hand": "writer backend",
    "trouble": "outage",
    "sites": "locations",
}
# Openings of functions' names.
BANNED_PREFIXES = {
    "tell_of_": "warn_, report_ or notify_",
    "hear_of_": "on_",
    "take_up_": "recover_",
    "word_": "format_",
}
# Names that are still to be changed, as file and name; nothing is added to it.
REMAINING = frozenset(
    (
        ("app/sidecall/authoring/native.py", "_find_misfit"),
        ("app/sidecall/authoring/native.py", "_find_text_misfit"),
        ("app/sidecall/authoring/native.py", "refuse_misfit"),
        ("app/sidecall/features/sandbox/confined.py", "trouble"),
        ("app/sidecall/features/sandbox/bubblewrap.py", "trouble"),
        ("app/sidecall/features/sandbox/python_programs.py", "trouble"),
        ("app/sidecall/features/sandbox/shell_process.py", "trouble"),
        ("app/sidecall/http/changed_installation.py", "trouble"),
        ("app/sidecall/storage/database.py", "trouble"),
        ("app/sidecall/features/ledger/ledger.py", "trouble"),
        ("app/sidecall/storage/memory_database.py", "trouble"),
        ("app/sidecall/storage/postgres/database.py", "trouble"),
        ("app/sidecall/storage/sqlite/database.py", "trouble"),
        ("tests/features/jobs/fleet.py", "_nobody_looks"),
        ("tests/kit/faulty.py", "trouble"),
        ("tests/outgoing/sites.py", "sites"),
    )
)
PROSE = re.compile(r"\b(?:whoever|whatever|whichever|lest|somebody|nobody\b[^.|]*\bwho)\b", re.IGNORECASE)
# Files and folders whose docstrings, or pages, keep to `PROSE`.
CLEAN = ("app/sidecall", "docs", "examples", "tools", "README.md", "CONTRIBUTING.md")
