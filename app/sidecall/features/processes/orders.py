"""The orders of a server to its fork server, and of that to its templates."""

import struct

# What to do, the number of the process to do it to, and the generation of code that a new one loads: where it is 0, the
# process imports the tools by itself.
ORDER = struct.Struct("!cQQ")
FORK, KILL = b"f", b"k"
# To a template: fork no more, and end with the last process.
RETIRE = b"r"
# What the fork server answers as soon as it has taken an order, and a template also once it is ready.
SIGN = b"."
