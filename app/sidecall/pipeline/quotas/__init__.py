"""What counts the calls of each caller: in memory, or together with other servers."""
