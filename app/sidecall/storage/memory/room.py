"""Bytes that may be kept in memory, shared by all that counts against the same bound."""


class Room:
    """A number of bytes, of which some are taken."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.taken = 0

    def take(self, size: int) -> bool:
        """Take bytes, or give back where `size` is negative; return False, and take none, when too few are left."""
        if size > 0 and self.taken + size > self.most:
            return False
        self.taken += size
        return True
