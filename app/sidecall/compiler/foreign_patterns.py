"""Bound the time that the patterns of another server's schema take.

All threads wait while a text is compared with a pattern. One that looks around or refers back takes time without a
bound; any other as long as the text is and the pattern has parts.
"""

import importlib
from dataclasses import replace

from sidecall.compiler.json_args_schema import JsonArgsSchema
from sidecall.compiler.json_schema_library import compile_validator
from sidecall.compiler.json_schema_validator import make_json_schema_validator
from sidecall.compiler.pattern_places import leave_patterns, list_patterns
from sidecall.compiler.pattern_size import measure_pattern
from sidecall.kernel.core.log_text import shorten

#: Most characters of the texts of a call, times the parts of all patterns, that are compared: about 0.1 seconds.
MOST_STEPS = 2_000_000
# Most bytes of a compiled pattern.
_MOST_BYTES = 1_000_000
_MOST_SAID = 500


def bound_patterns(accepted: JsonArgsSchema) -> tuple[JsonArgsSchema, str]:
    """Return a copy that compares no text for long, and the patterns, as a text, that it never looks at.

    The schema that is shown keeps them. Arguments with much text are compared with none.
    """
    validator = accepted.validator
    patterns = list_patterns(validator.root)
    if not patterns:
        return accepted, ""
    left = [pattern for pattern in dict.fromkeys(patterns) if not _is_linear(pattern)]
    if left:
        schema = leave_patterns(validator.root, left.__contains__)
        validator = make_json_schema_validator(schema, schema, accepted.takes)
    size = sum(map(measure_pattern, list_patterns(validator.root)))
    bounded = replace(validator, most_text=MOST_STEPS // max(size, 1))
    return replace(accepted, validator=bounded), shorten(", ".join(map(repr, left)), _MOST_SAID)


def _is_linear(pattern: str) -> bool:
    library = importlib.import_module("jsonschema_rs")
    try:
        compile_validator({"pattern": pattern}, pattern_options=library.RegexOptions(size_limit=_MOST_BYTES))
    except ValueError:
        return False
    return True
