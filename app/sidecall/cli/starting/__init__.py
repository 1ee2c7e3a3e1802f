"""What `sidecall serve` does, without what reads and explains commands."""
