"""Calls of native tools, which are the built-in tools of providers: `shell_call`, `computer_call` and the like."""
