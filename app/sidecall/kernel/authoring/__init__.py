"""What tool authors write with: the names that `sidecall` exports."""
