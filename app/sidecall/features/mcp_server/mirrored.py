"""Compare arguments with the headers that repeat them."""

import re
from collections.abc import Mapping
from typing import Any

from sidecall.features.mcp_server.revisions import decode_header
from sidecall.features.mcp_server.wire import HEADER_MISMATCH, RpcError
from sidecall.kernel.core.tool import CompiledTool, Schema

_WHOLE = re.compile(r"(-?[0-9]{1,400})(?:\.0+)?")


def compare_mirrored(tool: CompiledTool, args: Any, headers: Mapping[bytes, bytes]) -> None:
    """Require each header to equal the argument that it repeats.

    Raises:
        RpcError: They differ; a gateway may have relied on the header.
    """
    schema = tool.args_schema.flat
    for header, path in tool.mirrored.items():
        value, sent = _find(args, path, schema), headers.get(header)
        if value is None and sent is None:
            continue
        shown = f"The header {header.decode()} and the argument {'.'.join(path)}"
        if sent is None:
            raise RpcError(HEADER_MISMATCH, f"The header {header.decode()} is missing.", status=400)
        if value is None or not _equals(sent, value):
            raise RpcError(HEADER_MISMATCH, f"{shown} do not say the same.", status=400)


def _find(args: Any, path: tuple[str, ...], schema: Schema) -> Any:
    """Return the argument at a path as it was sent; None where there is none, even if a repair adds it later."""
    for name in path:
        known = schema["properties"]
        found = args.get(name) if isinstance(args, dict) else None
        if found is None and args is not None and (not isinstance(args, dict) or not args.keys() <= known.keys()):
            text = f"The argument {'.'.join(path)} may stand under another name, which no header repeats."
            raise RpcError(HEADER_MISMATCH, text, status=400)
        args, schema = found, known[name]
    return args


def _equals(sent: bytes, value: Any) -> bool:
    text = sent.decode("latin-1").strip(" \t")  # Surrounding blanks are not part of a value.
    if not (text.isascii() and text.replace("\t", " ").isprintable()):
        return False
    decoded = decode_header(text)
    if decoded is None:
        return False
    if isinstance(value, bool):
        return decoded == ("true" if value else "false")
    if isinstance(value, int | float):
        whole = _WHOLE.fullmatch(decoded)
        return whole is not None and int(whole[1]) == value
    return isinstance(value, str) and decoded == value
