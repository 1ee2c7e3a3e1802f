"""What files of other libraries import and is not here says so, in each way in which Python asks for a name."""

import pytest

import sidecall
from sidecall.names_elsewhere import NOT_HERE


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


def test_any_other_name_is_missing_as_in_other_modules() -> None:
    """With Python's own words."""
    assert not hasattr(sidecall, "Nothing")
    with pytest.raises(AttributeError, match="module 'sidecall' has no attribute 'Nothing'"):
        getattr(sidecall, "Nothing")  # noqa: B009  what is tried
    with pytest.raises(ImportError, match="cannot import name 'Nothing' from 'sidecall'"):
        exec("from sidecall import Nothing", {})
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'sidecall\.Agent'"):
        exec("import sidecall.Agent", {})


def test_a_file_that_tries_an_import_may_do_without() -> None:
    """As those do that can do with either library."""
    found: dict[str, object] = {}
    exec("try:\n    from sidecall import Runner\nexcept ImportError:\n    Runner = None", found)

    assert found["Runner"] is None
