"""Run `sidecall serve` without the code that parses and explains commands."""
