"""Options shared by several commands."""

from typing import Annotated

import typer

Tools = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        metavar="PLACE",
        help="Where tools are: a module, package, file or folder. Repeatable. "
        "[default: SIDECALL_TOOLS, else ./tools, else those that ship]",
    ),
]

AllowEmpty = Annotated[
    bool | None,
    typer.Option(
        "--allow-empty", help="Start though no tool would be offered. [default: SIDECALL_ALLOW_EMPTY, else no]"
    ),
]

Toolkits = Annotated[
    list[str] | None,
    typer.Option(
        "--toolkit",
        metavar="NAME",
        help="A toolkit to offer as well: see `sidecall toolkits`. Repeatable. [default: SIDECALL_TOOLKITS, else none]",
    ),
]
