"""Find what models and providers will reject or misread."""

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence

from sidecall.compiler.author_mistakes import find_changing_defaults
from sidecall.features.provider_formats.anthropic import KEY, choose_keys, find_own_obstacles
from sidecall.kernel.core.tool import CompiledTool, Finding, Level, Schema
from sidecall.kernel.schema.forms.one_object import join_root
from sidecall.kernel.schema.forms.strict import find_strict_obstacles
from sidecall.kernel.schema.references import walk

# Percent of two names that have to be the same.
_NEAR = 88
# Bits for each sign: as many are set as the name has of that sign.
_WIDTH = 4
_SIGNS = 128


def find_near_names(names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each name that is almost the same as earlier ones, with those."""
    plain = [name.lower().replace("-", "_") for name in names]
    counts, sizes = [_count_signs(name) for name in plain], [len(name) for name in plain]
    matcher = difflib.SequenceMatcher(None)
    for at, name in enumerate(plain):
        count, size = counts[at], len(name)
        # Names with more signs that the other lacks cannot be near, in whichever order these stand.
        alike = [
            earlier
            for earlier in range(at)
            if (count ^ counts[earlier]).bit_count() * 100 <= (size + sizes[earlier]) * (100 - _NEAR)
        ]
        matcher.set_seq2(name)
        if near := [names[earlier] for earlier in alike if _is_near(matcher, plain[earlier], name)]:
            yield names[at], near


def _is_near(matcher: difflib.SequenceMatcher[str], one: str, other: str) -> bool:
    if _count_common(one, other) * 200 < (len(one) + len(other)) * _NEAR:
        return False
    matcher.set_seq1(one)
    return matcher.ratio() * 100 >= _NEAR


def _count_signs(name: str) -> int:
    bits = 0
    for sign, times in Counter(name).items():
        bits |= ((1 << min(times, _WIDTH)) - 1) << (ord(sign) % _SIGNS * _WIDTH)
    return bits


def _count_common(one: str, other: str) -> int:
    """Return the length of the longest common subsequence, found for all places of a name at once (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for at, sign in enumerate(one):
        places[sign] = places.get(sign, 0) | 1 << at
    mask = row = (1 << len(one)) - 1
    for sign in other:
        found = row & places.get(sign, 0)
        row = ((row + found) | (row - found)) & mask
    return len(one) - row.bit_count()


# OpenAI refuses longer ones with 400.
_MAX_DESCRIPTION = 1024
# Names that are said to be almost the same as one.
_MOST_NAMED = 3


def lint(tools: Sequence[CompiledTool]) -> list[Finding]:
    """Check every tool alone, then their names against each other."""
    return [finding for tool in tools for finding in lint_tool(tool)] + list(_find_near_duplicates(tools))


def lint_tool(tool: CompiledTool) -> list[Finding]:
    """Check one tool, worst first."""
    flat = tool.args_schema.flat
    schema = join_root(flat)
    found = [
        *(("error", text) for text in (*_check_description(tool), *_find_refused(schema))),
        *(
            ("warning", text)
            for text in (
                *_find_undescribed(schema),
                *_find_vague(schema),
                *_find_misnamed(schema),
                *tool.notes,
                *_name_unmet(tool),
            )
        ),
        *(("note", text) for text in (*_find_receivers(schema), *_list_obstacles(flat), *find_changing_defaults(flat))),
    ]
    # A choice may say the same of several members.
    return [Finding(tool.name, _LEVELS[level], message) for level, message in dict.fromkeys(found)]


_LEVELS: dict[str, Level] = {"error": "error", "warning": "warning", "note": "note"}


def _list_obstacles(schema: Schema) -> list[str]:
    obstacles = find_strict_obstacles(schema)
    if obstacles:
        return [f"cannot be strict: {text}" for text in obstacles]
    return [f"cannot be strict for Anthropic: {text}" for text in find_own_obstacles(schema)]


def _check_description(tool: CompiledTool) -> Iterator[str]:
    if not tool.description:
        yield "has no description; write a docstring, models choose tools by it"
    elif len(tool.description) > _MAX_DESCRIPTION:
        yield f"has a description of {len(tool.description)} characters; OpenAI refuses more than {_MAX_DESCRIPTION}"


def _find_refused(schema: Schema) -> Iterator[str]:
    for path, node in walk(schema):
        if node.get("type") == "array" and "items" not in node:
            yield f"`{path}` is an array whose items have no one type; OpenAI and Gemini refuse it, use list[...]"


def _find_vague(schema: Schema) -> Iterator[str]:
    """Find the parts that Gemini's form can only describe in words, so that a model has to guess."""
    for path, node in walk(schema):
        if "$ref" in node:
            yield f"`{path}` refers to itself; Gemini is told its first level alone"
        elif path and node.get("type") == "object" and not node.get("properties"):
            yield f"`{path}` is an object with free keys, so models guess them; use a pydantic model"
        elif path and not node.keys() & {"type", "anyOf", "oneOf", "enum", "const", "allOf"}:
            yield f"`{path}` has no type, so models guess it; annotate it"


def _find_misnamed(schema: Schema) -> Iterator[str]:
    chosen = choose_keys(schema)
    named = ((path, name) for path, node in walk(schema) for name in node.get("properties", ()))
    for path, name in dict.fromkeys(it for it in named if not KEY.fullmatch(it[1])):
        place, refuses = (f"{path}.{name}", "may refuse") if path else (name, "refuses")
        if path or name not in chosen:
            yield f"`{place}` has a name that Anthropic {refuses}: it takes ^{KEY.pattern}$; rename it"


def _find_undescribed(schema: Schema) -> Iterator[str]:
    for name, value in schema["properties"].items():
        if not value.get("description"):
            yield f"parameter `{name}` has no description; add it to the docstring's Args"


def _find_receivers(schema: Schema) -> Iterator[str]:
    """Find first parameters that look like a method's `self`."""
    for name in schema["properties"]:
        if name in ("self", "cls"):
            yield f"parameter `{name}` is an argument that models send; of a method, offer the one of an instance"


def _name_unmet(tool: CompiledTool) -> Iterator[str]:
    yield from (f"asks in {tool.source} for what is not here: {text}" for text in tool.unmet)


def _find_near_duplicates(tools: Sequence[CompiledTool]) -> Iterator[Finding]:
    for name, near in find_near_names([tool.name for tool in tools]):
        more = f" and {len(near) - _MOST_NAMED} more" if len(near) > _MOST_NAMED else ""
        shown = ", ".join(f"`{other}`" for other in near[:_MOST_NAMED])
        yield Finding(name, "warning", f"is named almost like {shown}{more}; models mix them up")
