"""A bound on bytes in memory, shared by everything that counts against it."""


class Room:
    """A number of bytes, of which some are taken."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.taken = 0

    def take(self, size: int) -> bool:
        """Take bytes, or return them if `size` is negative; return False, and take none, if too few are left."""
        if size > 0 and self.taken + size > self.most:
            return False
        self.taken += size
        return True
