"""A misspelt name is found where an object has a choice of names."""

from tests.compiler.test_rule_errors import WAYS, WHOLE, refuse


async def test_a_misspelt_name_is_found_beside_a_choice_of_names() -> None:
    """Which says nothing about others."""
    schema = {"properties": WAYS | {"max_days": WHOLE}, "anyOf": [{"required": ["route"]}, {"required": ["file"]}]}

    message = await refuse(schema, {"route": "a", "max_dyas": 3})

    assert message.content == "max_dyas: There is no such argument; did you mean max_days?"
