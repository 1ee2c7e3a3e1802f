"""The OpenAI Agents SDK changes nothing in our strict schemas."""

import json
from pathlib import Path

from sidecall.kernel.schema.forms.strict import to_strict
from sidecall.kernel.schema.references import inline_references, inline_root
from tests.e2e.clients.conftest import run_beside
from tests.kit.schemas import CHOICES, PLAIN, RECURSIVE, WIDE

HERE = Path(__file__).parent


def test_the_agents_sdk_changes_nothing(for_agents: Path) -> None:
    """Of no schema, whether plain, a choice, recursive or large."""
    named = {**PLAIN, **CHOICES, **RECURSIVE, **WIDE}
    strict = {name: to_strict(inline_references(inline_root(schema))) for name, schema in named.items()}

    typed = "".join(f"{json.dumps(schema)}\n" for schema in strict.values())
    printed = run_beside(for_agents, [str(HERE / "use_strict_transform.py")], typed).splitlines()

    assert dict(zip(strict, map(json.loads, printed), strict=True)) == strict
