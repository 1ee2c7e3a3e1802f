"""Print texts literally, with colors on terminals."""

from rich.console import Console


def make_console(*, to_err: bool = False, soft_wrap: bool = False) -> Console:
    """Make a console without markup: `[red]` and `:100:` are printed as they are; styles come from Text objects.

    Args:
        to_err: Whether it prints to standard error.
        soft_wrap: Whether long lines are left to the terminal to break, and whole where they go elsewhere.
    """
    return Console(stderr=to_err, soft_wrap=soft_wrap, markup=False, emoji=False, highlight=False)
