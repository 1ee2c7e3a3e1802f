"""What tool authors write with: the names that `app` exports."""
