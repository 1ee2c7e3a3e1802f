"""Estimate the tokens of tool definitions in a model's context."""

import json
import re
from collections.abc import Mapping
from typing import Any

from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.forms.definitions import render_definitions

# What tokenizers make one token of in JSON with English text: a short word with the space before it, a run of marks.
_PIECE = re.compile(r" ?[^\W\d_]{1,8}|\d{1,3}|[^\w\s]{1,3}|_|\s+")


def estimate_tokens(tool: CompiledTool) -> int:
    """Estimate the tokens of one tool's definition in OpenAI's form; no tokenizer is loaded.

    For a hosted tool it is the declaration, which the provider replaces by a text of unknown length.
    """
    if tool.declaration is not None:
        return _count(tool.declaration)
    return estimate_definition(render_definitions([tool], "openai")[0])


def estimate_definition(definition: Mapping[str, Any]) -> int:
    """Estimate the tokens of any definition in OpenAI's form."""
    return _count(definition["function"])


def _count(definition: Mapping[str, Any]) -> int:
    return len(_PIECE.findall(json.dumps(definition, ensure_ascii=False, separators=(",", ":"))))
