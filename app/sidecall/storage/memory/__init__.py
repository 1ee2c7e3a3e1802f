"""Storage in memory, until the process ends."""
