"""Options that several commands share."""

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

Toolkits = Annotated[
    list[str] | None,
    typer.Option(
        "--toolkit",
        metavar="NAME",
        help="A toolkit to offer as well: see `sidecall toolkits`. Repeatable. [default: SIDECALL_TOOLKITS, else none]",
    ),
]
