"""Without a word from the operator there is room for most of what is cut."""

from sidecall.features.contents.memory_store import MemoryContents
from sidecall.kernel.core.context import ANONYMOUS
from sidecall.kernel.ports.contents import TEXT


async def test_by_default_there_is_room_for_an_hour_and_32_mebibytes() -> None:
    """On the clock that never goes back."""
    contents = MemoryContents()
    key = await contents.keep(b"a" * (32 * 1024 * 1024), ANONYMOUS, TEXT)

    assert await contents.keep(b"a" * (32 * 1024 * 1024 + 1), ANONYMOUS, TEXT) is None
    assert len((await contents.get(key or "", ANONYMOUS)).body) == 33554432
