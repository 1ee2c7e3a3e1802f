"""The file of toolsets, which few servers have."""

import tomllib
from functools import partial
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError

from sidecall.feature import Start
from sidecall.features.toolsets.toolsets import ReadToolsets, ToolsetEntry, Toolsets
from sidecall.kernel.core.errors import SidecallError

_FILE = TypeAdapter(dict[str, ToolsetEntry], config=ConfigDict(defer_build=True))
_REMEDY = "Write the path of a file of toolsets that the server may read, or take the setting away."


class InvalidToolsets(SidecallError):
    """The file of toolsets cannot be used."""


def make_reader(start: Start) -> ReadToolsets:
    """Make what reads the file of a server, also when it is loaded again."""
    return partial(read_toolsets, start.server.toolsets)


def read_toolsets(path: Path) -> Toolsets:
    """Read the file of toolsets.

    Raises:
        InvalidToolsets: It cannot be read, or is invalid.
    """
    try:
        return Toolsets(_FILE.validate_python(tomllib.loads(path.read_text())))
    except OSError as error:
        raise InvalidToolsets(
            f"SIDECALL_TOOLSETS is {path}, which cannot be read: {error.strerror}. {_REMEDY}"
        ) from None
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors())
        raise InvalidToolsets(f"SIDECALL_TOOLSETS is {path}, which is no file of toolsets: {wrong}.") from None
    except ValueError as error:
        raise InvalidToolsets(f"SIDECALL_TOOLSETS is {path}, which is no TOML: {error}.") from None
