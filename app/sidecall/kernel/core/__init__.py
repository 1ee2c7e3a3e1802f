"""The words everything else is written in: no I/O, no HTTP."""
