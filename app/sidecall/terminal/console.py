"""Print texts as they are, with colors where they go to a terminal."""

from rich.console import Console


def make_console(*, to_err: bool = False, soft_wrap: bool = False) -> Console:
    """Make a console for which `[red]` and `:100:` in a text are characters like any others; a Text has the styles.

    Args:
        to_err: Whether it prints to standard error.
        soft_wrap: Whether long lines are left to the terminal to break, and whole where they go elsewhere.
    """
    return Console(stderr=to_err, soft_wrap=soft_wrap, markup=False, emoji=False, highlight=False)
