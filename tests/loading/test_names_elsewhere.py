"""What files of other libraries import and is not here says so, in each way in which Python asks for a name."""

import pytest

import sidecall
from sidecall.loading.unsupported_imports import NOT_HERE


@pytest.mark.parametrize("name", NOT_HERE)
def test_a_name_that_is_not_here_is_no_attribute(name: str) -> None:
    """`hasattr` and `getattr` find none; an access, and an import, say what to do instead."""
    assert not hasattr(sidecall, name)
    assert getattr(sidecall, name, 5) == 5
    with pytest.raises(AttributeError) as asked:
        getattr(sidecall, name)
    with pytest.raises(ImportError) as imported:
        exec(f"from sidecall import tool, {name} as it", {})

    assert str(asked.value) == str(imported.value) == f"{name} is not in sidecall: {NOT_HERE[name]}"


PROGRAMS = "what is no part of a tool stays in the program; go on importing it from its own library"


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("Nothing", PROGRAMS),
        ("InMemoryStore", PROGRAMS),
        ("ChatPromptTemplate", PROGRAMS),
        ("init_chat_model", PROGRAMS),
        ("RunConfig", PROGRAMS),
        ("SQLiteSession", PROGRAMS),
        ("END", PROGRAMS),
        ("StructuredTol", "did you mean StructuredTool?"),
        ("structured_tool", "did you mean StructuredTool?"),
        ("BaseToolKit", "did you mean BaseToolkit?"),
        ("tool_exception", "did you mean ToolException?"),
        ("InjectedToolCallID", "did you mean InjectedToolCallId?"),
    ],
)
def test_any_other_name_is_missing_with_a_hint(name: str, instead: str) -> None:
    """The one that was meant, or where it belongs."""
    assert not hasattr(sidecall, name)
    with pytest.raises(AttributeError) as asked:
        getattr(sidecall, name)
    with pytest.raises(ImportError) as imported:
        exec(f"from sidecall import {name}", {})

    assert str(asked.value) == str(imported.value) == f"{name} is not in sidecall: {instead}"


def test_what_python_looks_for_is_missing_as_in_other_modules() -> None:
    """With its own words."""
    with pytest.raises(AttributeError, match="module 'sidecall' has no attribute '__wrapped__'"):
        getattr(sidecall, "__wrapped__")  # noqa: B009  what is tried
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'sidecall\.Agent'"):
        exec("import sidecall.Agent", {})


def test_a_file_that_tries_an_import_may_do_without() -> None:
    """As those do that can do with either library."""
    found: dict[str, object] = {}
    exec("try:\n    from sidecall import Runner\nexcept ImportError:\n    Runner = None", found)

    assert found["Runner"] is None
