"""The orders of a server to its fork server."""

import struct

# What to do, and the number of the process to do it to.
ORDER = struct.Struct("!cQ")
FORK, KILL = b"f", b"k"
# What the fork server answers as soon as it has taken an order.
SIGN = b"."
