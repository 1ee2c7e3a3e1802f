"""Where tools stand, and which of them cannot run in a process."""

import pytest

from sidecall import Tool, tool
from sidecall.features.processes.finder import Finder
from sidecall.features.processes.tool_location import home_of, refuse_unfit
from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.loading.collect import tools_of
from tests.features.processes import process_tools
from tests.features.processes.process_tools import later


def test_the_home_of_a_tool_is_where_its_author_wrote_it() -> None:
    """Also when a function of ours stands for it."""
    wrapped = Tool("wrapped", lambda text: text, executor="process")

    assert home_of(wrapped.compiled)["file"] == __file__
    assert home_of(later.compiled) == {
        "name": "later",
        "module": "tests.features.processes.process_tools",
        "file": process_tools.__file__,
    }


def test_tools_that_fit_are_let_through() -> None:
    """Tools of other executors are nobody's business here, closures or not."""

    @tool
    def local() -> None:
        """Stand in a function."""

    refuse_unfit([local.compiled, later.compiled], Finder(tools_of))


def test_a_tool_of_the_program_itself_is_refused() -> None:
    """A process has another program."""

    def lost() -> None:
        """Get lost."""

    lost.__module__ = "__main__"
    with pytest.raises(InvalidToolOption) as caught:
        refuse_unfit([tool(executor="process")(lost).compiled], Finder(tools_of))

    assert caught.value.message.endswith(
        "tool 'lost' cannot have executor='process': it stands in the program itself, which a process cannot load"
        " again; move it to a module."
    )
