"""Plugins as Semantic Kernel has them: its own of sums and of texts, and lamps."""

from typing import Annotated, Any

from semantic_kernel import Kernel
from semantic_kernel.core_plugins.text_plugin import TextPlugin
from semantic_kernel.functions import KernelArguments, KernelPlugin, kernel_function
from semantic_kernel.functions.kernel_function_from_method import KernelFunctionFromMethod

from sidecall import tool


class Lamps:
    """Lamps."""

    def __init__(self) -> None:
        self._lamps = [{"id": 1, "is_on": False}, {"id": 2, "is_on": True}]

    @kernel_function(name="get_state", description="Tell whether a lamp is on.")
    async def find(self, id: Annotated[int, "The lamp."]) -> bool:
        """Find it."""
        return next(it["is_on"] for it in self._lamps if it["id"] == id)

    @kernel_function
    def list_lamps(self, limit: int = 1) -> list[dict[str, Any]]:
        """List the lamps."""
        return self._lamps[:limit]


@kernel_function(description="Greet somebody.")
def greet(name: str, kernel: Kernel, polite: bool = True) -> str:
    """Greet."""
    if name == "nobody":
        raise LookupError("nobody is here")
    return f"{'Good day' if polite else 'Hi'}, {name}"


lamps = Lamps()
texts = KernelPlugin.from_object("texts", TextPlugin())


@tool
async def semantic_kernel_itself(name: str, args: dict[str, Any]) -> Any:
    """Ask Semantic Kernel itself."""
    own = KernelPlugin.from_object("lamps", lamps).functions
    known = {**own, **{it.fully_qualified_name: it for it in texts.functions.values()}}
    known["greet"] = KernelFunctionFromMethod(method=greet)
    answer = await known[name].invoke(Kernel(), KernelArguments(**args))
    return answer.value
