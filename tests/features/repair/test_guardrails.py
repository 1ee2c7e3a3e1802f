"""Guardrails replace arguments as if a model had sent them, mended too."""

from typing import Any

from tests.kernel.pipeline.test_guardrails import Case, replace, verdicts, watcher


async def test_arguments_can_be_replaced_as_if_the_model_had_sent_them() -> None:
    """They are checked anew, what is hidden stays hidden, and the next guardrail sees them."""
    seen: list[Any] = []
    case = Case(before=[lambda _: replace({"items": ["5"], "token": "forged", "other": 1}), watcher(seen)])

    message = await case.run(token="forged", odd=1)

    assert (message.content, seen, case.ran) == ('{"sum": 5}', [{"items": [5], "fail": ""}], [([5], "t")])
    assert verdicts(message) == [("<lambda>", "replace"), ("watch", "allow")]
    assert message.response_metadata["ignored_args"] == ["token", "odd", "other"]


async def test_what_was_mended_is_noted_once() -> None:
    """Although the arguments are checked twice."""
    message = await Case(before=[lambda _: replace({"items": "[5]"})]).run(items="[1]")

    assert message.response_metadata["repaired"] == ["items: JSON text instead of an array"]
